/* snappy_write.c: see snappy_write.h. Blocks of 64 KiB are compressed apart, so that two bytes tell how far back a copy begins.
 * In a block a table has, for a hash of four bytes, the last place where such bytes stood. */
#include "engine/answer/parquet/snappy_write.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 65536u
#define TABLE_BITS  14u
#define LITERAL     0u
#define COPY_SHORT  1u
#define COPY        2u
#define COPY_MOST   64u

/* After so many bytes without a copy only each second place is looked up, after twice as many each third ... */
#define SKIP_SHIFT 5u

size_t snappy_write_bound(size_t length)
{
    return 16 + length + 3 * (length / BLOCK_BYTES + 1) + length / 32;
}

static uint32_t load(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t hash(uint32_t word)
{
    return word * 0x9e3779b1u >> (32 - TABLE_BITS);
}

static uint8_t *put_literal(uint8_t *out, const uint8_t *bytes, size_t length)
{
    if (length == 0)
        return out;
    const uint32_t less = (uint32_t)length - 1;
    *out++ = (uint8_t)((less < 60 ? less : less < 256 ? 60 : 61) << 2 | LITERAL);
    if (less >= 60)
        *out++ = (uint8_t)less;
    if (less >= 256)
        *out++ = (uint8_t)(less >> 8);
    memcpy(out, bytes, length);
    return out + length;
}

static uint8_t *put_copy(uint8_t *out, size_t back, size_t length)
{
    while (length > 0) {
        const size_t part = length < COPY_MOST ? length : COPY_MOST;
        if (part >= 4 && part < 12 && back < 2048) {
            *out++ = (uint8_t)(back >> 8 << 5 | (part - 4) << 2 | COPY_SHORT);
        } else {
            *out++ = (uint8_t)((part - 1) << 2 | COPY);
        }
        *out++ = (uint8_t)back;
        if (part < 4 || part >= 12 || back >= 2048)
            *out++ = (uint8_t)(back >> 8);
        length -= part;
    }
    return out;
}

static uint8_t *put_block(uint8_t *out, const uint8_t *block, size_t length)
{
    uint16_t places[1u << TABLE_BITS] = {0};
    size_t literal = 0, at = 1; /* the first byte has nothing before it */
    while (at + sizeof(uint32_t) <= length) {
        const uint32_t word = load(block + at), slot = hash(word);
        const size_t found = places[slot];
        places[slot] = (uint16_t)at;
        if (load(block + found) != word) {
            at += 1 + ((at - literal) >> SKIP_SHIFT);
            continue;
        }
        size_t same = sizeof word;
        while (at + same < length && block[found + same] == block[at + same])
            same++;
        out = put_literal(out, block + literal, at - literal);
        out = put_copy(out, at - found, same);
        at += same;
        literal = at;
    }
    return put_literal(out, block + literal, length - literal);
}

size_t snappy_write(const char *bytes, size_t length, char *out)
{
    const uint8_t *const from = (const uint8_t *)bytes;
    uint8_t *const begin = (uint8_t *)out, *to = begin;
    size_t left = length;
    for (; left >= 128; left >>= 7)
        *to++ = (uint8_t)(left | 128);
    *to++ = (uint8_t)left;
    for (size_t at = 0; at < length; at += BLOCK_BYTES)
        to = put_block(to, from + at, length - at < BLOCK_BYTES ? length - at : BLOCK_BYTES);
    return (size_t)(to - begin);
}
