/*
 * bitmap_tables.h: what the experiment on bitmap indexes measured of each set, and the tables that are shown of all sets on a GPU once all
 * are measured.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_TABLES_H
#define TESSERA_LAB_BITMAPS_BITMAP_TABLES_H

#include "lab/bitmaps/bitmap_device.h"
#include "lab/bitmaps/bitmap_host.h"

#include <math.h>

struct bitmap_record {
    const char *name; /* of the column; NULL: not measured */
    struct bitmap_options options;
    uint64_t rows, compressed_bytes;
    uint32_t vectors;
    struct bitmap_times gpu;
    struct speed host[BITMAP_HOSTS]; /* 0: not measured */
    double roaring_ms;
    uint64_t roaring_bytes;
};

struct bitmap_records {
    struct lab *lab;
    const struct bitmap_kernels *kernels;
    const struct bitmap_record *of;
    uint32_t count;
};

/* The columns that begin each table, and their cells. */
#define BITMAP_SET_COLUMNS                                                                             \
    {.key = "column", .name = "column", .text = true, .width = 27},                                    \
        {.key = "vectors", .name = "vectors", .whole = true},                                          \
        {.key = "rows", .name = "rows", .unit = "M", .scale = 1e-6, .significant = 3},                 \
    {                                                                                                  \
        .key = "compressed_bytes", .name = "compressed", .unit = "MB", .scale = 1e-6, .significant = 4 \
    }
void bitmap_add_set(struct sheet *sheet, const struct bitmap_record *record);

/* A number that is measured is above 0. */
static inline void bitmap_number_or_missing(struct sheet *sheet, double number)
{
    sheet_number(sheet, number > 0 ? number : NAN);
}

/* Milliseconds that so many bytes take at the ceiling of reading. */
double bitmap_bound_ms(const struct lab *lab, uint64_t bytes);

/* Shows the tables of the GPU but the first: whole queries, the paper's claims, decompression's scans, hybrid's layouts, and the traffic. */
NODISCARD enum status bitmap_tables(const struct bitmap_records *records, struct error *error);

#endif
