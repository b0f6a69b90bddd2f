/*
 * program.h: a plan's scan as data, for the kernels that are compiled ahead (general_cuda.h). The engine makes it
 * (engine/gpu/general/program.h) and uploads it; struct query_arguments has its address. Its parts follow each other in
 * one piece of memory, each at a multiple of 16 bytes:
 *
 *     struct general_program
 *     general_column      of each column, in the order of the kernel's columns
 *     general_step        in order
 *     general_match       a dimension predicate each, for `prepare`
 *     general_group       of each term of GROUP BY
 *     general_aggregate   of each aggregate
 *     general_code        instructions: of conditions, of predicates, and of what is done with a row that passes
 *     general_plane       of the tests that one cube decides
 *
 * An instruction reads and writes slots, of which each row has GENERAL_SLOTS, all of 64 bits; doubles are in them as their
 * keys (storage/base/double_key.h). A slot may be NULL. The last one never is: it stands for operands that there are not.
 * This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GENERAL_PROGRAM_H
#define TESSERA_OPERATORS_GENERAL_PROGRAM_H

#include "operators/dialect/bound.h"

#define GENERAL_COLUMNS_MAX 96u
#define GENERAL_JOINS_MAX   32u
#define GENERAL_SLOTS       64u
#define GENERAL_NO_OPERAND  63u

/* The rows of a lane that an instruction is run on at a time. */
#define GENERAL_ITEMS 1u

/* A block has a copy of the program in shared memory if it has at most so many bytes. */
#define GENERAL_COPIED_BYTES 16384u
#define GENERAL_NOT_COPIED   UINT32_MAX

/* The words of 64 bits that a thread keeps of the only group's states, and the most of a hashed group's number. */
#define GENERAL_SINGLE_WORDS 128u
#define GENERAL_KEY_WORDS    8u

/* A kernel's first argument. */
struct general_bound {
    struct bound_column columns[GENERAL_COLUMNS_MAX];
    struct bound_dimension dimensions[GENERAL_JOINS_MAX];
};

struct general_program {
    uint32_t column_count, step_count, match_count, group_count, aggregate_count, code_count;
    uint32_t key_words; /* of a group's number */
    uint32_t
        present_first; /* the first 32-bit word a slot of the marks of groups, in a block's shared memory */
    uint32_t shared_words; /* of a slot in a block's shared memory */
    uint32_t bytes;        /* of the program */
    uint32_t copy_at;   /* where a block's copy of it is in its shared memory; GENERAL_NOT_COPIED: nowhere */
    uint32_t chunks_at; /* where, in a warp's staging area, the columns' chunks of its tile's segment are */
    uint32_t
        slots_at; /* where, likewise, the slots of its lanes are: word 32 * (slot * GENERAL_ITEMS + item) + lane */
    uint32_t reserved[3];
};

struct general_column {
    uint8_t codec; /* enum codec_id */
    uint8_t wide;  /* values have 64 bits */
    uint8_t nullable;
    uint8_t staged;       /* 1 + its number among the columns that are prepared in shared memory, or 0 */
    uint8_t bits, planes; /* of lane-levels: of a value, and those that are planes */
    uint16_t scratch; /* bytes of the decoder's scratch; decoded values follow if it has no random access */
    uint32_t needed;  /* the bits that survivors' values need */
    uint32_t reserved;
};

enum general_step_kind {
    GENERAL_STEP_INDEX, /* the row's bit in the index mask */
    GENERAL_STEP_VALID, /* the column is not NULL */
    GENERAL_STEP_RANGE, /* low <= value <= high */
    GENERAL_STEP_CUBES, /* values have the bits of one of the cubes, each of `each` planes, from `first` on */
    GENERAL_STEP_BITMAP,    /* the value's bit in the dimension's bitmap */
    GENERAL_STEP_CONDITION, /* instructions `first` to `end`: their slot is true */
    GENERAL_STEP_ADD        /* the last: instructions `first` to `end` add the rows to their groups */
};

struct general_step {
    uint8_t kind, column, dimension, slot;
    int32_t low, high;
    uint32_t first, end; /* of instructions or planes */
    uint32_t cubes, each;
    uint64_t staged; /* the staged columns that instructions read */
    uint64_t reserved;
};

struct general_match {
    uint32_t join; /* in struct query_arguments */
    uint32_t first, end, slot;
};

struct general_group {
    uint32_t slot, word, reserved[2];
};

struct general_aggregate {
    uint8_t merge;   /* enum merge_kind */
    uint8_t words;   /* of 64 bits */
    uint8_t by_mask; /* it is the number of rows, which needs no row looked at */
    uint8_t unused;
    uint32_t first; /* its first word of a thread's states, or 32-bit word a slot of a block's */
    uint32_t reserved[2];
};

enum general_operation {
    GENERAL_CONSTANT, /* number; NULL if `flags` */
    GENERAL_COLUMN,   /* the row's value of column `index` */
    GENERAL_KEY, /* the position that column `index` references; NULL without a match. `flags`: enum general_probe of
                       * dimension `c` */
    GENERAL_ARRAY, /* element a >> (number & 255) of array `index`, which has (number >> 8 & 255) bytes; number >> 16: it
                       * has NULLs */
    GENERAL_BITS, /* a >> (number & 255) & number >> 32 */
    GENERAL_ADD,  /* of groups, `flags`: the value may leave 64 bits; so the next three */
    GENERAL_SUBTRACT,
    GENERAL_MULTIPLY,
    GENERAL_NEGATE,
    GENERAL_DIVIDE,
    GENERAL_REMAINDER,
    GENERAL_ADD_DOUBLE,
    GENERAL_SUBTRACT_DOUBLE,
    GENERAL_MULTIPLY_DOUBLE,
    GENERAL_DIVIDE_DOUBLE,
    GENERAL_NEGATE_DOUBLE,
    GENERAL_EQUAL,
    GENERAL_LESS,
    GENERAL_LESS_EQUAL,
    GENERAL_AND,
    GENERAL_OR,
    GENERAL_NOT,
    GENERAL_IS_NULL,
    GENERAL_CHOOSE,     /* a ? b : c */
    GENERAL_IN_SET,     /* a is in table `index` */
    GENERAL_LOOKUP,     /* table `index` at a */
    GENERAL_DATE_FIELD, /* field `index` */
    GENERAL_TIME_FIELD,
    GENERAL_ADD_MONTHS,
    GENERAL_TO_DATE,
    GENERAL_TO_DOUBLE, /* a divided by the double whose bits are `number` */
    GENERAL_LIMB,      /* from 2^number on, `index` bits */
    GENERAL_CALL, /* function `index` (operators/general/call_list.h), of a, b and c, with unit `number` */
    GENERAL_TERM, /* of a group (groups.h): the value of term `index` of GROUP BY, in word `c` of the number; `flags`: code 0 is
                       * NULL */
    GENERAL_AGGREGATE, /* of a group: the result of aggregate `index`; `c` is enum state_value; number: groups.h */
    GENERAL_SLOT,      /* finds the group's slot, from the groups' slots; rows without one end */
    GENERAL_STATE, /* adds a to aggregate `index`: `c` is enum state_value (operators/group/state.h), `flags` enum
                       * general_set */
    GENERAL_OPERATIONS
};

enum general_probe { GENERAL_PROBE_NONE, GENERAL_PROBE_BITMAP, GENERAL_PROBE_RANGE };

/* The set of a count(distinct), as enum distinct_kind of the engine. */
enum general_set { GENERAL_SET_NONE, GENERAL_SET_BITS, GENERAL_SET_KEYS, GENERAL_SET_PAIRS };

struct general_code {
    uint8_t operation, to, a, b, c, flags;
    uint16_t index;
    int64_t number;
};

/* A bit of a column in lane-levels that values must have, or must not have: line `line` of the `bits` of a tile. */
struct general_plane {
    uint8_t column, bits, line, wanted;
};

#endif
