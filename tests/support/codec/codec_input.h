/*
 * codec_input.h: encodes values with any codec, in tests and benches.
 *
 * Some codecs hold positions in a table with levels only. So int32 values that are not negative are given as such
 * positions, of as many bits as the greatest of them has; about half of the bits are kept apart. Other codecs do not look
 * at that.
 */
#ifndef TESSERA_TESTS_SUPPORT_CODEC_CODEC_INPUT_H
#define TESSERA_TESTS_SUPPORT_CODEC_CODEC_INPUT_H

#include "storage/codec/codec.h"

static inline struct codec_input codec_input_of(const void *values, uint32_t rows, uint32_t value_bytes)
{
    struct codec_input input = {.values = values, .rows = rows, .value_bytes = value_bytes};
    uint32_t all = 1;
    for (uint32_t row = 0; value_bytes == 4 && row < rows; row++)
        all |= ((const uint32_t *)values)[row];
    if (value_bytes == 4 && all <= INT32_MAX) {
        input.bits = 32 - (uint32_t)__builtin_clz(all);
        input.planes = (input.bits + 1) / 2;
    }
    return input;
}

/* codec.encode */
static inline size_t codec_encode(const struct codec *codec, const void *values, uint32_t rows,
                                  uint32_t value_bytes, uint8_t *out)
{
    const struct codec_input input = codec_input_of(values, rows, value_bytes);
    return codec->encode(&input, out);
}

#endif
