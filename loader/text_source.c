/*
 * text_source.c: see text_source.h. Under the lock: bytes are read behind the partial row that the block before
 * left over, and the last row's end is found. The rest a thread does for its own block.
 */
#include "loader/text_rows.h"

#include "loader/text_file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct text_source {
    pthread_mutex_t lock;
    const char *const *paths;
    uint32_t path_count, path; /* the file at hand */
    const char *const *column_names;
    struct text_shape shape;
    enum text_header header;
    uint32_t *places; /* of each field of the file at hand: its column; lives until the source is closed */
    uint32_t **all_places;
    struct text_file *file; /* NULL: between two */
    bool ended;             /* the file at hand has no more bytes */
    char *carry;            /* of it: what was read but not given out */
    size_t carry_bytes, carry_room;
    uint64_t line, number;
    uint64_t done, size; /* of files before; of all, 0 if one is not known */
    enum status status;  /* an error stays one */
    struct error error;
};

struct block_memory {
    char *text, *spare;
    size_t room, field_room, row_room, fault_room;
    struct text_field *split;
    uint32_t split_room;
};

/* ---- Delimiters and headers ---- */

static bool ends_with(const char *path, size_t length, const char *suffix)
{
    const size_t own = strlen(suffix);
    return length >= own && strncasecmp(path + length - own, suffix, own) == 0;
}

static char delimiter_of_name(const char *path)
{
    size_t length = strlen(path);
    if (ends_with(path, length, ".gz"))
        length -= 3;
    else if (ends_with(path, length, ".zst"))
        length -= 4;
    return ends_with(path, length, ".csv")   ? ','
           : ends_with(path, length, ".tsv") ? '\t'
           : ends_with(path, length, ".tbl") ? '|'
                                             : 0;
}

/* The one that cuts the first line into as many fields as there are columns; else the most frequent. */
static char delimiter_of_line(const char *text, size_t length, uint32_t columns)
{
    static const char candidates[] = {',', '\t', '|', ';'};
    const char *const newline = memchr(text, '\n', length);
    const size_t line = newline ? (size_t)(newline - text) : length;
    char best = ',';
    size_t most = 0;
    for (size_t c = 0; c < sizeof candidates; c++) {
        size_t count = 0;
        for (size_t i = 0; i < line; i++)
            count += text[i] == candidates[c];
        if (count + 1 == columns && columns > 1)
            return candidates[c];
        if (count > most) {
            most = count;
            best = candidates[c];
        }
    }
    return best;
}

static uint32_t column_named(const struct text_source *source, const struct text_field *field)
{
    for (uint32_t c = 0; c < source->shape.columns; c++)
        if (field->length == strlen(source->column_names[c]) &&
            strncasecmp(source->column_names[c], field->text, field->length) == 0)
            return c;
    return UINT32_MAX;
}

static enum status map_header(struct text_source *source, const struct text_field *fields, uint32_t count,
                              bool *is_header)
{
    const char *const path = source->paths[source->path];
    const uint32_t columns = source->shape.columns;
    uint32_t known = 0;
    for (uint32_t f = 0; f < count && f < columns + 1; f++)
        known += fields[f].length != TEXT_NULL && column_named(source, &fields[f]) != UINT32_MAX;
    *is_header = source->header == TEXT_HEADER_YES ||
                 (source->header == TEXT_HEADER_AUTO && known == count && count > 0);
    for (uint32_t c = 0; c < columns; c++)
        source->places[c] = *is_header ? UINT32_MAX : c;
    if (!*is_header)
        return STATUS_OK;
    for (uint32_t f = 0; f < count; f++) {
        const uint32_t column =
            f < columns && fields[f].length != TEXT_NULL ? column_named(source, &fields[f]) : UINT32_MAX;
        if (column == UINT32_MAX)
            return error_set(&source->error, STATUS_BAD_INPUT,
                             "%s:1: the header names '%.*s', which is no column of the table", path,
                             fields[f].length == TEXT_NULL ? 0 : (int)fields[f].length, fields[f].text);
        for (uint32_t before = 0; before < f; before++)
            if (source->places[before] == column)
                return error_set(&source->error, STATUS_BAD_INPUT, "%s:1: the header names '%s' twice", path,
                                 source->column_names[column]);
        source->places[f] = column;
    }
    for (uint32_t c = 0; c < columns; c++) {
        bool there = false;
        for (uint32_t f = 0; f < count; f++)
            there |= source->places[f] == c;
        if (!there)
            return error_set(
                &source->error, STATUS_BAD_INPUT,
                "%s:1: the header lacks the column '%s'; give its values, or empty fields for NULL", path,
                source->column_names[c]);
    }
    return STATUS_OK;
}

/* ---- Reading, under the lock ---- */

static enum status reserve(char **memory, size_t *room, size_t wanted, struct error *error)
{
    if (wanted <= *room)
        return STATUS_OK;
    char *grown = realloc(*memory, wanted);
    if (!grown)
        return error_out_of_memory(error, wanted, "text");
    *memory = grown;
    *room = wanted;
    return STATUS_OK;
}

/* Bytes of the first row into the carry, and what they say of the file. */
static enum status begin_file(struct text_source *source)
{
    struct error *const error = &source->error;
    const char *const path = source->paths[source->path];
    RETURN_IF_ERROR(text_file_open(path, &source->file, error));
    source->all_places[source->path] = malloc((source->shape.columns + 1) * sizeof *source->places);
    source->places = source->all_places[source->path];
    if (!source->places)
        return error_out_of_memory(error, source->shape.columns * sizeof *source->places, "a header");
    source->line = 1;
    source->ended = false;
    source->carry_bytes = 0;
    size_t wanted = TEXT_BLOCK_BYTES, whole = 0, got;
    bool open_quote = false;
    while (whole == 0 && !source->ended && wanted <= TEXT_ROW_BYTES) {
        uint64_t lines;
        RETURN_IF_ERROR(reserve(&source->carry, &source->carry_room, wanted, error));
        RETURN_IF_ERROR(text_file_read(source->file, source->carry + source->carry_bytes,
                                       wanted - source->carry_bytes, &got, error));
        source->carry_bytes += got;
        source->ended = source->carry_bytes < wanted;
        if (source->carry_bytes >= 3 && memcmp(source->carry, "\xef\xbb\xbf", 3) == 0) {
            source->carry_bytes -= 3;
            memmove(source->carry, source->carry + 3, source->carry_bytes);
        }
        if (!source->shape.delimiter)
            source->shape.delimiter = delimiter_of_name(path);
        if (!source->shape.delimiter)
            source->shape.delimiter =
                delimiter_of_line(source->carry, source->carry_bytes, source->shape.columns);
        whole = text_rows_whole(source->carry, source->carry_bytes, source->shape.delimiter, source->ended,
                                &lines, &open_quote);
        wanted *= 2;
    }
    struct text_field *fields = calloc(source->shape.columns + 2, sizeof *fields);
    char *spare_memory = malloc(source->carry_bytes + 1), *spare = spare_memory;
    enum status status = STATUS_OK;
    if (!fields || !spare_memory) {
        status = error_out_of_memory(error, source->carry_bytes, "a header");
    } else {
        const char *end, *fault;
        uint64_t lines;
        bool is_header = false;
        struct text_shape first = source->shape;
        first.trailing = true;
        uint32_t count = text_row_split(source->carry, source->carry + source->carry_bytes, &first, fields,
                                        source->shape.columns + 2, &end, &spare, &lines, &fault);
        if (whole == 0)
            count = 0;
        status =
            map_header(source, fields, count < source->shape.columns + 2 ? count : source->shape.columns + 2,
                       &is_header);
        if (status == STATUS_OK && is_header) {
            source->carry_bytes -= (size_t)(end - source->carry);
            source->line += lines;
            memmove(source->carry, end, source->carry_bytes);
        }
        if (status == STATUS_OK && source->path == 0) { /* as the first row of data has it */
            first.trailing = false;
            spare = spare_memory;
            count = text_row_split(source->carry, source->carry + source->carry_bytes, &first, fields,
                                   source->shape.columns + 2, &end, &spare, &lines, &fault);
            source->shape.trailing =
                count == source->shape.columns + 1 && fields[source->shape.columns].length == TEXT_NULL;
        }
    }
    free(fields);
    free(spare_memory);
    return status;
}

enum status text_source_open(const char *const *paths, uint32_t path_count, const char *const *column_names,
                             uint32_t columns, const struct text_options *options, struct text_source **out,
                             struct error *error)
{
    struct text_source *source = calloc(1, sizeof *source);
    if (!source)
        return error_out_of_memory(error, sizeof *source, "a source of text");
    pthread_mutex_init(&source->lock, NULL);
    source->paths = paths;
    source->path_count = path_count;
    source->column_names = column_names;
    source->header = options->header;
    source->shape = (struct text_shape){.delimiter = options->delimiter,
                                        .columns = columns,
                                        .null_text = options->null_text,
                                        .null_length = options->null_text ? strlen(options->null_text) : 0};
    if (options->null_text && !*options->null_text)
        source->shape.null_text = NULL;
    source->all_places = calloc(path_count + 1, sizeof *source->all_places);
    enum status status =
        source->all_places ? STATUS_OK : error_out_of_memory(error, path_count, "a source of text");
    for (uint32_t p = 0; p < path_count && status == STATUS_OK;
         p++) { /* all must be there before any is read */
        struct text_file *file;
        if (strcmp(paths[p], "-") == 0)
            continue;
        status = text_file_open(paths[p], &file, error);
        if (status != STATUS_OK)
            break;
        source->size += text_file_size(file);
        text_file_close(file);
    }
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

void text_source_close(struct text_source *source)
{
    if (!source)
        return;
    text_file_close(source->file);
    for (uint32_t p = 0; source->all_places && p < source->path_count; p++)
        free(source->all_places[p]);
    free(source->all_places);
    free(source->carry);
    pthread_mutex_destroy(&source->lock);
    free(source);
}

void text_source_progress(const struct text_source *source, uint64_t *done, uint64_t *all)
{
    struct text_source *const locked = (struct text_source *)source;
    pthread_mutex_lock(&locked->lock);
    *done = source->done + (source->file ? text_file_done(source->file) : 0);
    *all = source->size;
    pthread_mutex_unlock(&locked->lock);
}

/* The text of one block into block->own, whole rows; *bytes is 0 at the end of the file at hand. */
static enum status read_block(struct text_source *source, struct block_memory *memory, size_t *bytes,
                              uint64_t *first_line)
{
    struct error *const error = &source->error;
    size_t wanted = TEXT_BLOCK_BYTES, have = source->carry_bytes;
    bool open_quote = false;
    *bytes = 0;
    *first_line = source->line;
    while (wanted < have + 1)
        wanted *= 2;
    for (;; wanted *= 2) {
        uint64_t lines;
        size_t got = 0;
        RETURN_IF_ERROR(reserve(&memory->text, &memory->room, wanted + 1, error));
        if (source->carry_bytes) {
            memcpy(memory->text, source->carry, source->carry_bytes);
            source->carry_bytes = 0;
        }
        if (!source->ended) {
            RETURN_IF_ERROR(text_file_read(source->file, memory->text + have, wanted - have, &got, error));
            have += got;
            source->ended = have < wanted;
        }
        *bytes =
            text_rows_whole(memory->text, have, source->shape.delimiter, source->ended, &lines, &open_quote);
        if (source->ended && open_quote)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s:%llu: a quoted field that begins at or behind this line does not end",
                             source->paths[source->path], (unsigned long long)(source->line + lines));
        if (*bytes || source->ended) {
            source->line += lines;
            break;
        }
        if (wanted >= TEXT_ROW_BYTES)
            return error_set(
                error, STATUS_BAD_INPUT, "%s:%llu: the row is longer than %u MiB; is a quote missing?",
                source->paths[source->path], (unsigned long long)source->line, TEXT_ROW_BYTES >> 20);
    }
    source->carry_bytes = have - *bytes;
    RETURN_IF_ERROR(reserve(&source->carry, &source->carry_room, source->carry_bytes + 1, error));
    memcpy(source->carry, memory->text + *bytes, source->carry_bytes);
    return STATUS_OK;
}

static enum status next_text(struct text_source *source, struct text_block *block,
                             struct block_memory *memory, size_t *bytes, uint64_t *first_line,
                             const uint32_t **places)
{
    *bytes = 0;
    while (*bytes == 0 && source->file) {
        block->path = source->paths[source->path];
        *places = source->places;
        RETURN_IF_ERROR(read_block(source, memory, bytes, first_line));
        if (*bytes)
            break;
        source->done += text_file_done(source->file);
        text_file_close(source->file);
        source->file = NULL;
        if (++source->path < source->path_count)
            RETURN_IF_ERROR(begin_file(source));
    }
    block->number = source->number++;
    return STATUS_OK;
}

/* ---- Splitting, by each thread ---- */

static enum status fault_add(struct text_block *block, struct block_memory *memory, struct error *error,
                             const char *format, unsigned a, unsigned b)
{
    if (block->fault_count == memory->fault_room) {
        const size_t room = memory->fault_room ? 2 * memory->fault_room : 64;
        struct text_fault *grown = realloc(block->faults, room * sizeof *grown);
        if (!grown)
            return error_out_of_memory(error, room * sizeof *grown, "complaints");
        block->faults = grown;
        memory->fault_room = room;
    }
    struct text_fault *fault = &block->faults[block->fault_count++];
    fault->row = block->rows;
    snprintf(fault->complaint, sizeof fault->complaint, format, a, b);
    return STATUS_OK;
}

static enum status row_room(struct text_block *block, struct block_memory *memory, uint32_t columns,
                            struct error *error)
{
    if (block->rows < memory->row_room)
        return STATUS_OK;
    const size_t room = memory->row_room ? 2 * memory->row_room : 4096;
    struct text_field *fields = realloc(block->fields, room * columns * sizeof *fields);
    block->fields = fields ? fields : block->fields;
    const char **text = realloc(block->row_text, (room + 1) * sizeof *text);
    block->row_text = text ? text : block->row_text;
    uint64_t *lines = realloc(block->row_line, room * sizeof *lines);
    block->row_line = lines ? lines : block->row_line;
    if (!fields || !text || !lines)
        return error_out_of_memory(error, room * columns * sizeof *fields, "fields");
    memory->row_room = room;
    return STATUS_OK;
}

static enum status split_rows(const struct text_source *source, struct text_block *block,
                              struct block_memory *memory, size_t bytes, uint64_t line,
                              const uint32_t *places, struct error *error)
{
    const struct text_shape *shape = &source->shape;
    const char *at = memory->text, *const limit = at + bytes;
    const bool clean = text_is_utf8(at, bytes);
    char *spare = memory->spare;
    while (at < limit) {
        const char *end, *fault;
        uint64_t lines;
        RETURN_IF_ERROR(row_room(block, memory, shape->columns, error));
        struct text_field *fields = block->fields + (size_t)block->rows * shape->columns;
        const uint32_t count =
            text_row_split(at, limit, shape, memory->split, memory->split_room, &end, &spare, &lines, &fault);
        if (count == 1 && memory->split[0].length == TEXT_NULL && end - at <= 2 && shape->columns > 1) {
            at = end; /* an empty line */
            line += lines;
            continue;
        }
        block->row_text[block->rows] = at;
        block->row_line[block->rows] = line;
        if (fault)
            RETURN_IF_ERROR(fault_add(block, memory, error, fault, 0, 0));
        else if (count != shape->columns)
            RETURN_IF_ERROR(
                fault_add(block, memory, error, "has %u fields instead of %u", count, shape->columns));
        else if (!clean && !text_is_utf8(at, (size_t)(end - at)))
            RETURN_IF_ERROR(fault_add(block, memory, error, "is no UTF-8, or has a zero byte", 0, 0));
        else
            for (uint32_t f = 0; f < count; f++)
                fields[places[f]] = memory->split[f];
        block->rows++;
        at = end;
        line += lines;
    }
    if (block->rows)
        block->row_text[block->rows] = limit;
    return STATUS_OK;
}

enum status text_source_next(struct text_source *source, struct text_block *block, struct error *error)
{
    struct block_memory *memory = block->own;
    size_t bytes = 0;
    uint64_t line = 0;
    const uint32_t *places = NULL;
    if (!memory) {
        memory = block->own = calloc(1, sizeof *memory);
        if (memory) {
            memory->split_room = source->shape.columns + 1;
            memory->split = malloc(memory->split_room * sizeof *memory->split);
        }
        if (!memory || !memory->split)
            return error_out_of_memory(error, TEXT_BLOCK_BYTES, "a block of text");
    }
    block->rows = block->fault_count = 0;
    do {
        pthread_mutex_lock(&source->lock);
        if (source->status == STATUS_OK)
            source->status = next_text(source, block, memory, &bytes, &line, &places);
        const enum status status = source->status;
        if (status != STATUS_OK && error)
            *error = source->error;
        pthread_mutex_unlock(&source->lock);
        RETURN_IF_ERROR(status);
        if (bytes == 0)
            return STATUS_OK;
        size_t spare_room = 0;
        free(memory->spare);
        memory->spare = NULL;
        if (memchr(memory->text, '"', bytes))
            RETURN_IF_ERROR(reserve(&memory->spare, &spare_room, bytes + 1, error));
        RETURN_IF_ERROR(split_rows(source, block, memory, bytes, line, places, error));
    } while (block->rows == 0); /* empty lines alone */
    return STATUS_OK;
}

void text_block_free(struct text_block *block)
{
    struct block_memory *memory = block->own;
    if (memory) {
        free(memory->text);
        free(memory->spare);
        free(memory->split);
    }
    free(memory);
    free(block->fields);
    free(block->row_text);
    free(block->row_line);
    free(block->faults);
    *block = (struct text_block){0};
}
