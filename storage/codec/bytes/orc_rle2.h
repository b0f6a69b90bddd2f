/*
 * orc_rle2.h: what the encoder and the decoder of version 2 of ORC's run-length encoding share (orc_rle2.c draws it).
 */
#ifndef TESSERA_STORAGE_CODEC_BYTES_ORC_RLE2_H
#define TESSERA_STORAGE_CODEC_BYTES_ORC_RLE2_H

#include "storage/codec/bytes/orc_rle_parts.h"

#define ORC_GROUP_MOST        512u /* items of a group */
#define ORC_SHORT_REPEAT_MOST 10u
#define ORC_PATCHES_MOST      31u /* entries of the list of a patched base */
#define ORC_PATCH_GAP_MOST    255u

/* The upper two bits of a group's first byte. */
enum orc_encoding { ORC_SHORT_REPEAT, ORC_DIRECT, ORC_PATCHED_BASE, ORC_DELTA };

/* Packed widths are stored as 5 bits: 0 .. 23 are 1 .. 24 bits, 24 .. 31 are 26, 28, 30, 32, 40, 48, 56 and 64. */
#define ORC_WIDTHS 32u
FORCED_INLINE uint32_t orc_width(uint32_t code)
{
    return code < 24 ? code + 1 : code < 28 ? 2 * code - 22 : 8 * code - 184;
}

/* The code of the least width that holds numbers of `bits` bits, 0 .. 64. */
FORCED_INLINE uint32_t orc_width_code(uint32_t bits)
{
    return bits <= 1 ? 0 : bits <= 24 ? bits - 1 : bits <= 32 ? (bits + 23) / 2 : (bits + 191) / 8;
}

FORCED_INLINE uint32_t orc_width_at_least(uint32_t bits)
{
    return orc_width(orc_width_code(bits));
}

#endif
