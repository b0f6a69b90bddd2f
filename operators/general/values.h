/*
 * values.h: what the engine tells the kernels that find what measures need of sorted values (values_cuda.h). Host and device
 * compilers lay it out alike.
 */
#ifndef TESSERA_OPERATORS_GENERAL_VALUES_H
#define TESSERA_OPERATORS_GENERAL_VALUES_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define VALUES_THREADS      256u
#define VALUES_SCAN_THREADS 1024u

/* A warp adds up so many entries. */
#define VALUES_PIECE 4096u

/* Prefix sums over the sorted entries: of rows; of 2^32 where a group begins and 1 where a value that is not NULL does; of the
 * codes where a value begins. */
enum values_sum { VALUES_ROWS, VALUES_FLAGS, VALUES_CODES };

/* A group of the statement. */
struct values_group {
    uint64_t number;           /* of the scan's group of the first value: without terms that are values */
    uint64_t all_rows;         /* also those whose value is NULL */
    uint64_t first, end;       /* the entries whose value is not NULL */
    uint64_t rows;             /* of these */
    uint64_t different, codes; /* the different values, and the sum of their codes */
};

/* A group of the scan is a group of the statement and a value of each term: its number is
 * group * group_stride + ... + code * stride + ... An entry is such a group, of one of the terms. */
struct values_work {
    uint64_t group_stride, stride;
    uint64_t domain;       /* of the codes */
    uint32_t hashed;       /* else dense */
    uint32_t whole;        /* the scan's number is the key of its entry */
    uint32_t nullable;     /* code 0 is NULL */
    uint32_t key_more;     /* what keys are more than what they stand for */
    uint64_t keys;         /* of the entries, 64 bits each: group * domain + code */
    uint64_t rows;         /* theirs, 64 bits each, and then the prefix sums */
    uint64_t capacity;     /* the entries that there is room for */
    uint64_t found;        /* 64 bits: the number of entries; 0 at first */
    uint64_t count;        /* the same when they are sorted */
    uint64_t flags, codes; /* prefix sums, 64 bits each; codes 0: they are not wanted */
    uint64_t sums;         /* of each piece, and then of those before it */
    uint64_t starts;       /* the first entry of each group */
    uint64_t groups;       /* struct values_group */
    uint64_t group_count;
};

#endif
