/* Calls the original once or more on a case.
 *
 * argv: CASE REPEATS. CASE is a file of 64-bit words: the number of arguments, nanoseconds of each call summed up (written),
 * then for each argument its offset in the file and its bytes; the arguments' bytes follow. Every argument is copied into
 * a block of exactly its size, so that AddressSanitizer sees each access beyond it; after the last call the
 * blocks are copied back into the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void cudaperf_call(void **arguments);

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int main(int argc, char **argv) {
    struct stat info;
    int file = argc == 3 ? open(argv[1], O_RDWR) : -1;
    if (file < 0 || fstat(file, &info) != 0) return 2;
    char *base = mmap(NULL, info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) return 2;
    int64_t *words = (int64_t *)base, count = words[0], *table = words + 2, elapsed = 0;
    void **arguments = calloc(count + 1, sizeof *arguments);
    for (int64_t i = 0; i < count; i++) arguments[i] = malloc(table[2 * i + 1]);
    for (int repeat = atoi(argv[2]); repeat > 0; repeat--) {
        for (int64_t i = 0; i < count; i++) memcpy(arguments[i], base + table[2 * i], table[2 * i + 1]);
        int64_t start = nanoseconds();
        cudaperf_call(arguments);
        elapsed += nanoseconds() - start;
    }
    for (int64_t i = 0; i < count; i++) memcpy(base + table[2 * i], arguments[i], table[2 * i + 1]);
    words[1] = elapsed;
    fflush(NULL);
    _exit(0); /* what the original leaves allocated is its own affair */
}
