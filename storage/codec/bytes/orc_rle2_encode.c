/*
 * orc_rle2_encode.c: the encoder of version 2 of ORC's run-length encoding, which writes what ORC's own writers write.
 *
 * A group begins with the first item that is in none yet:
 *
 *     3 .. 10 equal items                 short repeat
 *     11 .. 512 equal items               delta, without deltas
 *     else up to three equal items, the 512th one or the end of all:
 *         up to three items               direct
 *         all differences are equal       delta, without deltas
 *         items go up, or go down, and
 *         the first two are not equal     delta
 *         a tenth of the items or less
 *         need more bits than the rest    patched base
 *         else                            direct
 *
 * Patched base is chosen if the codes of all items have a width of at least two bits more than those of the 90 % that have
 * the least, and the differences to the least item a greater width than those of 95 % of them. Direct and delta groups
 * have widths of 1, 2, 4 or whole bytes, which readers unpack faster (the writers' strategy "speed").
 */
#include "storage/codec/bytes/orc_rle2.h"

/* A base of more bits would lose its sign bit. */
#define BASE_LIMIT (UINT64_C(1) << 56)

/* ---- Packed numbers ---- */

FORCED_INLINE void store_big(uint8_t *out, uint64_t word)
{
    word = __builtin_bswap64(word);
    memcpy(out, &word, sizeof word);
}

static uint8_t *write_bytes(uint8_t *out, uint64_t number, uint32_t bytes)
{
    while (bytes--)
        *out++ = (uint8_t)(number >> 8 * bytes);
    return out;
}

/* Numbers are below 2^width. */
static uint8_t *pack(uint8_t *out, const uint64_t *numbers, uint32_t count, uint32_t width)
{
    uint64_t word = 0;
    uint32_t room = 64;
    for (uint32_t i = 0; i < count; i++) {
        if (width < room) {
            room -= width;
            word |= numbers[i] << room;
            continue;
        }
        const uint32_t rest = width - room;
        store_big(out, word | numbers[i] >> rest);
        out += 8;
        room = 64 - rest;
        word = rest ? numbers[i] << room : 0;
    }
    return write_bytes(out, word >> (room & ~7u) % 64, (64 - room + 7) / 8);
}

static uint32_t width_aligned(uint32_t width)
{
    return width <= 2 ? width : width <= 4 ? 4 : (width + 7) / 8 * 8;
}

/* ---- Groups that are not short repeats ---- */

/* The items of a group, extended to 64 bits, and the facts by which its encoding is chosen. */
struct group {
    uint64_t items[ORC_GROUP_MOST];
    uint32_t count;
    bool is_signed; /* items are zigzag-coded */

    int64_t least, most;
    uint64_t steps; /* the bits of all differences, without their signs, from item 1 on */
    bool goes_up, goes_down, one_step;
};

static uint8_t *write_head(uint8_t *out, enum orc_encoding encoding, uint32_t width_code, uint32_t items)
{
    *out++ = (uint8_t)((uint32_t)encoding << 6 | width_code << 1 | (items - 1) >> 8);
    *out++ = (uint8_t)(items - 1);
    return out;
}

/* `first` is a code. */
static uint8_t *write_arithmetic(uint8_t *out, uint64_t first, uint64_t step, uint32_t items)
{
    out = write_head(out, ORC_DELTA, 0, items);
    return varint_write(varint_write(out, first), zigzag(step));
}

static uint8_t *write_short_repeat(uint8_t *out, uint64_t code, uint32_t items)
{
    const uint32_t bytes = (width_of(code | 1) + 7) / 8;
    *out++ = (uint8_t)((bytes - 1) << 3 | (items - ORC_REPEAT_LEAST));
    return write_bytes(out, code, bytes);
}

static uint64_t group_codes(const struct group *group, uint64_t *codes)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < group->count; i++)
        bits |= codes[i] = orc_code(group->items[i], group->is_signed);
    return bits;
}

static uint8_t *write_direct(uint8_t *out, const uint64_t *codes, uint32_t items, uint64_t bits)
{
    const uint32_t width = width_aligned(orc_width_at_least(width_of(bits)));
    out = write_head(out, ORC_DIRECT, orc_width_code(width), items);
    return pack(out, codes, items, width);
}

static void group_facts(struct group *group)
{
    const uint64_t *const items = group->items;
    const uint64_t first_step = items[1] - items[0];
    group->least = group->most = (int64_t)items[0];
    group->steps = 0;
    group->goes_up = group->goes_down = group->one_step = true;
    for (uint32_t i = 1; i < group->count; i++) {
        const int64_t before = (int64_t)items[i - 1], item = (int64_t)items[i];
        const uint64_t step = items[i] - items[i - 1], sign = 0 - (step >> 63);
        group->least = item < group->least ? item : group->least;
        group->most = item > group->most ? item : group->most;
        group->goes_up &= before <= item;
        group->goes_down &= before >= item;
        group->one_step &= step == first_step;
        if (i > 1)
            group->steps |= (step ^ sign) - sign;
    }
}

static uint8_t *write_delta(uint8_t *out, const struct group *group)
{
    const uint64_t step = group->items[1] - group->items[0];
    uint32_t width = width_aligned(orc_width_at_least(width_of(group->steps)));
    if (width == 1)
        width = 2; /* the code of width 1 says that there are no deltas */
    uint64_t deltas[ORC_GROUP_MOST];
    for (uint32_t i = 2; i < group->count; i++) {
        const uint64_t delta = group->items[i] - group->items[i - 1];
        deltas[i - 2] = group->goes_up ? delta : 0 - delta;
    }
    out = write_head(out, ORC_DELTA, orc_width_code(width), group->count);
    out = varint_write(out, orc_code(group->items[0], group->is_signed));
    out = varint_write(out, zigzag(step));
    return pack(out, deltas, group->count - 2, width);
}

/* ---- Patched base ---- */

/* Counts the numbers of each width. */
static void count_widths(const uint64_t *numbers, uint32_t count, uint32_t counts[ORC_WIDTHS])
{
    memset(counts, 0, ORC_WIDTHS * sizeof *counts);
    for (uint32_t i = 0; i < count; i++)
        counts[orc_width_code(width_of(numbers[i]))]++;
}

/* The writers compute 1 - 0.9 and 1 - 0.95 like this, in double: so a tenth of ten items is none. */
static uint32_t share_of(uint32_t count, double share)
{
    return (uint32_t)(count * share);
}

/* The least width that holds all numbers but `most` of them. */
static uint32_t width_without(const uint32_t counts[ORC_WIDTHS], uint32_t most)
{
    uint32_t code = ORC_WIDTHS - 1, wider = counts[code];
    while (wider <= most)
        wider += counts[--code];
    return orc_width(code);
}

/* The widths of a group's differences to its least item. */
struct patching {
    uint32_t width, patch_width, gap_width;
    uint32_t entries;
    uint64_t list[ORC_PATCHES_MOST];
};

/* Moves the bits above `width` of the differences to patches. */
static void take_patches(uint64_t *differences, uint32_t count, struct patching *patching)
{
    uint32_t gaps[ORC_PATCHES_MOST], places[ORC_PATCHES_MOST], taken = 0, last = 0, widest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (differences[i] >> patching->width == 0)
            continue;
        gaps[taken] = i - last;
        widest = gaps[taken] > widest ? gaps[taken] : widest;
        places[taken++] = last = i;
    }
    const uint32_t gap_width = widest ? width_of(widest) : 1;
    patching->gap_width = gap_width > 8 ? 8 : gap_width;
    patching->entries = 0;
    for (uint32_t p = 0; p < taken; p++) {
        uint32_t gap = gaps[p];
        for (; gap > ORC_PATCH_GAP_MOST; gap -= ORC_PATCH_GAP_MOST)
            patching->list[patching->entries++] = (uint64_t)ORC_PATCH_GAP_MOST << patching->patch_width;
        uint64_t *const difference = &differences[places[p]];
        patching->list[patching->entries++] =
            (uint64_t)gap << patching->patch_width | *difference >> patching->width;
        *difference &= width_mask(patching->width);
    }
}

static uint8_t *write_base(uint8_t *out, int64_t base, uint32_t bytes)
{
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    return write_bytes(out, base < 0 ? sign | (0 - (uint64_t)base) : (uint64_t)base, bytes);
}

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

/* Writes a patched base if it is worth it, else returns NULL. */
static uint8_t *write_patched_base(uint8_t *out, const struct group *group)
{
    uint64_t differences[ORC_GROUP_MOST];
    uint32_t counts[ORC_WIDTHS];
    for (uint32_t i = 0; i < group->count; i++)
        differences[i] = group->items[i] - (uint64_t)group->least;
    count_widths(differences, group->count, counts);
    const uint32_t widest = width_without(counts, 0);
    struct patching patching = {.width = width_without(counts, share_of(group->count, 1 - 0.95))};
    if (widest == patching.width || magnitude(group->least) >= BASE_LIMIT)
        return NULL;
    patching.patch_width = orc_width_at_least(widest - patching.width);
    if (patching.patch_width == 64) { /* a gap must fit into 64 bits, too */
        patching.patch_width = 56;
        patching.width = 8;
    }
    take_patches(differences, group->count, &patching);
    const uint32_t base_bits = orc_width_at_least(width_of(magnitude(group->least))) + 1;
    const uint32_t base_bytes = (base_bits + 7) / 8;
    out = write_head(out, ORC_PATCHED_BASE, orc_width_code(patching.width), group->count);
    *out++ = (uint8_t)((base_bytes - 1) << 5 | orc_width_code(patching.patch_width));
    *out++ = (uint8_t)((patching.gap_width - 1) << 5 | patching.entries);
    out = write_base(out, group->least, base_bytes);
    out = pack(out, differences, group->count, patching.width);
    return pack(out, patching.list, patching.entries,
                orc_width_at_least(patching.gap_width + patching.patch_width));
}

/* Whether 90 % of the codes have a width of at least two bits less than all, whose bits are `bits`. */
static bool has_outliers(const uint64_t *codes, uint32_t count, uint64_t bits)
{
    const uint32_t widest = orc_width_at_least(width_of(bits));
    uint32_t code = orc_width_code(widest), wider = 0;
    while (orc_width(code) + 1 >= widest)
        if (code-- == 0)
            return false;
    for (uint32_t i = 0; i < count; i++)
        wider += codes[i] >> orc_width(code) != 0;
    return wider <= share_of(count, 1 - 0.9);
}

/* Writes a group that does not begin with three equal items. */
static uint8_t *write_group(uint8_t *out, struct group *group)
{
    uint64_t codes[ORC_GROUP_MOST], range = 0;
    const bool is_short = group->count <= ORC_REPEAT_LEAST;
    if (!is_short) {
        group_facts(group);
        range = (uint64_t)group->most - (uint64_t)group->least;
    }
    const bool overflows = range > INT64_MAX; /* so would differences */
    if (!is_short && !overflows) {
        const uint64_t step = group->items[1] - group->items[0];
        if (group->one_step)
            return write_arithmetic(out, orc_code(group->items[0], group->is_signed), step, group->count);
        if (step != 0 && (group->goes_up || group->goes_down))
            return write_delta(out, group);
    }
    const uint64_t bits = group_codes(group, codes);
    if (!is_short && !overflows && has_outliers(codes, group->count, bits)) {
        uint8_t *const end = write_patched_base(out, group);
        if (end)
            return end;
    }
    return write_direct(out, codes, group->count, bits);
}

/* ---- Streams ---- */

/* The end of the items from `begin` on that are equal to it; at most 512. */
FORCED_INLINE uint32_t repeat_end(const void *items, uint32_t begin, uint32_t count, const uint32_t bytes,
                                  const bool is_signed)
{
    const uint32_t end = count - begin < ORC_GROUP_MOST ? count : begin + ORC_GROUP_MOST;
    const uint64_t first = orc_item_load(items, begin, bytes, is_signed);
    uint32_t i = begin + 1;
    while (i < end && orc_item_load(items, i, bytes, is_signed) == first)
        i++;
    return i;
}

/* Loads the items from `begin` on, up to three equal ones; at most 512. */
FORCED_INLINE void group_load(struct group *group, const void *items, uint32_t begin, uint32_t count,
                              const uint32_t bytes, const bool is_signed)
{
    const uint32_t most = count - begin < ORC_GROUP_MOST ? count - begin : ORC_GROUP_MOST;
    uint32_t equal = 0;
    for (group->count = 0; group->count < most; group->count++) {
        const uint64_t item = orc_item_load(items, begin + group->count, bytes, is_signed);
        equal = group->count && item == group->items[group->count - 1] ? equal + 1 : 1;
        if (equal == ORC_REPEAT_LEAST) {
            group->count -= ORC_REPEAT_LEAST - 1;
            return;
        }
        group->items[group->count] = item;
    }
}

FORCED_INLINE size_t encode(const void *items, uint32_t count, uint8_t *out, const uint32_t bytes,
                            const bool is_signed)
{
    struct group group;
    group.is_signed = is_signed;
    uint8_t *at = out;
    for (uint32_t i = 0; i < count;) {
        const uint32_t end = repeat_end(items, i, count, bytes, is_signed);
        if (end - i >= ORC_REPEAT_LEAST) {
            const uint64_t code = orc_code(orc_item_load(items, i, bytes, is_signed), is_signed);
            at = end - i <= ORC_SHORT_REPEAT_MOST ? write_short_repeat(at, code, end - i)
                                                  : write_arithmetic(at, code, 0, end - i);
            i = end;
        } else {
            group_load(&group, items, i, count, bytes, is_signed);
            at = write_group(at, &group);
            i += group.count;
        }
    }
    return (size_t)(at - out);
}

size_t orc_rle2_encode(const void *items, uint32_t count, struct orc_item item, uint8_t *out)
{
    return ORC_WITH_ITEM(item, encode, items, count, out);
}
