/* source_text.c: .tbl files as a source of rows (source.h): part.tbl, supplier.tbl, ... as `tessera ssb
 * generate` and ssb-dbgen write them. lineorder.tbl is read twice: once for its words and its largest key,
 * because codes of a sorted dictionary cannot be known before all words are, and once for its rows. */
#define _GNU_SOURCE
#include "ssb/data/source.h"

#include "loader/text/delimited.h"
#include "loader/table/dictionary_builder.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct text_source {
    struct ssb_source base;
    struct delimited_file *files[SSB_TABLES];
    const char *names[SSB_TABLES][SSB_COLUMNS_MAX]; /* of columns, for messages */
};

struct ssb_cursor {
    const struct ssb_source *source;
    const struct ssb_table_info *info;
    struct delimited_reader *reader;
    uint64_t next; /* the row that the reader stands before */
};

/* ---- Cursors ---- */

static void cursor_close(struct ssb_cursor *cursor)
{
    if (!cursor)
        return;
    delimited_reader_destroy(cursor->reader);
    free(cursor);
}

static enum status cursor_open(const struct ssb_source *source, enum ssb_table table, struct ssb_cursor **out,
                               struct error *error)
{
    *out = NULL;
    struct ssb_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return error_out_of_memory(error, sizeof *cursor, "reading a text file");
    cursor->source = source;
    cursor->info = ssb_table_info(table);
    const struct delimited_file *file = ((const struct text_source *)source)->files[table];
    enum status status = delimited_reader_create(file, &cursor->reader, error);
    if (status != STATUS_OK) {
        cursor_close(cursor);
        return status;
    }
    *out = cursor;
    return STATUS_OK;
}

static enum status go_to(struct ssb_cursor *cursor, uint64_t row, struct error *error)
{
    if (cursor->next != row)
        RETURN_IF_ERROR(delimited_seek(cursor->reader, row, error));
    cursor->next = row;
    return STATUS_OK;
}

static enum status next_fields(struct ssb_cursor *cursor, struct delimited_field *fields, struct error *error)
{
    cursor->next++;
    return delimited_next(cursor->reader, fields, error);
}

static enum status number_of(const struct ssb_cursor *cursor, uint32_t column,
                             const struct delimited_field *fields, int64_t *value, struct error *error)
{
    bool wide = cursor->info->columns[column].wide;
    return delimited_integer(cursor->reader, column, &fields[column], wide ? INT64_MIN : INT32_MIN,
                             wide ? INT64_MAX : INT32_MAX, value, error);
}

static enum status read_row(struct ssb_cursor *cursor, uint64_t row, struct ssb_values *values,
                            struct error *error)
{
    struct delimited_field fields[SSB_COLUMNS_MAX];
    RETURN_IF_ERROR(go_to(cursor, row, error));
    RETURN_IF_ERROR(next_fields(cursor, fields, error));
    for (uint32_t c = 0; c < cursor->info->column_count; c++)
        if (cursor->info->columns[c].number) {
            RETURN_IF_ERROR(number_of(cursor, c, fields, &values->numbers[c], error));
        } else {
            values->strings[c] = fields[c].text;
            values->lengths[c] = fields[c].length;
        }
    return STATUS_OK;
}

/* Column c of the row, into place `at` of its array. */
static enum status store_field(const struct ssb_cursor *cursor, uint32_t c,
                               const struct delimited_field *fields, void *column, uint64_t at,
                               struct error *error)
{
    if (!cursor->info->columns[c].number) {
        int32_t code = dictionary_builder_find(cursor->source->words[c], fields[c].text, fields[c].length);
        if (code < 0)
            return delimited_complain(
                cursor->reader, c, &fields[c], error,
                "was not there when the file was read first; load it again when nothing writes "
                "to it");
        ((int32_t *)column)[at] = code;
        return STATUS_OK;
    }
    int64_t value;
    RETURN_IF_ERROR(number_of(cursor, c, fields, &value, error));
    if (cursor->info->columns[c].wide)
        ((int64_t *)column)[at] = value;
    else
        ((int32_t *)column)[at] = (int32_t)value;
    return STATUS_OK;
}

static enum status read_lineorder(struct ssb_cursor *cursor, uint64_t first_row, uint64_t rows,
                                  void *const columns[SSB_COLUMNS_MAX], struct error *error)
{
    struct delimited_field fields[SSB_COLUMNS_MAX];
    RETURN_IF_ERROR(go_to(cursor, first_row, error));
    for (uint64_t r = 0; r < rows; r++) {
        RETURN_IF_ERROR(next_fields(cursor, fields, error));
        for (uint32_t c = 0; c < LO_COLUMNS; c++)
            if (columns[c])
                RETURN_IF_ERROR(store_field(cursor, c, fields, columns[c], r, error));
    }
    return STATUS_OK;
}

/* ---- The source ---- */

static const char *path(const struct ssb_source *source, enum ssb_table table)
{
    return delimited_path(((const struct text_source *)source)->files[table]);
}

static void place(const struct ssb_source *source, enum ssb_table table, uint64_t row,
                  char text[SSB_PLACE_BYTES])
{
    snprintf(text, SSB_PLACE_BYTES, "%s:%" PRIu64, path(source, table), row + 1);
}

static void close_text(struct ssb_source *base)
{
    struct text_source *source = (struct text_source *)base;
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        delimited_close(source->files[table]);
    free(source);
}

static const struct ssb_source_methods methods = {
    .cursor_open = cursor_open,
    .cursor_close = cursor_close,
    .row = read_row,
    .lineorder = read_lineorder,
    .place = place,
    .path = path,
    .close = close_text,
};

static enum status open_file(struct text_source *source, const char *directory, enum ssb_table table,
                             unsigned threads, struct error *error)
{
    const struct ssb_table_info *info = ssb_table_info(table);
    char file[PATH_MAX];
    if (snprintf(file, sizeof file, "%s/%s.tbl", directory, info->name) >= PATH_MAX)
        return error_set(error, STATUS_BAD_INPUT, "the path %s is too long", directory);
    if (access(file, F_OK) != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s is missing; `tessera ssb generate --sf N --out %s` makes the five .tbl files",
                         file, directory);
    for (uint32_t c = 0; c < info->column_count; c++)
        source->names[table][c] = info->columns[c].name;
    RETURN_IF_ERROR(delimited_open(file, '|', source->names[table], info->column_count, threads,
                                   &source->files[table], error));
    source->base.rows[table] = delimited_lines(source->files[table]);
    return STATUS_OK;
}

/* ---- The first reading of lineorder ---- */

struct reader_of_words {
    struct ssb_cursor *cursor;
    struct dictionary_builder *words[LO_COLUMNS];
    int64_t largest_orderkey;
};

struct reading {
    struct text_source *source;
    struct reader_of_words *readers; /* one a thread */
    struct progress *progress;
    atomic_uint_fast64_t done;
};

static enum status read_words(void *context, uint64_t range, unsigned thread, struct error *error)
{
    struct reading *reading = context;
    struct reader_of_words *reader = &reading->readers[thread];
    uint64_t lines = reading->source->base.rows[SSB_LINEORDER];
    uint64_t first = range * SSB_RANGE_ROWS,
             rows = lines - first < SSB_RANGE_ROWS ? lines - first : SSB_RANGE_ROWS;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(go_to(reader->cursor, first, error));
    for (uint64_t r = 0; r < rows; r++) {
        struct delimited_field fields[LO_COLUMNS];
        RETURN_IF_ERROR(next_fields(reader->cursor, fields, error));
        int64_t orderkey;
        RETURN_IF_ERROR(number_of(reader->cursor, LO_ORDERKEY, fields, &orderkey, error));
        if (orderkey > reader->largest_orderkey)
            reader->largest_orderkey = orderkey;
        for (uint32_t c = 0; c < LO_COLUMNS; c++) {
            int32_t code;
            if (reader->words[c])
                RETURN_IF_ERROR(
                    dictionary_builder_add(reader->words[c], fields[c].text, fields[c].length, &code, error));
        }
    }
    progress_report(reading->progress, "reading words", "rows", atomic_fetch_add(&reading->done, rows) + rows,
                    lines);
    return STATUS_OK;
}

static enum status reader_open(struct reading *reading, unsigned thread, struct error *error)
{
    struct reader_of_words *reader = &reading->readers[thread];
    RETURN_IF_ERROR(cursor_open(&reading->source->base, SSB_LINEORDER, &reader->cursor, error));
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        if (!reader->cursor->info->columns[c].number)
            RETURN_IF_ERROR(dictionary_builder_create(&reader->words[c], error));
    return STATUS_OK;
}

static enum status merge_words(struct ssb_source *source, const struct reader_of_words *reader,
                               struct error *error)
{
    if (reader->largest_orderkey > source->largest_orderkey)
        source->largest_orderkey = reader->largest_orderkey;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < LO_COLUMNS && status == STATUS_OK; c++) {
        if (!reader->words[c])
            continue;
        uint64_t bytes = ((uint64_t)dictionary_builder_count(reader->words[c]) + 1) * sizeof(int32_t);
        int32_t *codes = malloc(bytes);
        status = codes ? dictionary_builder_merge(source->words[c], reader->words[c], codes, error)
                       : error_out_of_memory(error, bytes, "merging words");
        free(codes);
    }
    return status;
}

static enum status read_all_words(struct text_source *source, unsigned threads, struct progress *progress,
                                  struct error *error)
{
    uint64_t ranges = (source->base.rows[SSB_LINEORDER] + SSB_RANGE_ROWS - 1) / SSB_RANGE_ROWS;
    threads = threads > ranges ? (unsigned)ranges : threads;
    struct reading reading = {.source = source, .progress = progress};
    reading.readers = calloc(threads, sizeof *reading.readers);
    if (!reading.readers)
        return error_out_of_memory(error, threads * sizeof *reading.readers, "reading a text file");
    const struct ssb_table_info *info = ssb_table_info(SSB_LINEORDER);
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < LO_COLUMNS && status == STATUS_OK; c++)
        if (!info->columns[c].number)
            status = ssb_source_words_create(&source->base, c, error);
    for (unsigned t = 0; t < threads && status == STATUS_OK; t++)
        status = reader_open(&reading, t, error);
    if (status == STATUS_OK)
        status = parallel_for(threads, ranges, read_words, &reading, error);
    for (unsigned t = 0; t < threads; t++) {
        if (status == STATUS_OK)
            status = merge_words(&source->base, &reading.readers[t], error);
        for (uint32_t c = 0; c < LO_COLUMNS; c++)
            dictionary_builder_destroy(reading.readers[t].words[c]);
        cursor_close(reading.readers[t].cursor);
    }
    free(reading.readers);
    for (uint32_t c = 0; c < LO_COLUMNS && status == STATUS_OK; c++)
        if (source->base.words[c])
            status = ssb_source_words_sort(&source->base, c, error);
    return status;
}

enum status ssb_source_read(const char *directory, unsigned threads, struct progress *progress,
                            struct ssb_source **out, struct error *error)
{
    *out = NULL;
    struct text_source *source = calloc(1, sizeof *source);
    if (!source)
        return error_out_of_memory(error, sizeof *source, "reading text files");
    source->base.methods = &methods;
    source->base.largest_orderkey = INT64_MIN;
    enum status status = STATUS_OK;
    for (enum ssb_table table = 0; table < SSB_TABLES && status == STATUS_OK; table++)
        status = open_file(source, directory, table, threads, error);
    if (status == STATUS_OK)
        status = read_all_words(source, threads ? threads : parallel_threads_available(), progress, error);
    if (status != STATUS_OK) {
        ssb_source_close(&source->base);
        return status;
    }
    *out = &source->base;
    return STATUS_OK;
}
