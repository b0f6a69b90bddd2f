/*
 * dictionary_blocks.h: a dictionary as it is compressed on disk: front coding, then zstd, in blocks of 256 KiB.
 *
 * Sorted strings share long prefixes with the string before, so each block keeps for each of its strings how many bytes
 * it shares with the one before, how many follow, and these. Blocks do not need each other: they are decoded in
 * parallel. A dictionary has up to 2^31 - 1 strings, and is encoded once a load and decoded once by each process that
 * needs its strings, as a whole. docs/experiments.md compares this with FSST and with zstd alone.
 *
 *     directory, one entry of 24 bytes for each block, and one for the end
 *          0       8  the block's first byte among the bytes of all strings
 *          8       8  its first byte among the blocks
 *         16       4  its first string
 *         20       4  0
 *     blocks, one after the other; each is zstd frames (RFC 8878), which together give for its n strings
 *          n numbers  the bytes that the string shares with the one before; 0 for the block's first
 *          n numbers  the bytes that follow
 *              bytes  these, of all n strings
 *
 * A number has 7 bits in each byte, the low ones first, and bit 7 in all bytes but its last; at most 5 bytes. A block
 * has at most 256 KiB of strings, or only one string.
 *
 * Example: a block of 'blue', 'blues' and 'red' is  00 04 00  04 01 03  'blue' 's' 'red'.
 */
#ifndef TESSERA_STORAGE_COLUMN_DICTIONARY_DICTIONARY_BLOCKS_H
#define TESSERA_STORAGE_COLUMN_DICTIONARY_DICTIONARY_BLOCKS_H

#include "storage/column/column.h"

/* 64 KiB take up to 11 % more on disk; 1 MiB, at most 7 % less, leave threads without work. */
#define DICTIONARY_BLOCK_BYTES (256u << 10)

struct dictionary_block {
    uint64_t first_byte;
    uint64_t offset;
    uint32_t first_string;
    uint32_t zero;
};

/* ---- Encoding ---- */

/* Both are followed by zeros up to a multiple of 128 bytes, as column_file_add wants them. */
struct dictionary_encoding {
    struct dictionary_block *directory;
    uint32_t block_count; /* the directory has one more */
    uint8_t *blocks;
    uint64_t bytes; /* of the blocks */
};

/* Encodes a sorted dictionary of at least one string. dictionary_encoding_free frees the result, also after a failure. */
NODISCARD enum status dictionary_encode(const struct dictionary *dictionary,
                                        struct dictionary_encoding *encoding, struct error *error);
void dictionary_encoding_free(struct dictionary_encoding *encoding);

/* ---- Decoding ---- */

/* As in a file. */
struct dictionary_blocks {
    const struct dictionary_block *directory;
    uint32_t block_count;
    uint32_t strings;
    const uint8_t *blocks;
    uint64_t bytes; /* of the blocks */
};

/* True if the directory is one of so many strings, in blocks of so many bytes. Then decoding stays inside of them, and
 * takes at most 2^17 times their memory. */
bool dictionary_blocks_valid(const struct dictionary_blocks *blocks);

/* The bytes of all strings. */
static inline uint64_t dictionary_blocks_text(const struct dictionary_blocks *blocks)
{
    return blocks->directory[blocks->block_count].first_byte;
}

/* What decoding a block needs; zero-initialised, for one thread at a time. */
struct dictionary_decoder {
    void *zstd;
    uint8_t *content;
    uint64_t room;
};
void dictionary_decoder_close(struct dictionary_decoder *decoder);

/* Decodes a block to its place: the starts of its strings, and their bytes in `text`. *good is false if it is
 * damaged. STATUS_MACHINE without memory. Threads may decode different blocks. */
NODISCARD enum status dictionary_block_decode(struct dictionary_decoder *decoder,
                                              const struct dictionary_blocks *blocks, uint32_t block,
                                              uint64_t *starts, char *text, bool *good, struct error *error);

#endif
