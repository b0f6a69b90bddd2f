/* text_decoder.c: reads files in any encoding (text_encoding.h). Bytes that need no conversion here go straight to the
 * caller's memory, except for the first four; others pass through iconv in pieces of 64 KiB. */
#include "loader/text/text_encoding.h"
#include "loader/text/text_file.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#define RAW_BYTES   (64u << 10)
#define MARKS_BYTES 64u /* room for the marks of what is no character */
#define TEXT_BYTES  (4 * RAW_BYTES + MARKS_BYTES)

/* The longest byte order mark. */
#define MARK_BYTES 4u

struct text_decoder {
    const char *path;
    struct text_file *file;
    const struct text_encoding *encoding; /* as given; NULL: UTF-8, or what a byte order mark says */
    struct text_encoding marked;          /* what a byte order mark says */
    bool begun, converts, ended, flushed; /* ended: the file has no more bytes */
    iconv_t conversion;
    size_t raw_at, raw_end, text_at, text_end;
    char *raw, *text; /* bytes as they are in the file; converted ones */
};

enum status text_decoder_open(const char *path, const struct text_encoding *encoding,
                              struct text_decoder **out, struct error *error)
{
    struct text_decoder *const decoder = calloc(1, sizeof *decoder);
    *out = NULL;
    if (!decoder)
        return error_out_of_memory(error, sizeof *decoder, path);
    decoder->path = path;
    decoder->encoding = encoding;
    decoder->raw = malloc(RAW_BYTES);
    const enum status status = decoder->raw ? text_file_open(path, &decoder->file, error)
                                            : error_out_of_memory(error, RAW_BYTES, path);
    if (status == STATUS_OK)
        *out = decoder;
    else
        text_decoder_close(decoder);
    return status;
}

void text_decoder_close(struct text_decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->converts)
        iconv_close(decoder->conversion);
    text_file_close(decoder->file);
    free(decoder->raw);
    free(decoder->text);
    free(decoder);
}

/* What the byte order mark says, or NULL. */
static const char *marked_encoding(const char *bytes, size_t count)
{
    static const struct {
        const char *mark;
        size_t length;
        const char *name;
    } marks[] = {{"\xff\xfe\0\0", 4, "UTF-32"},
                 {"\0\0\xfe\xff", 4, "UTF-32"},
                 {"\xff\xfe", 2, "UTF-16"},
                 {"\xfe\xff", 2, "UTF-16"},
                 {"\xef\xbb\xbf", 3, "UTF-8"}};
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
        if (count >= marks[m].length && memcmp(bytes, marks[m].mark, marks[m].length) == 0)
            return marks[m].name;
    return NULL;
}

/* Reads the first bytes, and finds what the file is. */
static enum status begin(struct text_decoder *decoder, struct error *error)
{
    RETURN_IF_ERROR(text_file_read(decoder->file, decoder->raw, MARK_BYTES, &decoder->raw_end, error));
    const char *const marked = marked_encoding(decoder->raw, decoder->raw_end);
    bool found = decoder->encoding != NULL;
    if (marked) {
        RETURN_IF_ERROR(text_encoding_find(marked, &decoder->marked, &found, error));
        decoder->encoding = found ? &decoder->marked : NULL;
    }
    decoder->begun = true;
    decoder->ended = decoder->raw_end < MARK_BYTES;
    if (!decoder->encoding || decoder->encoding->by_table)
        return STATUS_OK;
    decoder->text = malloc(TEXT_BYTES);
    if (!decoder->text)
        return error_out_of_memory(error, TEXT_BYTES, decoder->path);
    decoder->conversion = iconv_open("UTF-8", decoder->encoding->name);
    decoder->converts = decoder->conversion != (iconv_t)-1;
    return decoder->converts ? STATUS_OK
                             : error_set_errno(error, errno, "%s: %s cannot be converted", decoder->path,
                                               decoder->encoding->name);
}

/* Writes marks for up to `count` bytes, which are no character. */
static void mark_bytes(struct text_decoder *decoder, size_t count)
{
    for (; count && decoder->raw_at < decoder->raw_end; count--) {
        text_encoding_mark((unsigned char)decoder->raw[decoder->raw_at++], decoder->text + decoder->text_end);
        decoder->text_end += TEXT_ENCODING_GROWTH;
    }
}

/* Converts more bytes of the file; there are none after it only at the end. */
static enum status convert(struct text_decoder *decoder, struct error *error)
{
    const size_t left = decoder->raw_end - decoder->raw_at;
    size_t got = 0;
    memmove(decoder->raw, decoder->raw + decoder->raw_at, left);
    decoder->raw_at = 0;
    decoder->raw_end = left;
    decoder->text_at = decoder->text_end = 0;
    if (!decoder->ended) {
        RETURN_IF_ERROR(text_file_read(decoder->file, decoder->raw + left, RAW_BYTES - left, &got, error));
        decoder->ended = got < RAW_BYTES - left;
        decoder->raw_end += got;
    }
    for (bool more = true; more;) {
        char *from = decoder->raw + decoder->raw_at, *to = decoder->text + decoder->text_end;
        size_t bytes = decoder->raw_end - decoder->raw_at,
               room = TEXT_BYTES - MARKS_BYTES - decoder->text_end;
        const bool flush = bytes == 0 && decoder->ended && !decoder->flushed;
        const size_t result =
            iconv(decoder->conversion, flush ? NULL : &from, flush ? NULL : &bytes, &to, &room);
        decoder->flushed |= flush;
        decoder->raw_at = (size_t)(from - decoder->raw);
        decoder->text_end = (size_t)(to - decoder->text);
        more = result == (size_t)-1 && (errno == EILSEQ || (errno == EINVAL && decoder->ended));
        if (more)
            mark_bytes(decoder, errno == EILSEQ ? decoder->encoding->unit : RAW_BYTES);
        more |= decoder->raw_at == decoder->raw_end && decoder->ended && !decoder->flushed;
        more = more && decoder->text_end + MARKS_BYTES < TEXT_BYTES;
    }
    return STATUS_OK;
}

enum status text_decoder_read(struct text_decoder *decoder, char *out, size_t bytes, size_t *got,
                              struct error *error)
{
    *got = 0;
    if (!decoder->begun)
        RETURN_IF_ERROR(begin(decoder, error));
    if (!decoder->converts) {
        const size_t first =
            decoder->raw_end - decoder->raw_at < bytes ? decoder->raw_end - decoder->raw_at : bytes;
        size_t more = 0;
        memcpy(out, decoder->raw + decoder->raw_at, first);
        decoder->raw_at += first;
        RETURN_IF_ERROR(text_file_read(decoder->file, out + first, bytes - first, &more, error));
        *got = first + more;
        return STATUS_OK;
    }
    while (*got < bytes) {
        const size_t left = decoder->text_end - decoder->text_at,
                     now = left < bytes - *got ? left : bytes - *got;
        memcpy(out + *got, decoder->text + decoder->text_at, now);
        decoder->text_at += now;
        *got += now;
        if (*got < bytes && decoder->ended && decoder->flushed && decoder->raw_at == decoder->raw_end)
            break;
        if (*got < bytes)
            RETURN_IF_ERROR(convert(decoder, error));
    }
    return STATUS_OK;
}

const struct text_encoding *text_decoder_table(const struct text_decoder *decoder)
{
    return decoder->encoding && decoder->encoding->by_table ? decoder->encoding : NULL;
}

const char *text_decoder_name(const struct text_decoder *decoder)
{
    return decoder->encoding ? decoder->encoding->name : "";
}

uint64_t text_decoder_done(const struct text_decoder *decoder)
{
    return text_file_done(decoder->file);
}
