/*
 * stream_vbyte.c: StreamVByte (Lemire, Kurz, Rupp, 2018): the lengths of VarintGB in a stream of their own, so that four values are
 * decoded by one shuffle of 16 bytes. (Debian's package libstreamvbyte0, version 0.4.1, has the same bytes, but is compiled without
 * vector instructions and does not ask for them at run time.)
 *
 *     lengths     a byte for each four values: their lengths less 1, two bits each, the first one lowest
 *     values      1 to 4 bytes each, low byte first
 *
 * Without SSSE3 (the instruction set baseline) values are decoded one by one.
 */
#include "lab/lists/list_codec.h"

#include <string.h>
#ifdef __SSSE3__
#include <immintrin.h>
#endif

static uint32_t code_of(uint32_t value)
{
    return value < 1u << 8 ? 0 : value < 1u << 16 ? 1 : value < 1u << 24 ? 2 : 3;
}

size_t ISA(list_stream_vbyte_encode)(const uint32_t *values, uint32_t count, uint8_t *out)
{
    const size_t lengths = ((size_t)count + 3) / 4;
    uint8_t *to = out + lengths;
    memset(out, 0, lengths);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t code = code_of(values[i]);
        out[i / 4] |= (uint8_t)(code << 2 * (i % 4));
        memcpy(to, &values[i], code + 1);
        to += code + 1;
    }
    return (size_t)(to - out);
}

/* Decodes rows `row` .. count - 1 one by one, whose bytes begin at `in`. */
static void decode_rest(const uint8_t *lengths, const uint8_t *in, uint32_t row, uint32_t count,
                        uint32_t *out)
{
    for (; row < count; row++) {
        const uint32_t bytes = (lengths[row / 4] >> 2 * (row % 4) & 3) + 1u;
        uint32_t value = 0;
        for (uint32_t b = 0; b < bytes; b++)
            value |= (uint32_t)in[b] << 8 * b;
        out[row] = value;
        in += bytes;
    }
}

#ifdef __SSSE3__

/* For each byte of lengths k: the shuffle that moves the bytes of four values into four words, and how many they are. */
#define BYTES(k, i)           (((k) >> 2 * (i)&3) + 1)
#define BEFORE_1(k)           BYTES(k, 0)
#define BEFORE_2(k)           (BEFORE_1(k) + BYTES(k, 1))
#define BEFORE_3(k)           (BEFORE_2(k) + BYTES(k, 2))
#define BYTE(k, i, before, j) ((j) < BYTES(k, i) ? (before) + (j) : 0x80) /* 0x80 gives a zero */
#define WORD(k, i, before) \
    BYTE(k, i, before, 0), BYTE(k, i, before, 1), BYTE(k, i, before, 2), BYTE(k, i, before, 3)
#define SHUFFLE(k) {WORD(k, 0, 0), WORD(k, 1, BEFORE_1(k)), WORD(k, 2, BEFORE_2(k)), WORD(k, 3, BEFORE_3(k))},
#define LENGTH(k)  BEFORE_3(k) + BYTES(k, 3),
/* clang-format off */
#define FOUR(USE, k)    USE(k) USE((k) + 1) USE((k) + 2) USE((k) + 3)
#define SIXTEEN(USE, k) FOUR(USE, k) FOUR(USE, (k) + 4) FOUR(USE, (k) + 8) FOUR(USE, (k) + 12)
#define SIXTY_FOUR(USE, k) \
    SIXTEEN(USE, k) SIXTEEN(USE, (k) + 16) SIXTEEN(USE, (k) + 32) SIXTEEN(USE, (k) + 48)
#define ALL(USE) SIXTY_FOUR(USE, 0) SIXTY_FOUR(USE, 64) SIXTY_FOUR(USE, 128) SIXTY_FOUR(USE, 192)
/* clang-format on */

static const uint8_t shuffles[256][16] __attribute__((aligned(16))) = {ALL(SHUFFLE)};
static const uint8_t bytes_of[256] = {ALL(LENGTH)};

void ISA(list_stream_vbyte_decode)(const uint8_t *in, uint32_t count, uint32_t *out)
{
    const uint8_t *const lengths = in;
    uint32_t row = 0;
    in += ((size_t)count + 3) / 4;
    for (; row + 4 <= count; row += 4) {
        const uint32_t k = lengths[row / 4];
        const __m128i bytes = _mm_loadu_si128((const __m128i *)in);
        const __m128i shuffle = _mm_load_si128((const __m128i *)shuffles[k]);
        _mm_storeu_si128((__m128i *)(out + row), _mm_shuffle_epi8(bytes, shuffle));
        in += bytes_of[k];
    }
    decode_rest(lengths, in, row, count, out);
}

#else

void ISA(list_stream_vbyte_decode)(const uint8_t *in, uint32_t count, uint32_t *out)
{
    decode_rest(in, in + ((size_t)count + 3) / 4, 0, count, out);
}

#endif
