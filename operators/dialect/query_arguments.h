/*
 * operators/dialect/query_arguments.h: what the engine hands to the kernels of a planned statement (engine/gpu/query_kernel.h), laid out
 * alike by host and device compilers; in the kernels' constant memory, under the name `arguments`.
 *
 * Numbers that differ from statement to statement (constants, ranges of groups, addresses) are here and not in the
 * kernel's text, so that statements which differ in them alone share a compiled kernel.
 */
#ifndef TESSERA_OPERATORS_DIALECT_QUERY_ARGUMENTS_H
#define TESSERA_OPERATORS_DIALECT_QUERY_ARGUMENTS_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define ARGUMENT_ARRAYS_MAX     256u
#define ARGUMENT_JOINS_MAX      16u
#define ARGUMENT_GROUPS_MAX     16u
#define ARGUMENT_AGGREGATES_MAX 128u
#define ARGUMENT_CONSTANTS_MAX  512u

/* A dimension column, a value for each row of a join's table; valid: bit r%32 of word r/32, or 0: all are. */
struct array_argument {
    uint64_t values, valid;
};

/* Values that expressions look up. */
struct lookup_argument {
    uint64_t values; /* int64 each */
    uint64_t count;
};

/* A group term's code is NULL ? 0 : value - base, cut to `last`; the group's number is the sum of code * stride. */
struct group_argument {
    uint64_t base, last, stride;
};

/* The set of a count(distinct): values low .. low + last. */
struct set_argument {
    uint64_t table, values, capacity;
    int64_t low;
    uint64_t last;
};

/* Which rows of a dimension fulfil its condition: bit 31 - r%32 of word r/32. */
struct match_argument {
    uint64_t bitmap, rows;
};

struct query_arguments {
    struct array_argument arrays[ARGUMENT_ARRAYS_MAX];
    struct match_argument matches[ARGUMENT_JOINS_MAX];
    struct group_argument groups[ARGUMENT_GROUPS_MAX];
    struct set_argument sets[ARGUMENT_AGGREGATES_MAX];
    uint64_t states
        [ARGUMENT_AGGREGATES_MAX]; /* of each aggregate: `slots` 64-bit words, twice for a sum of 128 bits */
    uint64_t present;              /* 32-bit words: the slot has rows */
    uint64_t keys;          /* hashed groups: number + 1 of each slot, or 0; of several words: a mark, or 0 */
    uint64_t key_words;     /* of numbers of several words: `slots` each */
    uint64_t slots;         /* hashed: a power of two */
    uint64_t groups_found;  /* hashed: how many */
    uint64_t full;          /* 32 bits: set if a hash table was too full for a row */
    uint64_t points;        /* EXPLAIN ANALYZE: of each point the rows and ticks, 64 bits each */
    uint64_t rows;          /* PLAN_ROWS: 32 mask words a tile */
    uint64_t segment_tiles; /* PLAN_ROWS: tiles of all segments before each, 64 bits each */
    uint64_t clear, clear_words; /* what is set to 0 first, in units of 16 bytes */
    uint64_t tables;             /* of struct lookup_argument */
    int64_t constants[ARGUMENT_CONSTANTS_MAX];
};

#endif
