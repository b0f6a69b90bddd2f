/*
 * nsv.h: numbers of 1 to 4 bytes, or of 1, 2, 4 or 8, whose lengths are stored apart as selectors of 2 bits, for nsv and
 * the planner.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_NSV_H
#define TESSERA_STORAGE_CODEC_INTEGER_NSV_H

#include "storage/codec/integer/bitpack.h"

/* The 2-bit selector of an unsigned number, which says its length: 1, 2, 3 or 4 bytes; of a wide one, of 64 bits, 1, 2, 4
 * or 8. */
FORCED_INLINE uint32_t nsv_selector(uint64_t value, const bool wide)
{
    return (uint32_t)(value >= 1u << 8) + (value >= 1u << 16) +
           (value >= (wide ? UINT64_C(1) << 32 : UINT64_C(1) << 24)); /* without branches */
}

FORCED_INLINE uint32_t nsv_length(uint32_t selector, const bool wide)
{
    return wide ? 1u << selector : 1 + selector;
}

/* The length of item i; bits 2i and 2i + 1 of `selectors` are its selector. */
FORCED_INLINE uint32_t nsv_stored_length(const uint8_t *selectors, uint32_t item, const bool wide)
{
    return nsv_length(selectors[item / 4] >> item % 4 * 2 & 3, wide);
}

/* The number of `length` bytes at `bytes`. It also reads the bytes after it, up to 4 (wide: 8) in all. */
FORCED_INLINE uint64_t nsv_low_bytes(const uint8_t *bytes, uint32_t length, const bool wide)
{
    return wide ? load_u64(bytes) & UINT64_MAX >> (64 - 8 * length)
                : load_u32(bytes) & UINT32_MAX >> (32 - 8 * length);
}

/* Appends a number at `bytes` and its selector, to selectors that were 0; returns the end. Up to 3 (wide: 7) bytes after
 * it are overwritten. */
FORCED_INLINE uint8_t *nsv_append(uint64_t value, uint32_t item, uint8_t *bytes, uint8_t *selectors,
                                  const bool wide)
{
    const uint32_t selector = nsv_selector(value, wide), narrow = (uint32_t)value;
    if (wide)
        memcpy(bytes, &value, sizeof value);
    else
        memcpy(bytes, &narrow, sizeof narrow);
    selectors[item / 4] |= (uint8_t)(selector << item % 4 * 2);
    return bytes + nsv_length(selector, wide);
}

#endif
