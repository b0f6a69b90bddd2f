/* orc_runs.c: see orc_runs.h. */
#include "loader/orc/orc_runs.h"

#include <string.h>

bool orc_bytes_decode(const uint8_t *in, uint64_t in_bytes, uint8_t *out, uint64_t count)
{
    const uint8_t *const end = in + in_bytes;
    uint8_t *const out_end = out + count;
    while (out < out_end) {
        const uint64_t room = (uint64_t)(out_end - out);
        if (end - in < 2)
            return false;
        const uint8_t header = *in++;
        const uint64_t length = header < 128 ? header + 3u : 256u - header;
        const uint64_t kept = length < room ? length : room;
        if (header < 128) {
            memset(out, *in++, kept);
        } else {
            if ((uint64_t)(end - in) < length)
                return false;
            memcpy(out, in, kept);
            in += length;
        }
        out += kept;
    }
    return true;
}

uint64_t orc_bits_spread(const uint8_t *bits, uint64_t count, uint8_t flip, uint8_t *out)
{
    const uint64_t flips = flip ? 0x0101010101010101ull : 0;
    uint64_t at = 0, ones = 0;
    for (; at + 8 <= count; at += 8) {
        /* Eight copies of the byte; the highest bit stays in the first copy, the lowest in the last. */
        const uint64_t copies = bits[at / 8] * 0x0101010101010101ull & 0x0102040810204080ull;
        const uint64_t bytes = ((copies + 0x7f7e7c7870604000ull) >> 7 & 0x0101010101010101ull) ^ flips;
        memcpy(out + at, &bytes, sizeof bytes);
        ones += (uint64_t)__builtin_popcountll(bytes);
    }
    for (; at < count; at++) {
        out[at] = (bits[at / 8] >> (7 - at % 8) & 1) ^ flip;
        ones += out[at];
    }
    return ones;
}
