/* dimension_filter.c: see dimension_filter.h. The file is compiled once per instruction set; compilers
 * vectorise the loops over 32 rows. */
#include "operators/dialect/dimension_filter.h"

#include "storage/base/isa.h"

/* One bit a row: set if any range holds. The caller has removed empty ranges (low > high), so one unsigned
 * comparison suffices: value - low <= high - low. */
#define PREDICATE_WORD(type)                                                        \
    static inline uint32_t word_##type(const type *values, uint32_t rows,           \
                                       const struct dimension_predicate *predicate) \
    {                                                                               \
        uint32_t word = 0;                                                          \
        for (uint32_t range = 0; range < predicate->ranges; range++) {              \
            const uint32_t low = (uint32_t)predicate->low[range];                   \
            const uint32_t span = (uint32_t)predicate->high[range] - low;           \
            for (uint32_t row = 0; row < rows; row++)                               \
                word |= (uint32_t)((uint32_t)values[row] - low <= span) << row;     \
        }                                                                           \
        return word;                                                                \
    }

PREDICATE_WORD(uint8_t)
PREDICATE_WORD(uint16_t)
PREDICATE_WORD(uint32_t)

static inline uint32_t predicate_word(const struct dimension_predicate *predicate, uint64_t row,
                                      uint32_t rows)
{
    switch (predicate->value_bytes) {
    case 1:
        return word_uint8_t((const uint8_t *)predicate->values + row, rows, predicate);
    case 2:
        return word_uint16_t((const uint16_t *)predicate->values + row, rows, predicate);
    default:
        return word_uint32_t((const uint32_t *)predicate->values + row, rows, predicate);
    }
}

dimension_filter ISA(dimension_filter);
void ISA(dimension_filter)(const struct dimension_predicate *predicates, uint32_t count, uint64_t first,
                           uint64_t rows, uint32_t *bitmap)
{
    for (uint64_t row = first; row < first + rows; row += 32) {
        uint64_t left = first + rows - row;
        uint32_t in_word = left < 32 ? (uint32_t)left : 32;
        uint32_t word = in_word == 32 ? ~0u : (1u << in_word) - 1;
        for (uint32_t p = 0; p < count && word; p++)
            word &= in_word == 32 ? predicate_word(&predicates[p], row, 32)
                                  : predicate_word(&predicates[p], row, in_word);
        bitmap[row / 32] = word;
    }
}
