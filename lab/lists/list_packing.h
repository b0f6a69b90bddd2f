/*
 * list_packing.h: binary packing of lists, whose two codecs differ in the size of a word: BP32 has words of 32 bits, SIMD-BP of 128.
 *
 *     group
 *         widths      GROUP bytes: the bits 0..32 of each block's largest value
 *         blocks      each its width in words: value i of 32 * LANES is in 32 bits of the words, number i % LANES, where the values
 *                     i % LANES, i % LANES + LANES, ... are packed in a row from the lowest bit on
 *
 * The last block is filled with zeros; widths of blocks that the last group lacks are 0.
 *
 * A file defines, before it includes this:
 *
 *     LANES           values of 32 bits in a word
 *     GROUP           blocks of a group
 *     packing_word    the type: unsigned, or a vector of unsigned, at any address
 */
#ifndef TESSERA_LAB_LISTS_LIST_PACKING_H
#define TESSERA_LAB_LISTS_LIST_PACKING_H

#include "storage/codec/integer/bitpack.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLOCK (32u * LANES)

static uint32_t block_width(const uint32_t values[BLOCK])
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < BLOCK; i++)
        any |= values[i];
    return width_of(any);
}

static void pack(const uint32_t values[BLOCK], uint32_t width, uint8_t *out)
{
    uint32_t words[33][LANES] = {{0}};
    for (uint32_t i = 0; i < BLOCK; i++) {
        const uint32_t bit = i / LANES * width;
        const uint64_t shifted = (uint64_t)values[i] << bit % 32;
        words[bit / 32][i % LANES] |= (uint32_t)shifted;
        words[bit / 32 + 1][i % LANES] |= (uint32_t)(shifted >> 32);
    }
    memcpy(out, words, width * sizeof *words);
}

static inline size_t packing_encode(const uint32_t *values, uint32_t count, uint8_t *out)
{
    uint8_t *to = out, *widths = NULL;
    for (uint32_t b = 0; (uint64_t)b * BLOCK < count; b++) {
        const uint32_t rest = count - b * BLOCK;
        uint32_t block[BLOCK] = {0};
        memcpy(block, values + b * BLOCK, (rest < BLOCK ? rest : BLOCK) * sizeof *block);
        if (b % GROUP == 0) {
            widths = to;
            memset(to, 0, GROUP);
            to += GROUP;
        }
        const uint32_t width = block_width(block);
        widths[b % GROUP] = (uint8_t)width;
        pack(block, width, to);
        to += width * sizeof(packing_word);
    }
    return (size_t)(to - out);
}

/* `width` is a constant wherever this is inlined, so that every shift is. */
FORCED_INLINE void unpack(const packing_word *restrict words, packing_word *restrict values,
                          const uint32_t width)
{
    const uint32_t mask = width == 32 ? ~0u : (1u << width % 32) - 1;
#pragma GCC unroll 32
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t at = i * width / 32, shift = i * width % 32;
        packing_word value = width ? words[at] >> shift : (packing_word){0};
        if (shift + width > 32)
            value |= words[at + 1] << (32 - shift);
        values[i] = value & mask;
    }
}

#define UNPACK(width)                                                           \
    static void unpack_##width(const packing_word *words, packing_word *values) \
    {                                                                           \
        unpack(words, values, width);                                           \
    }
EACH_WIDTH(UNPACK)

typedef void unpack_block(const packing_word *words, packing_word *values);
#define UNPACK_ENTRY(width) unpack_##width,
static unpack_block *const unpack_of[33] = {EACH_WIDTH(UNPACK_ENTRY)};

static inline void packing_decode(const uint8_t *in, uint32_t count, uint32_t *out)
{
    const uint8_t *widths = in;
    for (uint32_t b = 0; (uint64_t)b * BLOCK < count; b++) {
        const uint32_t rest = count - b * BLOCK;
        if (b % GROUP == 0) {
            widths = in;
            in += GROUP;
        }
        const uint32_t width = widths[b % GROUP];
        if (rest >= BLOCK) {
            unpack_of[width]((const packing_word *)in, (packing_word *)(out + b * BLOCK));
        } else {
            uint32_t block[BLOCK];
            unpack_of[width]((const packing_word *)in, (packing_word *)block);
            memcpy(out + b * BLOCK, block, rest * sizeof *block);
        }
        in += width * sizeof(packing_word);
    }
}

#endif
