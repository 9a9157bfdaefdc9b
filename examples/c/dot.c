/* The inner product of two vectors, accumulated in double precision. */

double dot(int n, const float *x, const float *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * y[i];
    return sum;
}
