/*
 * window.h: what the engine tells the kernels of window functions (window_cuda.h). Host and device compilers lay it out alike.
 */
#ifndef TESSERA_OPERATORS_WINDOW_WINDOW_H
#define TESSERA_OPERATORS_WINDOW_WINDOW_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define WINDOW_THREADS        256u
#define WINDOW_BEFORE_THREADS 1024u /* of one block, with 64 bits of shared memory for each warp */
#define WINDOW_SUMS           8u    /* of pieces, that a thread loads at once */
#define WINDOW_PIECE          2048u /* items that a warp adds up */
#define WINDOW_BATCH          4u    /* places of a lane at a time, so that as many reads are in flight */
#define WINDOW_TERMS_MAX      16u
#define WINDOW_CARRIED_MAX    4u  /* columns beside the terms in a key */
#define WINDOW_FAN            16u /* the children of a node of the tree of extrema */
#define WINDOW_LEVELS_MAX     8u  /* of that tree: FAN^8 rows */
#define WINDOW_RUNS_MAX       8u  /* functions of partitions that are computed in one pass */

/* A column of rows (engine/plan/device/device_rows.h); values 0: there is none. */
struct window_column {
    uint64_t values, validity;
    uint32_t value_bytes, reserved;
};

/* The most rows that are ranked in their run (order_cuda.h): each reads all of its run, from a cache. A radix sort takes as
 * long as some 60 of such reads. */
#define WINDOW_RUN_MAX 64u

/* What adjacent rows tell of the order, a bit for each term t: these words of 32 bits, where bits 0 .. 15 come first. */
enum window_flags {
    WINDOW_SUFFIXES, /* bit t: the rows do not ascend by the terms t and later; bit 16 + t: two are equal in them */
    WINDOW_PREFIXES, /* bit t: they do not by the terms up to t; bit 16 + t: more than WINDOW_RUN_MAX are equal in them */
    WINDOW_FLAGS
};

/* A term of the order: its code is 0 .. last, in the order's direction, NULLs first or last. */
struct window_code {
    struct window_column column;
    int64_t low;
    uint64_t span;  /* of the values */
    uint64_t mask;  /* of the code's bits */
    uint32_t shift; /* the code's place in its word */
    uint32_t word;  /* 0: sorted first, and so the least; WINDOW_NO_WORD: it is not sorted by */
    uint32_t descending, nulls_first;
};

#define WINDOW_NO_WORD UINT32_MAX

/* The places where partitions begin, or groups of peers. */
struct window_begins {
    uint64_t bits;   /* a bit for each place, in words of 32 */
    uint64_t before; /* 32 bits: those that begin before each word's places */
    uint64_t list;   /* 32 bits: the place of each, and at the end `rows`; 0: each place begins one */
};

/* What is added up over places: values that are not NULL, or these values. */
enum window_sum { WINDOW_SUM_COUNT, WINDOW_SUM_VALUES };

enum window_result {
    WINDOW_GIVES_ROW_NUMBER,
    WINDOW_GIVES_RANK,
    WINDOW_GIVES_DENSE_RANK,
    WINDOW_GIVES_PERCENT_RANK,
    WINDOW_GIVES_CUME_DIST,
    WINDOW_GIVES_NTILE,
    WINDOW_GIVES_MOVED, /* the argument `number` rows after, or NULL */
    WINDOW_GIVES_FIRST, /* of the frame, the argument of its first row */
    WINDOW_GIVES_LAST,
    WINDOW_GIVES_COUNT,
    WINDOW_GIVES_SUM,
    WINDOW_GIVES_AVERAGE,
    WINDOW_GIVES_MIN,
    WINDOW_GIVES_MAX
};

/* An edge of a frame: of the partition; of the group of peers; or so many rows after this one. */
enum window_edge_kind { WINDOW_EDGE_PARTITION, WINDOW_EDGE_PEERS, WINDOW_EDGE_ROW };
struct window_edge_at {
    int64_t rows;
    uint32_t kind, reserved;
};

/* Sums and divisors up to this are doubles, so that their quotient is rounded once (storage/base/decimal.h). */
#define WINDOW_EXACT (1ll << 53)

/* Rows are numbered by their place in the order. A key whose codes leave room for it has the row's number, and codes of other
 * columns: terms[term_count] and later. From the highest bit on: the terms, the row, the others. */
struct window_work {
    uint64_t rows;
    uint64_t places,
        row_mask;   /* the row at each place, in row_mask << row_shift; places 0: the rows are in order */
    uint64_t keys;  /* a word of the codes at each place, or before they are ranked of each row */
    uint64_t flags; /* WINDOW_FLAGS of 32 bits, zeros */
    uint64_t sums;  /* of pieces */
    struct window_begins partitions, groups;
    uint64_t counts, values;          /* the other sums before each place, and at the end of all; or 0 */
    uint64_t tree[WINDOW_LEVELS_MAX]; /* extrema of the argument, from level 0, the places, on */
    uint32_t term_count, partition_terms;
    uint32_t word; /* of the codes: that which is made */
    uint32_t has_row, row_shift;
    uint32_t key_shift; /* the lowest bit of a key that is a term's */
    uint32_t run_bits;  /* the lowest of a key, in which rows of a run differ */
    uint32_t by_keys;   /* keys are in order and tell where partitions and groups begin; else terms do */
    uint32_t partition_shift; /* the lowest bit of a key that is the partition's */
    uint32_t
        compared_terms; /* in which rows of a group, or of a partition if there are no groups, are equal */
    uint32_t placed;    /* results stand in the order of the window, else of the rows */
    uint32_t narrow;    /* words of keys and places have 32 bits */
    uint32_t carried_count;
    uint32_t has_carried;       /* the argument is in the words of `places`: */
    struct window_code carried; /* its code there */
    uint32_t result;            /* enum window_result */
    int64_t number;             /* of rows, or of parts; of an average, what its divisor is multiplied by */
    struct window_edge_at begin, end;
    struct window_column argument, out;
    struct window_code terms[WINDOW_TERMS_MAX + WINDOW_CARRIED_MAX];
};

/* Functions whose frames are partitions that follow each other in the rows (runs_cuda.h): counts, sums, minima and maxima of
 * arguments that are not NULL, but counts' may be. */
struct window_run {
    struct window_column argument, out; /* argument.values 0: rows are counted */
    uint32_t result;                    /* enum window_result */
    uint32_t narrow;                    /* results fit 32 bits, and so does what they are made of */
};
struct window_run_work {
    uint32_t count, place_bytes; /* 4 if all are narrow, else 8 */
    struct window_run functions[WINDOW_RUNS_MAX];
};

#endif
