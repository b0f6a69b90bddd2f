/*
 * orc_rle_parts.h: what both versions of ORC's run-length encoding have: items, zigzag and numbers in base 128.
 *
 * Everything is forced inline, so that constant sizes of items fold away.
 */
#ifndef TESSERA_STORAGE_CODEC_BYTES_ORC_RLE_PARTS_H
#define TESSERA_STORAGE_CODEC_BYTES_ORC_RLE_PARTS_H

#include "storage/codec/bytes/orc_rle.h"
#include "storage/codec/integer/bitpack.h"

#define ORC_VARINT_BYTES 10  /* the most bytes of a number in base 128 */
#define ORC_REPEAT_LEAST 3u  /* items of a run, in both versions */
#define ORC_SHORT_RUN    16u /* orc_run_store */

/* Calls function(..., bytes, is_signed) with constants for the item. */
#define ORC_WITH_ITEM(item, function, ...)                                \
    ((item).is_signed ? ORC_WITH_BYTES(item, function, true, __VA_ARGS__) \
                      : ORC_WITH_BYTES(item, function, false, __VA_ARGS__))
#define ORC_WITH_BYTES(item, function, is_signed, ...)         \
    ((item).bytes == 1   ? function(__VA_ARGS__, 1, is_signed) \
     : (item).bytes == 2 ? function(__VA_ARGS__, 2, is_signed) \
     : (item).bytes == 4 ? function(__VA_ARGS__, 4, is_signed) \
                         : function(__VA_ARGS__, 8, is_signed))

/* Item i, extended to 64 bits. */
FORCED_INLINE uint64_t orc_item_load(const void *items, uint32_t i, const uint32_t bytes,
                                     const bool is_signed)
{
    switch (bytes) {
    case 1:
        return is_signed ? (uint64_t)((const int8_t *)items)[i] : ((const uint8_t *)items)[i];
    case 2:
        return is_signed ? (uint64_t)((const int16_t *)items)[i] : ((const uint16_t *)items)[i];
    case 4:
        return is_signed ? (uint64_t)((const int32_t *)items)[i] : ((const uint32_t *)items)[i];
    default:
        return ((const uint64_t *)items)[i];
    }
}

FORCED_INLINE void orc_item_store(void *items, uint32_t i, uint64_t value, const uint32_t bytes)
{
    switch (bytes) {
    case 1:
        ((uint8_t *)items)[i] = (uint8_t)value;
        break;
    case 2:
        ((uint16_t *)items)[i] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)items)[i] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)items)[i] = value;
    }
}

/* Stores first, first + step ... into `count` of the `room` items from `items` on. Most runs are short: where there is room
 * they are stored without a loop whose end would be mispredicted; what that stores after the run, later items overwrite. */
FORCED_INLINE void orc_run_store(void *items, uint32_t count, uint32_t room, uint64_t first, uint64_t step,
                                 const uint32_t bytes)
{
    if (count <= ORC_SHORT_RUN && room >= ORC_SHORT_RUN)
        for (uint32_t i = 0; i < ORC_SHORT_RUN; i++)
            orc_item_store(items, i, first + i * step, bytes);
    else
        for (uint32_t i = 0; i < count; i++)
            orc_item_store(items, i, first + i * step, bytes);
}

FORCED_INLINE uint64_t zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

FORCED_INLINE uint64_t unzigzag(uint64_t code)
{
    return code >> 1 ^ (0 - (code & 1));
}

/* A number as the stream has it, and back. */
FORCED_INLINE uint64_t orc_code(uint64_t value, const bool is_signed)
{
    return is_signed ? zigzag(value) : value;
}

FORCED_INLINE uint64_t orc_value(uint64_t code, const bool is_signed)
{
    return is_signed ? unzigzag(code) : code;
}

/* ---- Numbers in base 128, the low digit first; all bytes but the last one have bit 7 ---- */

#define VARINT_MORE UINT64_C(0x8080808080808080)

FORCED_INLINE uint8_t *varint_write(uint8_t *out, uint64_t code)
{
    for (; code >= 0x80; code >>= 7)
        *out++ = (uint8_t)(code | 0x80);
    *out++ = (uint8_t)code;
    return out;
}

/* The digits of each two bytes, each four, or all eight, moved together; bits 7 are dropped. */
FORCED_INLINE uint64_t varint_digits_of_2(uint64_t bytes)
{
    return (bytes & UINT64_C(0x007f007f007f007f)) | (bytes & UINT64_C(0x7f007f007f007f00)) >> 1;
}

FORCED_INLINE uint64_t varint_digits_of_4(uint64_t bytes)
{
    bytes = varint_digits_of_2(bytes);
    return (bytes & UINT64_C(0x00003fff00003fff)) | (bytes & UINT64_C(0x3fff00003fff0000)) >> 2;
}

FORCED_INLINE uint64_t varint_digits(uint64_t bytes)
{
    bytes = varint_digits_of_4(bytes);
    return (bytes & 0x0fffffff) | (bytes & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* The number at `in`, digit by digit; returns its end, or NULL if it does not end before `end` or has too many digits. */
static inline const uint8_t *varint_read_slowly(const uint8_t *in, const uint8_t *end, uint64_t *code)
{
    *code = 0;
    for (unsigned digit = 0; digit < ORC_VARINT_BYTES && in < end; digit++) {
        const uint8_t byte = *in++;
        *code |= (uint64_t)(byte & 0x7f) << 7 * digit;
        if (byte < 0x80)
            return in;
    }
    return NULL;
}

/* The same for a number of more than 8 bytes, the first of which are `bytes`. */
FORCED_INLINE const uint8_t *varint_read_long(const uint8_t *in, const uint8_t *end, uint64_t bytes,
                                              uint64_t *code)
{
    if (end - in < ORC_VARINT_BYTES || (in[8] & in[9]) >= 0x80)
        return varint_read_slowly(in, end, code);
    *code = varint_digits(bytes) | (uint64_t)in[8] << 56;
    if (in[8] < 0x80)
        return in + 9;
    *code = (*code & INT64_MAX) | (uint64_t)in[9] << 63;
    return in + 10;
}

/* As varint_read_slowly, with one load for the first 8 bytes. */
FORCED_INLINE const uint8_t *varint_read(const uint8_t *in, const uint8_t *end, uint64_t *code)
{
    if (end - in < 8)
        return varint_read_slowly(in, end, code);
    if (*in < 0x80) {
        *code = *in;
        return in + 1;
    }
    const uint64_t bytes = load_u64(in), last = ~bytes & VARINT_MORE;
    if (last == 0)
        return varint_read_long(in, end, bytes, code);
    *code = varint_digits(bytes & (last ^ (last - 1)));
    return in + __builtin_ctzll(last) / 8 + 1;
}

#endif
