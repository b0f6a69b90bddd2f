/*
 * bitmap_set.h: the data of the experiment on bitmap indexes: the compressed vectors of a range.
 *
 * A column has four times as many bins as the range has vectors, and the range has a quarter of the rows; so a vector's
 * density is 1/(4m) in the mean. Vectors are made one by one, on all threads, and do not know of each other: a row may be
 * in two of them, which costs no method more or less. The words of all vectors lie one after the other.
 *
 * Or the vectors are made of a column's values, one each.
 */
#ifndef TESSERA_LAB_BITMAPS_BITMAP_SET_H
#define TESSERA_LAB_BITMAPS_BITMAP_SET_H

#include "lab/lab.h"
#include "lab/bitmaps/wah/wah_many.h"

#define BITMAP_SHARE 0.25 /* of the rows are in a range */

struct bitmap_kind {
    const char *name;
    double zipf;  /* vector v's density is proportional to (v + 1)^-zipf */
    uint32_t run; /* rows of a run; 0: every row is drawn on its own */
    bool sorted;  /* each vector is one run */
};

enum {
    BITMAP_UNIFORM,
    BITMAP_ZIPF_HALF,
    BITMAP_ZIPF_ONE,
    BITMAP_ZIPF_TWO,
    BITMAP_SORTED,
    BITMAP_CLUSTERED,
    BITMAP_KINDS
};
extern const struct bitmap_kind bitmap_kinds[BITMAP_KINDS];

struct bitmap_set {
    const struct bitmap_kind *kind;
    uint64_t rows, groups, pieces; /* of a vector */
    uint32_t count;                /* of vectors */
    uint64_t stride; /* groups, made even by a fill of one group after each vector if they are odd */
    uint64_t *words; /* of all vectors, with those fills */
    uint64_t word_count, compressed_bytes; /* compressed_bytes: without those fills */
    struct wah_vector *vectors;            /* in `words` */
    struct wah_start *starts;              /* the directory of vector v is at starts + v * pieces */
    const struct wah_start **directories;
    uint64_t *expected; /* the groups of the OR, made of the vectors' groups one by one */
};

/* Free with bitmap_set_free, also after an error. */
NODISCARD enum status bitmap_set_make(struct lab *lab, const struct bitmap_kind *kind, uint64_t rows,
                                      uint32_t count, struct bitmap_set *set, struct error *error);

/* The same of a column: vector v has the rows whose value is low + v. `kind` has a name only. */
NODISCARD enum status bitmap_set_of_values(struct lab *lab, const struct bitmap_kind *kind,
                                           const int32_t *values, uint64_t rows, int32_t low, uint32_t count,
                                           struct bitmap_set *set, struct error *error);
void bitmap_set_free(struct bitmap_set *set);

#endif
