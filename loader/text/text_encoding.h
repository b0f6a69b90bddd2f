/*
 * text_encoding.h: text in other encodings than UTF-8, of all that iconv knows.
 *
 * Of an encoding with one byte a character, whose first 128 are ASCII (Latin-1, Windows-1252), files are cut into rows as
 * they are, since delimiters, quotes and line ends are the same bytes, and each thread makes UTF-8 of its own block by a
 * table. Files in any other encoding (UTF-16, Shift-JIS) are converted while they are read, by one thread at a time.
 *
 * Bytes that are no character become a mark that no UTF-8 has: for each byte 0xff and its two hexadecimal digits. The row
 * that has them is found as one that is no UTF-8, and is then a bad row like others.
 */
#ifndef TESSERA_LOADER_TEXT_TEXT_ENCODING_H
#define TESSERA_LOADER_TEXT_TEXT_ENCODING_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_ENCODING_MARK   0xffu
#define TEXT_ENCODING_GROWTH 3u /* bytes that a byte may become; the mark of one has three, too */

struct text_encoding {
    char name[64]; /* as iconv knows it */
    bool by_table; /* one byte a character, the first 128 of which are ASCII */
    uint8_t unit;  /* bytes that are left out where they are no character */
    char utf8[256][4];
    uint8_t length[256];
};

/* Finds an encoding by its name, in any case and with or without its hyphens. *found is false for UTF-8 itself.
 * STATUS_BAD_INPUT if there is none. */
NODISCARD enum status text_encoding_find(const char *name, struct text_encoding *encoding, bool *found,
                                         struct error *error);

/* Makes UTF-8 of text by the table; returns its length. `to` has room for TEXT_ENCODING_GROWTH * length + 8 bytes. */
size_t text_encoding_apply(const struct text_encoding *encoding, const char *text, size_t length, char *to);

/* The number of bytes that became the first `length` bytes of text_encoding_apply's. */
size_t text_encoding_before(const struct text_encoding *encoding, const char *text, size_t length);

/* Writes the mark of a byte that is no character, of TEXT_ENCODING_GROWTH bytes. */
void text_encoding_mark(unsigned char byte, char *to);

/* ---- Files ---- */

/* A file that may be compressed and in another encoding. A byte order mark of UTF-8, UTF-16 or UTF-32 says what the file is,
 * whatever encoding is given. */
struct text_decoder;

/* `encoding` may be NULL, for UTF-8; it and the path must outlive the decoder. Otherwise as text_file_open. */
NODISCARD enum status text_decoder_open(const char *path, const struct text_encoding *encoding,
                                        struct text_decoder **decoder, struct error *error);
void text_decoder_close(struct text_decoder *decoder);

/* As text_file_read. The bytes are UTF-8, or those of text_decoder_table's encoding. */
NODISCARD enum status text_decoder_read(struct text_decoder *decoder, char *out, size_t bytes, size_t *got,
                                        struct error *error);

/* After the first read: the encoding whose table makes UTF-8 of the bytes that were read; NULL: they are UTF-8. */
const struct text_encoding *text_decoder_table(const struct text_decoder *decoder);

/* After the first read: the name of the encoding, for complaints; "": UTF-8. */
const char *text_decoder_name(const struct text_decoder *decoder);

uint64_t text_decoder_done(const struct text_decoder *decoder);

#endif
