/*
 * croaring.h: the OR of a set's vectors by CRoaring, as Roaring bitmaps with runs. The library is opened at run time:
 * libroaring.so.0 of Debian's libroaring0 (version 0.2.66), or a newer one; TESSERA_ROARING names another file.
 */
#ifndef TESSERA_LAB_BITMAPS_CROARING_H
#define TESSERA_LAB_BITMAPS_CROARING_H

#include "lab/bench/decode.h"
#include "lab/bitmaps/bitmap_set.h"

struct roaring_bitmap;

struct croaring {
    void *library; /* NULL: not installed */
    struct roaring_bitmap *(*create)(uint32_t capacity);
    void (*add_many)(struct roaring_bitmap *bitmap, size_t count, const uint32_t *rows);
    bool (*run_optimize)(struct roaring_bitmap *bitmap);
    size_t (*bytes)(const struct roaring_bitmap *bitmap);
    uint64_t (*cardinality)(const struct roaring_bitmap *bitmap);
    void (*to_rows)(const struct roaring_bitmap *bitmap, uint32_t *rows);
    struct roaring_bitmap *(*or_many)(size_t count, const struct roaring_bitmap **bitmaps);
    void (*free)(struct roaring_bitmap *bitmap);
};

/* Not finding it is no error. Close with croaring_close. */
void croaring_open(struct croaring *roaring);
void croaring_close(struct croaring *roaring);

/* Compares every row with those that are expected and times one thread, at most three times; does nothing if it is not
 * installed or a row's number has more than 32 bits. *bytes: of the bitmaps, as CRoaring stores them. */
NODISCARD enum status croaring_measure(struct lab *lab, const struct croaring *roaring,
                                       const struct bitmap_set *set, struct speed *speed, uint64_t *bytes,
                                       struct error *error);

#endif
