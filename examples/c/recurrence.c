/* A first-order linear recurrence: every element needs the one before it, so no loop here can run in parallel as it
 * stands. A port of it must be refused. */

void recurrence(int n, double a, const double *b, double *x)
{
    for (int i = 1; i < n; i++)
        x[i] = a * x[i - 1] + b[i];
}
