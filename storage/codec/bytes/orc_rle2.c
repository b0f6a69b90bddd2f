/*
 * orc_rle2.c: version 2 of ORC's integer run-length encoding (file version 0.12): the format, and its decoder.
 *
 * A stream is groups of 1 .. 512 items, one after the other. Fields are written from the high bit of the first byte on,
 * numbers of several bytes with the high byte first. A group is one of
 *
 *     short repeat    0:2 | bytes-1:3 | items-3:3 |                          code: 8*bytes
 *     direct          1:2 | width:5 | items-1:9 |                            code[items]: width each
 *     patched base    2:2 | width:5 | items-1:9 |
 *                     base bytes-1:3 | patch width:5 | gap width-1:3 | patches:5 |
 *                     base: 8*base bytes | difference[items]: width each | patch[patches]
 *     delta           3:2 | width:5 | items-1:9 |                            first | step | delta[items-2]: width each
 *
 *     width          5 bits that say 1..24, 26, 28, 30, 32, 40, 48, 56 or 64 bits; of a delta group 0 says no deltas
 *     code           an item, zigzag-coded if items are signed
 *     base           a sign bit and a magnitude; an item is base + difference. Never zigzag-coded
 *     patch          the gap to the patched item before it (of the first one: to item 0), and the bits that are put above
 *                    the item's difference. Its width is the least one that holds gap width + patch width; the gap is above
 *                    the patch. A gap beyond 255 is split by entries of gap 255 and patch 0
 *     first, step    numbers in base 128 (orc_rle_parts.h). `first` is item 0, zigzag-coded if items are signed. `step` is
 *                    always zigzag-coded: item 1 is first + step
 *     delta          of each further item to the one before it; with step's sign. Without deltas, each is `step`
 *
 * A list of packed numbers begins at a byte, and its last byte is filled up with zeros.
 *
 * So five times 10000 is 0a 27 10; 23713 43806 57005 48879 is 5e 03 5c a1 ab 1e de ad be ef; and 2 3 5 7 11 13 17 19 23 29
 * is c6 09 02 02 22 42 42 46 (all unsigned). docs/codecs.md goes through one of each.
 */
#include "storage/codec/bytes/orc_rle2.h"

#define SPARE_READ (64u + 7u) /* seven numbers, and the rest of a load that begins at the last one */

size_t orc_rle2_bound(uint32_t count, struct orc_item item)
{
    /* Headers and first items of a group take at most 8 bytes beyond the items, and a group of more than three items
     * that is not a repeat is followed by a repeat, by the end, or has 512 items. A repeat takes less than its items. */
    return (size_t)count * (item.bytes + 2) + 32;
}

/* ---- Packed numbers ---- */

FORCED_INLINE uint64_t load_big(const uint8_t *in)
{
    return __builtin_bswap64(load_u64(in));
}

/* Number i of those that begin at `in`. */
FORCED_INLINE uint64_t unpack_one(const uint8_t *in, uint32_t i, const uint32_t width)
{
    const uint32_t bit = i * width;
    return load_big(in + bit / 8) << bit % 8 >> (64 - width);
}

FORCED_INLINE void unpack_width(const uint8_t *in, uint32_t count, uint64_t *numbers, const uint32_t width)
{
    for (uint32_t i = 0; i < count; i += 8, in += width) {
#pragma GCC unroll 8
        for (uint32_t k = 0; k < 8; k++)
            numbers[i + k] = unpack_one(in, k, width);
    }
}

#define UNPACK_CASE(width)                       \
    case width:                                  \
        unpack_width(in, count, numbers, width); \
        break;

/* `count` numbers of `width` bits, rounded up to a multiple of 8, which saves a loop whose end would be mispredicted: up
 * to SPARE_READ bytes after them are read. */
static void unpack_all(const uint8_t *in, uint32_t count, uint32_t width, uint64_t *numbers)
{
    switch (width) {
        UNPACK_CASE(1)
        UNPACK_CASE(2)
        UNPACK_CASE(3)
        UNPACK_CASE(4)
        UNPACK_CASE(5)
        UNPACK_CASE(6)
        UNPACK_CASE(7)
        UNPACK_CASE(8)
        UNPACK_CASE(9)
        UNPACK_CASE(10)
        UNPACK_CASE(11)
        UNPACK_CASE(12)
        UNPACK_CASE(13)
        UNPACK_CASE(14)
        UNPACK_CASE(15)
        UNPACK_CASE(16)
        UNPACK_CASE(17)
        UNPACK_CASE(18)
        UNPACK_CASE(19)
        UNPACK_CASE(20)
        UNPACK_CASE(21)
        UNPACK_CASE(22)
        UNPACK_CASE(23)
        UNPACK_CASE(24)
        UNPACK_CASE(26)
        UNPACK_CASE(28)
        UNPACK_CASE(30)
        UNPACK_CASE(32)
        UNPACK_CASE(40)
        UNPACK_CASE(48)
        UNPACK_CASE(56)
        UNPACK_CASE(64)
    }
}

/* Reads `count` <= 512 numbers, and writes garbage after them up to a multiple of 8; returns their end, or NULL if it is
 * after `end`. */
static const uint8_t *unpack(const uint8_t *in, const uint8_t *end, uint32_t count, uint32_t width,
                             uint64_t *numbers)
{
    const size_t bytes = ((size_t)count * width + 7) / 8, left = (size_t)(end - in);
    if (bytes > left)
        return NULL;
    if (left - bytes >= SPARE_READ) {
        unpack_all(in, count, width, numbers);
    } else {
        uint8_t copy[ORC_GROUP_MOST * 8 + SPARE_READ];
        memcpy(copy, in, bytes);
        memset(copy + bytes, 0, SPARE_READ);
        unpack_all(copy, count, width, numbers);
    }
    return in + bytes;
}

/* A number of 1 .. 8 bytes, the high one first; `in` has them. */
static uint64_t read_bytes(const uint8_t *in, uint32_t bytes)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < bytes; i++)
        number = number << 8 | in[i];
    return number;
}

/* ---- Groups ---- */

/* The first two bytes of all groups but short repeats. */
struct group_head {
    uint32_t width_code;
    uint32_t items;
};

FORCED_INLINE struct group_head group_head(const uint8_t *in)
{
    return (struct group_head){.width_code = in[0] >> 1 & 31, .items = ((in[0] & 1u) << 8 | in[1]) + 1};
}

/* All `read_` functions begin at the group's first byte, write `group.items` items and return the group's end, or NULL. */

FORCED_INLINE const uint8_t *read_short_repeat(const uint8_t *in, const uint8_t *end, void *items,
                                               uint32_t count, uint32_t room, const uint32_t bytes,
                                               const bool is_signed)
{
    const uint32_t code_bytes = (*in >> 3 & 7) + 1u;
    if ((size_t)(end - in) < 1 + code_bytes)
        return NULL;
    const uint64_t value = orc_value(read_bytes(in + 1, code_bytes), is_signed);
    orc_run_store(items, count, room, value, 0, bytes);
    return in + 1 + code_bytes;
}

FORCED_INLINE const uint8_t *read_direct(const uint8_t *in, const uint8_t *end, void *items,
                                         struct group_head group, uint32_t room, const uint32_t bytes,
                                         const bool is_signed)
{
    uint64_t codes[ORC_GROUP_MOST];
    in = unpack(in + 2, end, group.items, orc_width(group.width_code), codes);
    const uint32_t rounded = (group.items + 7) / 8 * 8, count = rounded <= room ? rounded : group.items;
    if (in)
        for (uint32_t i = 0; i < count; i++)
            orc_item_store(items, i, orc_value(codes[i], is_signed), bytes);
    return in;
}

/* Puts the patches above the differences; false if one is outside of the group. */
static bool apply_patches(const uint64_t *patches, uint32_t count, uint32_t patch_width,
                          uint64_t *differences, uint32_t items, uint32_t width)
{
    uint64_t item = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t gap = patches[i] >> patch_width;
        item += gap;
        if (item >= items || (gap == 0 && i > 0))
            return false;
        if (width < 64)
            differences[item] |= (patches[i] & width_mask(patch_width)) << width;
    }
    return true;
}

/* Reads the group's differences, with their patches, and its base. */
static const uint8_t *read_patched(const uint8_t *in, const uint8_t *end, struct group_head group,
                                   uint64_t *differences, uint64_t *base)
{
    if (end - in < 4)
        return NULL;
    const uint32_t width = orc_width(group.width_code), patch_width = orc_width(in[2] & 31);
    const uint32_t base_bytes = (in[2] >> 5) + 1u, gap_width = (in[3] >> 5) + 1u, patches = in[3] & 31;
    in += 4;
    if (patches == 0 || gap_width + patch_width > 64 || (size_t)(end - in) < base_bytes)
        return NULL;
    const uint64_t sign = UINT64_C(1) << (8 * base_bytes - 1), stored = read_bytes(in, base_bytes);
    *base = stored & sign ? 0 - (stored ^ sign) : stored;
    uint64_t list[ORC_PATCHES_MOST + 1]; /* a multiple of 8 */
    in = unpack(in + base_bytes, end, group.items, width, differences);
    if (in)
        in = unpack(in, end, patches, orc_width_at_least(gap_width + patch_width), list);
    return in && apply_patches(list, patches, patch_width, differences, group.items, width) ? in : NULL;
}

FORCED_INLINE const uint8_t *read_patched_base(const uint8_t *in, const uint8_t *end, void *items,
                                               struct group_head group, const uint32_t bytes)
{
    uint64_t differences[ORC_GROUP_MOST], base;
    in = read_patched(in, end, group, differences, &base);
    if (in)
        for (uint32_t i = 0; i < group.items; i++)
            orc_item_store(items, i, base + differences[i], bytes);
    return in;
}

FORCED_INLINE const uint8_t *read_delta(const uint8_t *in, const uint8_t *end, void *items,
                                        struct group_head group, const uint32_t bytes, const bool is_signed)
{
    uint64_t value, step, deltas[ORC_GROUP_MOST];
    in = varint_read(in + 2, end, &value);
    if (in)
        in = varint_read(in, end, &step);
    if (!in)
        return NULL;
    value = orc_value(value, is_signed);
    step = unzigzag(step);
    if (group.width_code == 0) {
        for (uint32_t i = 0; i < group.items; i++)
            orc_item_store(items, i, value + i * step, bytes);
        return in;
    }
    if (group.items < 2)
        return NULL;
    in = unpack(in, end, group.items - 2, orc_width(group.width_code), deltas);
    if (!in)
        return NULL;
    orc_item_store(items, 0, value, bytes);
    orc_item_store(items, 1, value += step, bytes);
    const uint64_t sign = 0 - (step >> 63);
    for (uint32_t i = 2; i < group.items; i++)
        orc_item_store(items, i, value += (deltas[i - 2] ^ sign) - sign, bytes);
    return in;
}

/* Reads the group at `in`, of at most `most` items, and says their number; returns its end, or NULL. */
FORCED_INLINE const uint8_t *read_group(const uint8_t *in, const uint8_t *end, void *items, uint32_t most,
                                        uint32_t *count, const uint32_t bytes, const bool is_signed)
{
    if (*in >> 6 == ORC_SHORT_REPEAT) {
        *count = (*in & 7) + ORC_REPEAT_LEAST;
        return *count <= most ? read_short_repeat(in, end, items, *count, most, bytes, is_signed) : NULL;
    }
    if (end - in < 2)
        return NULL;
    const struct group_head group = group_head(in);
    *count = group.items;
    if (group.items > most)
        return NULL;
    switch (*in >> 6) {
    case ORC_DIRECT:
        return read_direct(in, end, items, group, most, bytes, is_signed);
    case ORC_PATCHED_BASE:
        return read_patched_base(in, end, items, group, bytes);
    default:
        return read_delta(in, end, items, group, bytes, is_signed);
    }
}

FORCED_INLINE bool decode(const uint8_t *in, size_t in_bytes, void *items, uint32_t count, size_t *used,
                          const uint32_t bytes, const bool is_signed)
{
    const uint8_t *at = in, *const end = in + in_bytes;
    for (uint32_t i = 0, group_items; i < count; i += group_items) {
        if (at == end)
            return false;
        at = read_group(at, end, (uint8_t *)items + (size_t)i * bytes, count - i, &group_items, bytes,
                        is_signed);
        if (!at)
            return false;
    }
    if (used)
        *used = (size_t)(at - in);
    return used || at == end;
}

bool orc_rle2_decode(const uint8_t *in, size_t bytes, struct orc_item item, void *items, uint32_t count,
                     size_t *used)
{
    return ORC_WITH_ITEM(item, decode, in, bytes, items, count, used);
}
