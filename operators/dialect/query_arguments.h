/*
 * query_arguments.h: what the engine passes to the kernels of a planned statement
 * (engine/gpu/kernel.h). Host and device compilers lay it out alike. It lies in the kernels' constant
 * memory as `arguments`, which has 64 KB with what else a kernel keeps there.
 *
 * Numbers that differ from statement to statement (constants, ranges of groups, addresses) are here and not
 * in the kernel's text, so that statements which differ in nothing else share a compiled kernel.
 */
#ifndef TESSERA_OPERATORS_DIALECT_QUERY_ARGUMENTS_H
#define TESSERA_OPERATORS_DIALECT_QUERY_ARGUMENTS_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define ARGUMENT_ARRAYS_MAX     256u
#define ARGUMENT_JOINS_MAX      32u
#define ARGUMENT_GROUPS_MAX     112u
#define ARGUMENT_AGGREGATES_MAX 1024u
#define ARGUMENT_CONSTANTS_MAX  511u
#define ARGUMENT_TEST_WORDS_MAX 2048u

/* A dimension column: one value for each position of a join's table. `valid` points at one bit a position, bit p%32 of
 * word p/32; 0: none is NULL. */
struct array_argument {
    uint64_t values, valid;
};

/* A lookup table of an expression. */
struct lookup_argument {
    uint64_t values; /* int64 each */
    uint64_t count;
    uint64_t members; /* the bitmap of a dense set, bit p%32 of word p/32 for values[0] + p; or 0 */
    uint64_t unused;  /* an entry is two loads of 16 bytes */
};

/* A group term's code is NULL ? 0 : value - base, at most `last`. The group's number is the sum of all terms'
 * code * stride. */
struct group_argument {
    uint64_t base, last, stride;
};

/* The set of a count(distinct) over values low .. low + last; operators/group/states_cuda.h says what `table`
 * holds. Where values have a table, too, it follows at set_values. */
struct set_argument {
    uint64_t table, capacity;
    int64_t low;
    uint64_t last;
};

#ifdef TILE_CUDA
static __device__ __forceinline__
#else
static inline
#endif
    uint64_t
    set_values(const struct set_argument *set)
{
    return set->table + set->capacity * sizeof(uint64_t);
}

/* The positions of a dimension at which its predicate is true: bit 31 - p%32 of word p/32. */
struct match_argument {
    uint64_t bitmap, positions;
};

/* A term of ORDER BY, as struct first_term of engine/plan/order/first_rows.h. */
struct first_term_argument {
    int64_t low, high;
    uint64_t best, null, stride;
    uint32_t shift, descending;
};

/* The first rows of an order (operators/group/first_rows_cuda.h). */
#define ARGUMENT_FIRST_TERMS_MAX 4u
struct first_argument {
    struct first_term_argument terms[ARGUMENT_FIRST_TERMS_MAX];
    uint64_t state;          /* struct first_state */
    uint64_t list, capacity; /* of struct first_entry; list 0: rows are marked in `rows` */
    uint64_t known;          /* of struct first_known */
    uint64_t wanted, bound;  /* no row with a greater rank is wanted */
    uint32_t of_lanes, reserved;
};

struct query_arguments {
    struct array_argument arrays[ARGUMENT_ARRAYS_MAX];
    struct match_argument matches[ARGUMENT_JOINS_MAX];
    struct group_argument groups[ARGUMENT_GROUPS_MAX];
    /* The states of each aggregate: `slots` 64-bit words, twice as many for a sum of 128 bits. */
    uint64_t states[ARGUMENT_AGGREGATES_MAX];
    union {
        uint64_t present; /* dense groups: 32 bits a slot: not 0 if the group has rows */
        uint64_t
            edge_count; /* groups of rows in order (operators/group/streamed_groups_cuda.h): those at edges of tiles */
    };

    /* Hashed groups: the group table. `keys` has a word a slot: 0 if the slot is free, else the group's
     * number + 1, or a mark if numbers have several words. Those words are in `key_words`, `slots` of the
     * first, then `slots` of the second, and so on. */
    uint64_t keys;
    union {
        uint64_t key_words;
        uint64_t group_places; /* groups of rows in order, whose numbers have one word: room for the others */
    };
    uint64_t slots; /* of all states; for hashed groups a power of two */
    uint64_t
        direct; /* hashed groups of one word: numbers are less than `slots`, and are the slots; of kernels
                            * that list rows: they stand in the order of groups, which are made of them at once */
    uint64_t
        groups_found; /* hashed groups: 64 bits, the number of used slots; while rows are listed, theirs */
    uint64_t full;    /* 32 bits: set if a hash table was too full for a row; then 32: rows are in no order */

    uint64_t points; /* EXPLAIN ANALYZE: rows and clock ticks of each point, 64 bits each */
    uint64_t
        rows; /* PLAN_ROWS: 32 mask words a tile; listed rows: a word of 64 bits each; rows in order: the edges */
    struct first_argument first;
    uint64_t
        segment_tiles; /* 64 bits a segment, the number of tiles in the segments before it; for `rows` and the mask */
    uint64_t index_mask;         /* the mask of the plan's index terms: 32 words a tile */
    uint64_t clear, clear_words; /* memory to set to 0 before the scan, and its size in units of 16 bytes */
    uint64_t tables;             /* array of struct lookup_argument */
    uint64_t program;            /* of a general kernel (operators/general/program.h) */
    int64_t constants[ARGUMENT_CONSTANTS_MAX];
    uint32_t test_words[ARGUMENT_TEST_WORDS_MAX]; /* of tests of positions: tile_levels_cuda.h */

    /* Last, because no more of it is copied than the statement has aggregates. */
    struct set_argument sets[ARGUMENT_AGGREGATES_MAX];
};

#endif
