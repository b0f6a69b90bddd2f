/*
 * orc_rle1.c: version 1 of ORC's integer run-length encoding (file version 0.11).
 *
 * A stream is groups, one after the other. A group begins with its header, a signed byte h:
 *
 *     h >= 0    h | delta | base        a run of h + 3 items: base, base + delta, base + 2 delta ...
 *     h < 0     h | literal[-h]         -h items, one by one
 *
 *     delta            a signed byte
 *     base, literal    a number in base 128, of 1 .. 10 bytes (orc_rle_parts.h); zigzag-coded if items are signed
 *
 * So a hundred 7s are 61 00 07; 100 99 98 .. 1 is 61 ff 64; and 2 3 6 7 11 is fb 02 03 06 07 0b (all unsigned).
 *
 * The writer begins a run as soon as the last three items of its group have one difference of -128 .. 127. The items before
 * them become literals. Runs have at most 130 items, literals 128.
 */
#include "storage/codec/bytes/orc_rle_parts.h"

#define RUN_MOST     130u
#define LITERAL_MOST 128u

size_t orc_rle1_bound(uint32_t count, struct orc_item item)
{
    /* All literals take most: a run saves at least a literal, which pays for its header and delta, and for the header of
     * the literals before it. */
    static const uint8_t literal_bytes[] = {[1] = 2, [2] = 3, [4] = 5, [8] = ORC_VARINT_BYTES};
    return (size_t)count * literal_bytes[item.bytes] + (count + LITERAL_MOST - 1) / LITERAL_MOST;
}

/* ---- Encoder ---- */

static bool is_delta(uint64_t difference)
{
    return difference + 128 < 256;
}

/* The first item of the first run of the group that begins at `begin`, or the group's end if its items are literals. */
FORCED_INLINE uint32_t find_run(const void *items, uint32_t begin, uint32_t count, bool *found,
                                const uint32_t bytes, const bool is_signed)
{
    const uint32_t end = count - begin < LITERAL_MOST ? count : begin + LITERAL_MOST;
    *found = false;
    if (end - begin < ORC_REPEAT_LEAST)
        return end;
    uint64_t last = orc_item_load(items, begin + 1, bytes, is_signed);
    uint64_t delta = last - orc_item_load(items, begin, bytes, is_signed);
    for (uint32_t i = begin + 2; i < end; i++) {
        const uint64_t value = orc_item_load(items, i, bytes, is_signed), difference = value - last;
        if (difference == delta && is_delta(delta)) {
            *found = true;
            return i - 2;
        }
        delta = difference;
        last = value;
    }
    return end;
}

/* The end of the run that begins at `begin`. */
FORCED_INLINE uint32_t run_end(const void *items, uint32_t begin, uint32_t count, uint64_t delta,
                               const uint32_t bytes, const bool is_signed)
{
    const uint32_t end = count - begin < RUN_MOST ? count : begin + RUN_MOST;
    uint32_t i = begin + ORC_REPEAT_LEAST;
    uint64_t expected = orc_item_load(items, i - 1, bytes, is_signed) + delta;
    while (i < end && orc_item_load(items, i, bytes, is_signed) == expected) {
        expected += delta;
        i++;
    }
    return i;
}

FORCED_INLINE size_t encode(const void *items, uint32_t count, uint8_t *out, const uint32_t bytes,
                            const bool is_signed)
{
    uint8_t *at = out;
    for (uint32_t i = 0; i < count;) {
        bool found;
        const uint32_t begin = find_run(items, i, count, &found, bytes, is_signed);
        if (i < begin)
            *at++ = (uint8_t)(0 - (begin - i));
        for (; i < begin; i++)
            at = varint_write(at, orc_code(orc_item_load(items, i, bytes, is_signed), is_signed));
        if (!found)
            continue;
        const uint64_t base = orc_item_load(items, begin, bytes, is_signed);
        const uint64_t delta = orc_item_load(items, begin + 1, bytes, is_signed) - base;
        i = run_end(items, begin, count, delta, bytes, is_signed);
        *at++ = (uint8_t)(i - begin - ORC_REPEAT_LEAST);
        *at++ = (uint8_t)delta;
        at = varint_write(at, orc_code(base, is_signed));
    }
    return (size_t)(at - out);
}

size_t orc_rle1_encode(const void *items, uint32_t count, struct orc_item item, uint8_t *out)
{
    return ORC_WITH_ITEM(item, encode, items, count, out);
}

/* ---- Decoder ---- */

/* Bits 7 of the last bytes of four numbers of two bytes. */
#define LAST_OF_2 UINT64_C(0x8000800080008000)

/* Finds the first two numbers of `word`, and moves them to four bytes each, if both end in it and have no more; `last` has
 * bit 7 of each number's last byte. It has no branches that depend on the size of either number, which in most columns cannot
 * be predicted. */
FORCED_INLINE bool find_pair(uint64_t word, uint64_t last, uint64_t *pair, uint32_t *pair_bytes)
{
    const uint64_t others = last & (last - 1);
    if (!others)
        return false;
    const uint64_t first = word & (last ^ (last - 1));
    const uint64_t second = (word & (others ^ (others - 1))) >> __builtin_ctzll(last) >> 1;
    *pair = first | second << 32;
    *pair_bytes = (uint32_t)(__builtin_ctzll(others) + 1) / 8;
    return (first | second) >> 32 == 0;
}

/* Stores the numbers of each byte, each two or each four bytes of `word`. */
FORCED_INLINE void store_numbers(uint64_t word, const unsigned number_bytes, void *items, uint32_t i,
                                 const uint32_t bytes, const bool is_signed)
{
    word = number_bytes == 4 ? varint_digits_of_4(word) : number_bytes == 2 ? varint_digits_of_2(word) : word;
    for (unsigned k = 0; k < 8 / number_bytes; k++) {
        const uint64_t code = word >> 8 * number_bytes * k & width_mask(8 * number_bytes);
        orc_item_store(items, i + k, orc_value(code, is_signed), bytes);
    }
}

/* Reads `count` literals, where there is room for `room`; returns their end, or NULL. */
FORCED_INLINE const uint8_t *read_literals(const uint8_t *in, const uint8_t *end, void *items, uint32_t count,
                                           uint32_t room, const uint32_t bytes, const bool is_signed)
{
    for (uint32_t i = 0, read, pair_bytes; i < count; i += read) {
        const uint64_t word = end - in < 8 ? VARINT_MORE : load_u64(in), last = ~word & VARINT_MORE;
        const uint32_t most = count - i < 8 ? count - i : 8;
        uint64_t number;
        if ((word & VARINT_MORE & UINT64_MAX >> (64 - 8 * most)) == 0 && room - i >= 8) {
            store_numbers(word, 1, items, i, bytes, is_signed); /* garbage after `most` numbers */
            in += read = most;
        } else if (last == LAST_OF_2 && most >= 4) {
            store_numbers(word, 2, items, i, bytes, is_signed);
            in += 8;
            read = 4;
        } else if (most >= 2 && find_pair(word, last, &number, &pair_bytes)) {
            store_numbers(number, 4, items, i, bytes, is_signed);
            in += pair_bytes;
            read = 2;
        } else {
            in = varint_read(in, end, &number);
            if (!in)
                return NULL;
            orc_item_store(items, i, orc_value(number, is_signed), bytes);
            read = 1;
        }
    }
    return in;
}

/* Reads a run of `count` items after its header, where there is room for `room` items; returns its end, or NULL. */
FORCED_INLINE const uint8_t *read_run(const uint8_t *in, const uint8_t *end, void *items, uint32_t count,
                                      uint32_t room, const uint32_t bytes, const bool is_signed)
{
    if (in == end)
        return NULL;
    const uint64_t delta = (uint64_t)(int8_t)*in++;
    uint64_t base;
    in = varint_read(in, end, &base);
    if (!in)
        return NULL;
    base = orc_value(base, is_signed);
    orc_run_store(items, count, room, base, delta, bytes);
    return in;
}

FORCED_INLINE bool decode(const uint8_t *in, size_t in_bytes, void *items, uint32_t count, size_t *used,
                          const uint32_t bytes, const bool is_signed)
{
    const uint8_t *at = in, *const end = in + in_bytes;
    for (uint32_t i = 0; i < count;) {
        if (at == end)
            return false;
        const uint32_t header = *at++;
        const bool is_run = header < 128;
        const uint32_t length = is_run ? header + ORC_REPEAT_LEAST : 256 - header;
        if (length > count - i)
            return false;
        void *const group = (uint8_t *)items + (size_t)i * bytes;
        at = is_run ? read_run(at, end, group, length, count - i, bytes, is_signed)
                    : read_literals(at, end, group, length, count - i, bytes, is_signed);
        if (!at)
            return false;
        i += length;
    }
    if (used)
        *used = (size_t)(at - in);
    return used || at == end;
}

bool orc_rle1_decode(const uint8_t *in, size_t bytes, struct orc_item item, void *items, uint32_t count,
                     size_t *used)
{
    return ORC_WITH_ITEM(item, decode, in, bytes, items, count, used);
}
