/* How often each byte value occurs in a buffer. */

void histogram(int n, const unsigned char *data, int counts[256])
{
    for (int bin = 0; bin < 256; bin++)
        counts[bin] = 0;
    for (int i = 0; i < n; i++)
        counts[data[i]]++;
}
