/*
 * levels.h: the hierarchy of a dimension, and positions that say where in it a row stands.
 *
 * A foreign key is stored as a position of the referenced row. Without levels it is the row's number. With levels
 * (customer: region > nation > city) the dimension's rows are ordered by them, and each level has its own bits of the
 * position, the outermost level the most significant ones, with room for its largest child:
 *
 *     position   region:3 | nation:3 | city:4 | rest:12
 *                \________ prefix ________/
 *
 * The code of a level is the rank of its value among its parent's values, with NULL first. The rest numbers the rows of one
 * prefix. So a condition on a level is a condition on leading bits, and a group attribute is leading bits. Positions
 * that no row has are gaps. Prior art: hierarchical surrogate keys (Markl, Ramsak and Bayer, VLDB 1999).
 *
 * Rows are stored in the order of their positions; the rows of one prefix are a leaf. From its leaves the position of
 * every row follows, and back.
 */
#ifndef TESSERA_STORAGE_COLUMN_LEVELS_H
#define TESSERA_STORAGE_COLUMN_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#define LEVELS_MAX      8u
#define LEVELS_BITS_MAX 31u        /* of a position, which is an int32 */
#define LEAVES_MAX      (1u << 20) /* of a dimension */

struct level {
    uint32_t column; /* of the table */
    uint32_t bits;   /* 0 if every parent has one value */
};

struct level_leaf {
    uint32_t prefix; /* the position without its rest */
    uint32_t rows;   /* at least 1 */
    uint64_t first_row;
};

/* The levels of a table with rows; tables without have none (struct table). */
struct table_levels {
    uint32_t count; /* 1 .. LEVELS_MAX */
    struct level level[LEVELS_MAX];
    uint32_t prefix_bits, rest_bits; /* of a position: the sum of all levels', and the rest's */
    uint64_t positions;              /* the last row's position + 1 */
    uint32_t leaf_count;
    const struct level_leaf
        *leaves; /* ascending by prefix and by first_row; of an open database after levels_load */
    struct stored_levels *stored; /* of an open database (levels_file.h); else NULL */
    /* For each column of the table: the least number of levels whose codes decide its value in every row; count + 1 if
     * only the row does. Proven on all rows. */
    const uint8_t *depth;
};

/* The bits of a position that lie below its first `depth` levels; 0 if depth is count + 1. */
uint32_t levels_shift(const struct table_levels *levels, uint32_t depth);

#endif
