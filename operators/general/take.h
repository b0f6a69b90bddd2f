/*
 * take.h: what the engine tells the kernels that write rows of a scan as plain columns (take_cuda.h). Host and device compilers
 * lay it out alike.
 */
#ifndef TESSERA_OPERATORS_GENERAL_TAKE_H
#define TESSERA_OPERATORS_GENERAL_TAKE_H

#ifndef TILE_CUDA
#include <stdint.h>
#endif

#define TAKE_THREADS 256u
#define TAKE_PART_TILES \
    TAKE_THREADS /* a part is what a block counts, with 32 bits of shared memory for each warp */
#define TAKE_SCAN_THREADS 1024u /* of one block, with 64 bits of shared memory for each warp */
#define TAKE_COMPUTED     UINT32_MAX

/* A column that is written: a column of the scan, what one is at the positions that another one has, or computed. */
struct take_column {
    uint64_t values; /* of value_bytes each */
    uint64_t
        validity; /* 0: no row is NULL; else 32 words a tile, zeros at first: a bit is set if its row is not NULL */
    uint64_t elements;                   /* 0, or an array: the value is element `column's value >> shift` */
    uint32_t column;                     /* of the scan, or TAKE_COMPUTED */
    uint32_t slot;                       /* of the instructions, if it is computed */
    uint32_t value_bytes;                /* 4 or 8; 4 if the column of the scan has values of 32 bits */
    uint32_t element_bytes, shift, last; /* 1, 2, 4 or 8; and the last element */
};

struct take_work {
    uint64_t masks;        /* of the rows that pass: 32 words a tile, bit j of word l is row 32j+l */
    uint64_t before;       /* 32 bits a tile: the rows in the tiles before it in its part */
    uint64_t parts_before; /* 64 bits a part: the rows in the parts before it; and at the end all rows */
    uint64_t tiles, parts; /* of the table */
    uint64_t columns;      /* struct take_column */
    uint64_t staged;       /* the staged columns that the instructions read */
    uint32_t count;        /* of columns */
    uint32_t first, end;   /* of the instructions, for columns that are computed */
    uint32_t reserved;
};

#endif
