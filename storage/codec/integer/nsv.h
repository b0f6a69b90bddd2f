/*
 * nsv.h: numbers of 1 to 4 bytes, whose lengths are stored apart in 2 bits each, for nsv and the planner.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_NSV_H
#define TESSERA_STORAGE_CODEC_INTEGER_NSV_H

#include "storage/codec/chunk.h"

/* The bytes that a number takes. */
static inline uint32_t nsv_length(uint32_t value)
{
    return 1u + (value >= 1u << 8) + (value >= 1u << 16) + (value >= 1u << 24); /* without branches */
}

/* Bits 2i and 2i + 1 of `lengths` are the length of item i, minus 1. */
static inline uint32_t nsv_stored_length(const uint8_t *lengths, uint32_t item)
{
    return 1 + (lengths[item / 4] >> item % 4 * 2 & 3);
}

static inline uint32_t nsv_low_bytes(const uint8_t *bytes, uint32_t length)
{
    return load_u32(bytes) & UINT32_MAX >> (32 - 8 * length);
}

/* Appends a number at `bytes` and its length, to lengths that were 0; returns the end. Up to 3 bytes after it are
 * overwritten. */
static inline uint8_t *nsv_append(uint32_t value, uint32_t item, uint8_t *bytes, uint8_t *lengths)
{
    const uint32_t length = nsv_length(value);
    memcpy(bytes, &value, sizeof value);
    lengths[item / 4] |= (uint8_t)((length - 1) << item % 4 * 2);
    return bytes + length;
}

#endif
