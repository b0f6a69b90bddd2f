/*
 * roaring.h: Roaring bitmaps (Lemire and others, 2018) by CRoaring, their authors' library, on one thread of the
 * processor: the peer of the OR on compressed vectors. The library is opened at run time (Debian: libroaring0, whose
 * version is 0.2.66; a newer one on the library path is taken as well); without it the lab says "not installed".
 */
#ifndef TESSERA_LAB_BITMAPS_ROARING_H
#define TESSERA_LAB_BITMAPS_ROARING_H

#include "lab/bitmaps/wah/wah_many.h"

#include <stddef.h>

struct roaring_bitmap;

struct roaring {
    void *library; /* NULL: not installed */
    struct roaring_bitmap *(*create)(uint32_t containers);
    void (*release)(const struct roaring_bitmap *bitmap);
    void (*add_many)(struct roaring_bitmap *bitmap, size_t count, const uint32_t *rows);
    void (*add_range)(struct roaring_bitmap *bitmap, uint32_t first, uint32_t last);
    bool (*optimize)(struct roaring_bitmap *bitmap);
    size_t (*shrink)(struct roaring_bitmap *bitmap);
    size_t (*bytes)(const struct roaring_bitmap *bitmap);
    struct roaring_bitmap *(*or_many)(size_t count, const struct roaring_bitmap **bitmaps);
    struct roaring_bitmap *(*or_heap)(uint32_t count, const struct roaring_bitmap **bitmaps);
    bool (*equals)(const struct roaring_bitmap *a, const struct roaring_bitmap *b);
};

/* The bitmaps of vectors, with containers of the best kind for each 65536 rows. */
struct roaring_set {
    struct roaring_bitmap **bitmaps;
    uint64_t count;
    uint64_t bytes; /* of all, as they would be in a file */
};

void roaring_open(struct roaring *roaring);
void roaring_close(struct roaring *roaring);

/* Makes a bitmap of each vector; `rows` is at most 2^32. Free the set also after an error. */
NODISCARD enum status roaring_make(const struct roaring *roaring, const struct wah_vector *vectors,
                                   uint64_t count, uint64_t rows, struct roaring_set *set,
                                   struct error *error);
void roaring_free(const struct roaring *roaring, struct roaring_set *set);

/* The milliseconds of the OR of all bitmaps, the faster of CRoaring's two methods; freeing the result is not timed.
 * STATUS_CHECK_FAILED if the result is not `expected`. */
NODISCARD enum status roaring_time(const struct roaring *roaring, const struct roaring_set *set,
                                   struct wah_vector expected, uint64_t rows, double *ms,
                                   struct error *error);

#endif
