/* dictionary_decode.c: decompresses a dictionary; see dictionary_blocks.h. A thread gives 1 to 4.5 GB/s of strings and
 * starts. Nothing in a file is trusted: what decides on memory or places is compared first. */
#include "storage/column/dictionary/dictionary_blocks.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define NUMBER_BYTES 5u

/* A byte of zstd gives at most 32 KiB: a block of 128 KiB of one value takes 4 bytes. */
#define ZSTD_RATIO_MAX (UINT64_C(1) << 15)

/* Short strings are copied as words of this size where there is room after them. */
#define WORD 16u

/* ---- The directory ---- */

/* Strings differ, so at most one in a block is empty, and the others have a byte. */
static bool block_valid(const struct dictionary_block *block, const struct dictionary_block *next)
{
    if (next->first_string <= block->first_string || next->first_byte < block->first_byte ||
        next->offset <= block->offset || next->zero)
        return false;
    const uint64_t strings = next->first_string - block->first_string;
    const uint64_t bytes = next->first_byte - block->first_byte, packed = next->offset - block->offset;
    if (strings == 1)
        return bytes <= UINT32_MAX && bytes / ZSTD_RATIO_MAX <= packed;
    return bytes <= DICTIONARY_BLOCK_BYTES && strings <= bytes + 1;
}

bool dictionary_blocks_valid(const struct dictionary_blocks *blocks)
{
    const struct dictionary_block *const first = blocks->directory, *const last = first + blocks->block_count;
    if (blocks->block_count == 0 || first->first_byte || first->offset || first->first_string ||
        first->zero || last->first_string != blocks->strings || last->offset != blocks->bytes)
        return false;
    for (uint32_t b = 0; b < blocks->block_count; b++)
        if (!block_valid(&first[b], &first[b + 1]))
            return false;
    return true;
}

/* ---- A block ---- */

/* A stream of numbers, and where it must end. */
struct numbers {
    const uint8_t *at, *end;
};

/* False if the stream ends, or the number has more than 5 bytes. */
static inline bool take_number(struct numbers *numbers, uint64_t *number)
{
    *number = 0;
    for (unsigned byte = 0; byte < NUMBER_BYTES && numbers->at < numbers->end; byte++) {
        const uint8_t bits = *numbers->at++;
        *number |= (uint64_t)(bits & 127) << 7 * byte;
        if (bits < 128)
            return true;
    }
    return false;
}

/* The place after `count` numbers; NULL if there are not so many. */
static const uint8_t *numbers_skip(const uint8_t *at, const uint8_t *end, uint64_t count)
{
    while (count && at < end)
        count -= *at++ < 128;
    return count ? NULL : at;
}

/* The two may overlap. */
static inline void put_word(char *to, const void *from)
{
    uint8_t word[WORD];
    memcpy(word, from, WORD);
    memcpy(to, word, WORD);
}

/* Gives the strings of a block, whose bytes are text[0 .. bytes). `content` is followed by WORD bytes. */
static bool take_strings(const uint8_t *content, uint64_t content_bytes, uint64_t strings, uint64_t base,
                         uint64_t bytes, uint64_t *starts, char *text)
{
    const uint8_t *const end = content + content_bytes;
    const uint8_t *const lengths = numbers_skip(content, end, strings);
    const uint8_t *rest = lengths ? numbers_skip(lengths, end, strings) : NULL;
    if (!rest)
        return false;
    struct numbers shares = {content, lengths}, follow = {lengths, rest};
    uint64_t at = 0, before = 0;
    for (uint64_t s = 0; s < strings; s++) {
        uint64_t shared, length;
        if (!take_number(&shares, &shared) || !take_number(&follow, &length) || shared > at - before ||
            shared + length > bytes - at || length > (uint64_t)(end - rest))
            return false;
        starts[s] = base + at;
        if (shared <= WORD && length <= WORD && bytes - at >= 2 * WORD) {
            put_word(text + at, text + before);
            put_word(text + at + shared, rest);
        } else {
            memcpy(text + at, text + before, shared);
            memcpy(text + at + shared, rest, length);
        }
        before = at;
        at += shared + length;
        rest += length;
    }
    return at == bytes && rest == end && shares.at == shares.end && follow.at == follow.end;
}

static enum status decoder_open(struct dictionary_decoder *decoder, uint64_t room, struct error *error)
{
    if (!decoder->zstd && !(decoder->zstd = ZSTD_createDCtx()))
        return error_out_of_memory(error, 1u << 18, "zstd");
    if (room <= decoder->room)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&decoder->content, room + WORD, "a dictionary", error));
    decoder->room = room;
    return STATUS_OK;
}

enum status dictionary_block_decode(struct dictionary_decoder *decoder,
                                    const struct dictionary_blocks *blocks, uint32_t block, uint64_t *starts,
                                    char *text, bool *good, struct error *error)
{
    const struct dictionary_block *const entry = &blocks->directory[block];
    const uint64_t strings = entry[1].first_string - entry->first_string;
    const uint64_t bytes = entry[1].first_byte - entry->first_byte;
    *good = false;
    RETURN_IF_ERROR(decoder_open(decoder, 2 * strings * NUMBER_BYTES + bytes, error));
    const size_t content =
        ZSTD_decompressDCtx(decoder->zstd, decoder->content, decoder->room, blocks->blocks + entry->offset,
                            entry[1].offset - entry->offset);
    *good =
        !ZSTD_isError(content) && take_strings(decoder->content, content, strings, entry->first_byte, bytes,
                                               starts + entry->first_string, text + entry->first_byte);
    return STATUS_OK;
}

void dictionary_decoder_close(struct dictionary_decoder *decoder)
{
    ZSTD_freeDCtx(decoder->zstd);
    free(decoder->content);
    *decoder = (struct dictionary_decoder){0};
}
