/*
 * wah_range.h: the OR of many vectors within a range of pieces, the work of one thread. For wah_bits_body.h; compiled once
 * for each instruction set (isa.h).
 */
#ifndef TESSERA_STORAGE_INDEX_WAH_RANGE_H
#define TESSERA_STORAGE_INDEX_WAH_RANGE_H

#include "storage/index/wah32.h"

/* Where a vector stands in the range. */
struct wah_cursor {
    const uint64_t *next, *end;
    int64_t at;     /* the group, counted from the range's first, with which `next` begins */
    uint32_t link;  /* the next vector of the same piece, or WAH_NO_VECTOR */
    uint32_t words; /* that it had in the last piece; 0 in the first one */
};

struct wah32_cursor {
    const uint32_t *next, *end;
    int64_t at;
    uint32_t link;
    uint32_t words;
};

#define WAH_NO_VECTOR UINT32_MAX

/* ORs `groups` groups to flat bits (wah_bits.h). The cursors say where the range begins in each vector; heads[], one for
 * each piece of the range, is scratch memory. */
#define WAH_RANGES(isa)                                                                           \
    void wah_or_range_bits_##isa(struct wah_cursor *cursors, uint64_t count, uint64_t groups,     \
                                 uint32_t *heads, bool narrow, uint64_t *bits, uint64_t words);   \
    void wah32_or_range_bits_##isa(struct wah32_cursor *cursors, uint64_t count, uint64_t groups, \
                                   uint32_t *heads, bool narrow, uint64_t *bits, uint64_t words);

WAH_RANGES(baseline)
WAH_RANGES(avx2)
WAH_RANGES(avx512)

#endif
