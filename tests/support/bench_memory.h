/* bench_memory.h: memory and processor time for the benches of kernels on a CPU. */
#ifndef TESSERA_TESTS_SUPPORT_BENCH_MEMORY_H
#define TESSERA_TESTS_SUPPORT_BENCH_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Zeros, aligned to 128 bytes; ends the program if there is no memory. */
static inline void *allocate(size_t bytes)
{
    void *const memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (!memory) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(3);
    }
    memset(memory, 0, bytes);
    return memory;
}

#endif
