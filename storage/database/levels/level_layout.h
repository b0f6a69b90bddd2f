/*
 * level_layout.h: the rows of a dimension laid out by given levels: the bits of each level, the leaves, the order of
 * the rows, and which columns how many levels decide. It works on arrays and touches no file.
 */
#ifndef TESSERA_STORAGE_DATABASE_LEVELS_LEVEL_LAYOUT_H
#define TESSERA_STORAGE_DATABASE_LEVELS_LEVEL_LAYOUT_H

#include "storage/database/levels/level_codes.h"

/* Positions may be so many times the rows, and so many at least: bitmaps over positions stay small. */
#define LEVEL_POSITIONS_A_ROW 64u
#define LEVEL_POSITIONS_MIN   65536u

struct level_layout {
    uint32_t count;
    uint32_t bits[LEVELS_MAX]; /* of each level */
    uint32_t prefix_bits, rest_bits;
    uint64_t rows, positions;
    uint32_t leaf_count;
    struct level_leaf *leaves;
    struct level_groups groups[LEVELS_MAX]; /* of_row only of the last level's, whose groups are the leaves */
};

/* Lays `rows` rows (1 .. INT32_MAX) out by `count` levels. bits_least[l] (NULL: all 0) and rest_least are the fewest
 * bits that a level and the rest get. *fits is false if positions have more than LEVELS_BITS_MAX bits or would be too
 * many for the rows, or there are more than LEAVES_MAX leaves; then there is no layout. Free it. */
NODISCARD enum status level_layout_make(const struct level_codes *const *levels, uint32_t count,
                                        uint64_t rows, const uint32_t *bits_least, uint32_t rest_least,
                                        bool *fits, struct level_layout *layout, struct error *error);
void level_layout_free(struct level_layout *layout);

/* Whether so many bits are allowed for so many rows. */
bool level_bits_fit(uint32_t bits, uint64_t rows);

/* The given row that is stored at each place, and the position of each given row. Rows of a leaf keep their order. */
void level_layout_order(const struct level_layout *layout, uint32_t *order, int32_t *positions);

/* The least number of levels that decide the column's value in every row; count + 1: all of them do not. */
NODISCARD enum status level_layout_depth(const struct level_layout *layout, const struct level_values *column,
                                         uint8_t *depth, struct error *error);

#endif
