/* list_loops.c: see list_loops.h. */
#include "engine/cpu/list/list_loops.h"

#include "storage/base/number/number_ranks.h"

void ISA(list_words)(const int32_t *restrict narrow, const int64_t *restrict values,
                     const uint8_t *restrict nulls, uint64_t low, uint64_t mask, uint32_t shift,
                     uint32_t count, uint64_t *restrict words)
{
    for (uint32_t i = 0; narrow && !nulls && i < count; i++)
        words[i] |= (((uint64_t)narrow[i] - low) & mask) << shift;
    for (uint32_t i = 0; narrow && nulls && i < count; i++)
        words[i] |= (((uint64_t)narrow[i] - low) & (nulls[i] ? 0 : mask)) << shift;
    for (uint32_t i = 0; !narrow && !nulls && i < count; i++)
        words[i] |= (((uint64_t)values[i] - low) & mask) << shift;
    for (uint32_t i = 0; !narrow && nulls && i < count; i++)
        words[i] |= (((uint64_t)values[i] - low) & (nulls[i] ? 0 : mask)) << shift;
}

void ISA(list_values)(const uint64_t *restrict words, uint32_t shift, uint64_t mask, uint64_t low,
                      uint32_t count, int64_t *restrict values)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = (int64_t)(low + (words[i] >> shift & mask));
}

void ISA(list_mark)(const uint64_t *restrict words, uint64_t count, uint32_t shift, uint64_t mask,
                    uint64_t *restrict marks)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = words[i] >> shift & mask;
        marks[number / NUMBER_RANKS_A_WORD] |= UINT64_C(1) << number % NUMBER_RANKS_A_WORD;
    }
}

void ISA(list_ranks)(const uint64_t *restrict words, uint32_t count, uint32_t shift, uint64_t mask,
                     const uint64_t *restrict marks, uint64_t first, uint64_t *restrict at)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t number = words[i] >> shift & mask;
        at[i] = first + number_ranks_of(marks[number / NUMBER_RANKS_A_WORD], number);
    }
}
