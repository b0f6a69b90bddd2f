/*
 * text_source.c: see text_source.h. Under the lock, a thread reads bytes after the partial row of the block
 * before, and finds the end of the last row. It does the rest for its own block without the lock
 * (text_block.c).
 */
#include "loader/text/text_source_internal.h"

#include "loader/text/json_rows.h"
#include "storage/base/text/json_scan.h"

#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const struct text_source *source)
{
    return source->paths[source->path];
}

/* Reads until `memory`, which has *have bytes, has `wanted` bytes. */
static enum status read_on(struct text_source *source, char *memory, size_t wanted, size_t *have)
{
    size_t got = 0;
    if (source->ended || *have >= wanted)
        return STATUS_OK;
    const enum status status =
        text_decoder_read(source->file, memory + *have, wanted - *have, &got, &source->error);
    if (status == STATUS_BAD_INPUT) {
        char reason[ERROR_TEXT_BYTES];
        memcpy(reason, source->error.text, sizeof reason);
        return error_set(&source->error, status, "%.900s (read up to line %llu)", reason,
                         (unsigned long long)source->line);
    }
    RETURN_IF_ERROR(status);
    *have += got;
    source->ended = *have < wanted;
    return STATUS_OK;
}

/* Reads the header that the carry may begin with, as UTF-8. *bytes are those of the carry. */
static enum status read_header(struct text_source *source, size_t *bytes, uint64_t *lines)
{
    const struct text_encoding *const table = text_decoder_table(source->file);
    const struct text_memory *const carry = &source->carry;
    uint32_t **const places = &source->places[source->path];
    char *text = NULL;
    if (!table)
        return text_header_read(source, carry->bytes, source->carry_bytes, places, bytes, lines,
                                &source->error);
    RETURN_IF_ERROR(
        memory_take(&text, TEXT_ENCODING_GROWTH * source->carry_bytes + 8, "a header", &source->error));
    const size_t length = text_encoding_apply(table, carry->bytes, source->carry_bytes, text);
    const enum status status = text_header_read(source, text, length, places, bytes, lines, &source->error);
    if (status == STATUS_OK)
        *bytes = text_encoding_before(table, carry->bytes, *bytes);
    free(text);
    return status;
}

/* Finds whether the file is JSON, and how its rows stand in it. *known is false if more bytes must be seen. */
static bool is_json(struct text_source *source, bool *known, size_t *bytes)
{
    struct text_memory *const carry = &source->carry;
    const char *const path = path_of(source);
    *known = true;
    *bytes = 0;
    source->shape.json = JSON_LAYOUT_NONE;
    if (source->given || source->shape.verbatim ||
        !(text_name_is_json(path) ||
          (text_may_be_json(0, path) && text_format_is_json(carry->bytes, source->carry_bytes))))
        return false;
    source->shape.json = json_layout_find(carry->bytes, source->carry_bytes, source->ended, known, bytes);
    return true;
}

/* Reads the first row into the carry, and finds the file's delimiter, header and shape. */
static enum status begin_file(struct text_source *source)
{
    struct error *const error = &source->error;
    struct text_memory *const carry = &source->carry;
    const char *const path = path_of(source);
    RETURN_IF_ERROR(
        text_decoder_open(path, source->encoded ? &source->encoding : NULL, &source->file, error));
    source->line = 1;
    source->ended = false;
    source->carry_bytes = 0;
    struct text_shape *const shape = &source->shape;
    const bool known = shape->delimiter != 0;
    shape->delimiter = known ? shape->delimiter : text_delimiter_of_name(path);
    const uint32_t fields = source->listed ? source->listed_count : shape->columns;
    const bool comma = !known && shape->delimiter == ',' && fields > 1; /* many a .csv has semicolons */
    const bool guess = shape->delimiter == 0 || comma;
    bool mark_seen = false; /* it is known whether there is a byte order mark */
    bool json = false;
    size_t bytes = 0;
    source->closed = false;
    for (size_t wanted = source->block_bytes; wanted <= TEXT_ROW_BYTES; wanted *= 2) {
        RETURN_IF_ERROR(text_memory_reserve(carry, wanted, error));
        RETURN_IF_ERROR(read_on(source, carry->bytes, wanted, &source->carry_bytes));
        if (!mark_seen && source->carry_bytes >= 3) {
            mark_seen = true;
            if (memcmp(carry->bytes, "\xef\xbb\xbf", 3) == 0) {
                source->carry_bytes -= 3;
                memmove(carry->bytes, carry->bytes + 3, source->carry_bytes);
            }
        }
        bool known_layout;
        json = is_json(source, &known_layout, &bytes);
        if (json && known_layout)
            break;
        if (guess && !json)
            RETURN_IF_ERROR(text_delimiter_of_line(source, carry->bytes, source->carry_bytes, comma,
                                                   &shape->delimiter, error));
        if (source->ended || (!json && text_rows_whole(carry->bytes, source->carry_bytes, shape).bytes))
            break;
    }
    uint64_t lines = 0;
    RETURN_IF_ERROR(text_format_check(path, carry->bytes, source->carry_bytes, error));
    if (json && source->listed)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: is JSON, whose members have names; --columns is for files that have none",
                         path);
    if (json)
        shape->delimiter = known ? shape->delimiter : 0;
    else
        RETURN_IF_ERROR(read_header(source, &bytes, &lines));
    for (size_t b = 0; json && b < bytes; b++)
        lines += carry->bytes[b] == '\n';
    source->carry_bytes -= bytes;
    source->line += lines;
    memmove(carry->bytes, carry->bytes + bytes, source->carry_bytes);
    return STATUS_OK;
}

static enum status check_options(const struct text_options *options, const char *const *paths,
                                 uint32_t path_count, uint32_t columns, struct error *error)
{
    const unsigned char delimiter = (unsigned char)options->delimiter;
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r' || delimiter >= 0x80)
        return error_set(error, STATUS_BAD_INPUT,
                         "the delimiter must be an ASCII character other than a quote and a line end");
    if (columns == 0)
        return error_set(error, STATUS_BAD_INPUT, "%s: a table without columns cannot be read",
                         path_count ? paths[0] : "text");
    for (uint32_t p = 0; p < path_count && path_count > 1; p++)
        if (strcmp(paths[p], "-") == 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "-: standard input cannot be one of several files of a table; give it alone");
    return STATUS_OK;
}

/* Checks that all files exist, before any is read. */
static enum status check_files(struct text_source *source, struct error *error)
{
    bool known = true;
    for (uint32_t p = 0; p < source->path_count; p++) {
        uint64_t bytes;
        RETURN_IF_ERROR(text_file_check(source->paths[p], &bytes, error));
        known = known && bytes != TEXT_FILE_SIZE_UNKNOWN;
        source->size += bytes;
    }
    source->size = known ? source->size : 0;
    return STATUS_OK;
}

enum status text_source_open_sized(const char *const *paths, uint32_t path_count,
                                   const char *const *column_names, uint32_t columns,
                                   const struct text_options *options, size_t block_bytes,
                                   struct text_source **out, struct error *error)
{
    *out = NULL;
    RETURN_IF_ERROR(check_options(options, paths, path_count, columns, error));
    struct text_source *source = calloc(1, sizeof *source);
    if (!source)
        return error_out_of_memory(error, sizeof *source, "a source of text");
    pthread_mutex_init(&source->lock, NULL);
    source->paths = paths;
    source->path_count = path_count;
    source->header = options->header;
    source->given = options->delimiter;
    source->block_bytes = block_bytes;
    /* For verbatim text the NULL text is a line end, which no unquoted field contains, so nothing is NULL. */
    const char *const null_text = options->verbatim ? "\n" : options->null_text;
    source->shape = (struct text_shape){.delimiter = options->delimiter,
                                        .verbatim = options->verbatim,
                                        .columns = columns,
                                        .null_text = null_text,
                                        .null_length = null_text ? strlen(null_text) : 0,
                                        .names = column_names};
    if (source->shape.null_length == 0)
        source->shape.null_text = NULL;
    source->places = calloc(path_count + (size_t)1, sizeof *source->places);
    enum status status = source->places ? check_files(source, error)
                                        : error_out_of_memory(error, path_count * 8ull, "a source of text");
    if (status == STATUS_OK && options->encoding)
        status = text_encoding_find(options->encoding, &source->encoding, &source->encoded, error);
    if (status == STATUS_OK && options->columns)
        status = text_columns_read(source, options->columns, error);
    if (status == STATUS_OK && path_count) {
        status = begin_file(source);
        if (status != STATUS_OK && error)
            *error = source->error;
    }
    if (status == STATUS_OK)
        *out = source;
    else
        text_source_close(source);
    return status;
}

enum status text_source_open(const char *const *paths, uint32_t path_count, const char *const *column_names,
                             uint32_t columns, const struct text_options *options, struct text_source **out,
                             struct error *error)
{
    return text_source_open_sized(paths, path_count, column_names, columns, options, TEXT_BLOCK_BYTES, out,
                                  error);
}

void text_source_close(struct text_source *source)
{
    if (!source)
        return;
    text_decoder_close(source->file);
    for (uint32_t p = 0; source->places && p < source->path_count; p++)
        free(source->places[p]);
    free(source->places);
    free(source->listed);
    free(source->carry.bytes);
    text_index_free(&source->index);
    pthread_mutex_destroy(&source->lock);
    free(source);
}

void text_source_progress(const struct text_source *source, uint64_t *done, uint64_t *all)
{
    struct text_source *const locked = (struct text_source *)source;
    pthread_mutex_lock(&locked->lock);
    *done = source->done + (source->file ? text_decoder_done(source->file) : 0);
    *all = source->size;
    pthread_mutex_unlock(&locked->lock);
}

/* ---- Blocks, under the lock ---- */

/* `line` is that of `at`, behind the last whole object. */
static enum status refuse_open(struct text_source *source, const char *at, const char *end, uint64_t line)
{
    for (; at < end && *at != '{' && *at != '['; at++)
        line += *at == '\n';
    return error_set(&source->error, STATUS_BAD_INPUT,
                     "%s:%llu: the object that begins here does not end; is the file cut short?",
                     path_of(source), (unsigned long long)line);
}

/* The file ends with these bytes, or had ended before them: its list of objects must have ended, too. */
static enum status check_list(struct text_source *source, const char *text, size_t length)
{
    while (length && json_scan_blanks(text + length - 1, text + length) == text + length)
        length--;
    source->closed |= length && text[length - 1] == ']';
    return source->closed ? STATUS_OK
                          : error_set(&source->error, STATUS_BAD_INPUT,
                                      "%s: the list of objects does not end with ]; is the file cut short?",
                                      path_of(source));
}

/* Reads the text of one block, in whole rows, into `memory`; *bytes is 0 at the end of the current file. */
static enum status read_block(struct text_source *source, struct text_memory *memory, size_t *bytes,
                              uint64_t *first_line)
{
    struct error *const error = &source->error;
    const unsigned long long line = source->line;
    size_t wanted = source->block_bytes, have = source->carry_bytes;
    *bytes = 0;
    *first_line = source->line;
    while (wanted < have + 1)
        wanted *= 2;
    RETURN_IF_ERROR(text_memory_reserve(memory, wanted, error));
    memcpy(memory->bytes, source->carry.bytes, have);
    source->carry_bytes = 0;
    for (;; wanted *= 2) {
        RETURN_IF_ERROR(text_memory_reserve(memory, wanted, error));
        RETURN_IF_ERROR(read_on(source, memory->bytes, wanted, &have));
        const struct text_whole whole = text_rows_whole(memory->bytes, have, &source->shape);
        if (source->ended && whole.open_quote && source->shape.json)
            return refuse_open(source, memory->bytes + whole.bytes, memory->bytes + have,
                               source->line + whole.lines);
        if (source->ended && whole.open_quote)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s:%llu: a quoted field of the row that begins here does not end",
                             path_of(source), line + (unsigned long long)whole.lines);
        *bytes = source->ended ? have : whole.bytes;
        source->line += source->ended ? whole.all : whole.lines;
        if (*bytes || source->ended)
            break;
        if (wanted >= TEXT_ROW_BYTES)
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s:%llu: the row is longer than %u MiB; is a quote missing, or is this no text?",
                path_of(source), line, TEXT_ROW_BYTES >> 20);
    }
    if (source->ended && source->shape.json == JSON_LAYOUT_LIST)
        RETURN_IF_ERROR(check_list(source, memory->bytes, have));
    source->carry_bytes = have - *bytes;
    RETURN_IF_ERROR(text_memory_reserve(&source->carry, source->carry_bytes + 1, error));
    memcpy(source->carry.bytes, memory->bytes + *bytes, source->carry_bytes);
    return STATUS_OK;
}

static enum status next_text(struct text_source *source, struct text_block *block, struct block_text *text)
{
    struct block_memory *const memory = block->own;
    text->bytes = 0;
    while (text->bytes == 0 && source->file) {
        block->path = path_of(source);
        text->places = source->places[source->path];
        text->table = text_decoder_table(source->file);
        snprintf(text->encoding, sizeof text->encoding, "%s", text_decoder_name(source->file));
        RETURN_IF_ERROR(read_block(source, &memory->text, &text->bytes, &text->line));
        if (text->bytes)
            break;
        source->done += text_decoder_done(source->file);
        text_decoder_close(source->file);
        source->file = NULL;
        if (++source->path < source->path_count)
            RETURN_IF_ERROR(begin_file(source));
    }
    if (text->bytes && !source->trailing_known && !source->shape.json)
        RETURN_IF_ERROR(text_trailing_find(source, memory->text.bytes, text->bytes, &source->trailing_known,
                                           &source->shape.trailing, &source->error));
    text->shape = source->shape;
    block->number = source->number;
    source->number += text->bytes != 0;
    return STATUS_OK;
}

enum status text_source_next(struct text_source *source, struct text_block *block, struct error *error)
{
    if (!block->own && !(block->own = calloc(1, sizeof(struct block_memory))))
        return error_out_of_memory(error, sizeof(struct block_memory), "a block of text");
    block->rows = block->fault_count = 0;
    do {
        struct block_text text;
        pthread_mutex_lock(&source->lock);
        if (source->status == STATUS_OK)
            source->status = next_text(source, block, &text);
        const enum status status = source->status;
        if (status != STATUS_OK && error)
            *error = source->error;
        pthread_mutex_unlock(&source->lock);
        RETURN_IF_ERROR(status);
        if (text.bytes == 0)
            return STATUS_OK;
        RETURN_IF_ERROR(text_block_split(block, &text, error));
    } while (block->rows == 0); /* the block had only empty lines */
    return STATUS_OK;
}
