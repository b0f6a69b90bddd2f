/*
 * runs.h: finds runs of equal values and expands them again, for gpu-rfor and rank-rle.
 *
 * The functions are called once per 512 or 1024 values. Runs have 1..1024 rows, about four in SSB's order
 * columns.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_RUNS_H
#define TESSERA_STORAGE_CODEC_INTEGER_RUNS_H

#include "storage/codec/integer/bitpack.h"

/* Finds the value and length of each run of `rows` >= 1 values; returns the number of runs. Both arrays have
 * room for `rows`. No branch depends on the data: the current run is written again until it ends. */
FORCED_INLINE uint32_t runs_take(const void *values, uint32_t rows, const uint32_t value_bytes,
                                 void *run_values, uint32_t *lengths)
{
    uint32_t count = 0, begin = 0;
    for (uint32_t i = 0; i < rows; i++) {
        bool ends = i + 1 == rows;
        if (value_bytes == 4) {
            const uint32_t *const v = values;
            ((uint32_t *)run_values)[count] = v[i];
            ends = ends || v[i] != v[i + 1];
        } else {
            const uint64_t *const v = values;
            ((uint64_t *)run_values)[count] = v[i];
            ends = ends || v[i] != v[i + 1];
        }
        lengths[count] = i + 1 - begin;
        begin = ends ? i + 1 : begin;
        count += ends;
    }
    return count;
}

/* Sets rows begin .. end-1 of `out` to run_values[run]. If there is room, it stores whole vectors, which also
 * write rows that later runs overwrite. So most runs take one store and no branch that is hard to predict.
 * Runs must therefore be written in order. Nothing after row `rows` is written. */
FORCED_INLINE void run_fill(void *out, uint32_t rows, const uint32_t value_bytes, uint32_t begin,
                            uint32_t end, const void *run_values, uint32_t run)
{
    enum { AT_ONCE = 16 };
    const bool spill = end + AT_ONCE <= rows;
    if (value_bytes == 4) {
        uint32_t *const to = out;
        const uint32_t v = ((const uint32_t *)run_values)[run];
        for (; spill && begin < end; begin += AT_ONCE)
            for (uint32_t i = 0; i < AT_ONCE; i++)
                to[begin + i] = v;
        for (; begin < end; begin++)
            to[begin] = v;
    } else {
        uint64_t *const to = out;
        const uint64_t v = ((const uint64_t *)run_values)[run];
        for (; spill && begin < end; begin += AT_ONCE)
            for (uint32_t i = 0; i < AT_ONCE; i++)
                to[begin + i] = v;
        for (; begin < end; begin++)
            to[begin] = v;
    }
}

/* ranks_expand reads this many values after the last run. */
#define RANKS_SPARE 8u
#define EIGHT_ONES  UINT64_C(0x0101010101010101)

#if defined(__AVX2__)
/* Writes eight rows, for any runs. Byte i of `marks` is 1 if row i starts a run, else 0. `next` is the first
 * run value that no earlier row has. Multiplying the marks by 1 in each byte gives the number of marks up to
 * each row, which is the row's index among at most eight runs, from the first row's run on. Returns the next
 * `next`. The very first row must start a run. */
FORCED_INLINE const uint32_t *ranks_expand(uint64_t marks, const uint32_t *next, uint32_t *out)
{
    const uint64_t first = marks & 1;
    const uint64_t ranks = (marks - first) * EIGHT_ONES;
    const __m256i index = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)ranks));
    const __m256i runs = _mm256_loadu_si256((const __m256i *)(next + first - 1));
    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(runs, index));
    return next + __builtin_popcountll(marks);
}
#endif

#endif
