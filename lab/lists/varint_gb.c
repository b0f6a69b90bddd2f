/*
 * varint_gb.c: VarintGB: bytes with their lengths in groups of four (Dean, 2009): serial.
 *
 *     group: 4 values
 *         byte        their lengths less 1, two bits each, the first one lowest
 *         values      1 to 4 bytes each, low byte first
 *
 * The last group has the bytes of its values alone.
 */
#include "lab/lists/list_codec.h"

#include <string.h>

static uint32_t length_of(uint32_t value)
{
    return value < 1u << 8 ? 1 : value < 1u << 16 ? 2 : value < 1u << 24 ? 3 : 4;
}

size_t list_varint_gb_encode(const uint32_t *values, uint32_t count, uint8_t *out)
{
    uint8_t *to = out, *lengths = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = length_of(values[i]);
        if (i % 4 == 0) {
            lengths = to;
            *to++ = 0;
        }
        *lengths |= (uint8_t)((length - 1) << 2 * (i % 4));
        memcpy(to, &values[i], length);
        to += length;
    }
    return (size_t)(to - out);
}

/* Decodes the value of the length at bits 2 * i of `lengths`; gives where the next one begins. */
static inline const uint8_t *decode_one(const uint8_t *in, uint32_t lengths, uint32_t i, uint32_t *out)
{
    static const uint32_t masks[4] = {0xff, 0xffff, 0xffffff, 0xffffffff};
    const uint32_t longer = lengths >> 2 * i & 3;
    uint32_t word;
    memcpy(&word, in, sizeof word);
    *out = word & masks[longer];
    return in + longer + 1;
}

void list_varint_gb_decode(const uint8_t *in, uint32_t count, uint32_t *out)
{
    uint32_t row = 0;
    for (; row + 4 <= count; row += 4) {
        const uint32_t lengths = *in++;
        in = decode_one(in, lengths, 0, out + row);
        in = decode_one(in, lengths, 1, out + row + 1);
        in = decode_one(in, lengths, 2, out + row + 2);
        in = decode_one(in, lengths, 3, out + row + 3);
    }
    const uint32_t lengths = row < count ? *in++ : 0;
    for (uint32_t i = 0; row + i < count; i++)
        in = decode_one(in, lengths, i, out + row + i);
}
