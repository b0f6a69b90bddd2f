/* check.c: compares every byte of a database with its checksums, and every value with its statistics; see
 * database.h.
 *
 * Columns are checked in parallel. A fault is reported, and the check continues. Every chunk is decoded once
 * (a billion values a second a core), because a right checksum does not prove that the codec wrote the right
 * bytes. */
#include "storage/database/database.h"

#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/column/positions.h"
#include "storage/column/levels_file.h"
#include "storage/column/column_span.h"
#include "storage/column/statistics.h"
#include "storage/database/levels/check_levels.h"
#include "storage/database/database_files.h"
#include "storage/database/changes/live_rows.h"
#include "storage/index/index_file.h"

#include <pthread.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct check {
    const char *path;
    const struct catalogue *catalogue;
    const struct column **columns;
    uint64_t column_count;
    atomic_uint_fast64_t bytes_done;
    uint64_t bytes_total;
    struct progress *progress;
    pthread_mutex_t lock; /* protects the fields below */
    database_check_report *report;
    void *context;
    uint64_t faults;
    uint64_t first_column; /* the first column with a fault, in the catalogue's order */
    struct error first;    /* its first sentence */
};

static void report(struct check *check, const char *line, bool fault)
{
    pthread_mutex_lock(&check->lock);
    if (check->report)
        check->report(check->context, line, fault);
    pthread_mutex_unlock(&check->lock);
}

/* Reports a fault of the data, after which the check continues. Where the system refused, for example memory, nothing is
 * known of the data: then the check ends with this error. */
static enum status fault(struct check *check, uint64_t item, enum status status, const struct error *reason,
                         struct error *error)
{
    if (status == STATUS_INTERRUPTED || error_of_system(status, reason)) {
        if (error)
            *error = *reason;
        return status;
    }
    report(check, reason->text, true);
    pthread_mutex_lock(&check->lock);
    if (check->faults++ == 0 || item < check->first_column) {
        check->first_column = item;
        check->first = *reason;
    }
    pthread_mutex_unlock(&check->lock);
    return STATUS_OK;
}

/* ---- Side files ---- */

/* The column's domain: its values are 0 .. domain-1, or any values for DOMAIN_ANY. */
static uint64_t column_domain(const struct column *column, uint32_t strings)
{
    if (column->references)
        return table_positions(column->references->table);
    if (column_has_dictionary(&column->schema))
        return strings;
    return column->schema.type == TYPE_BOOL ? 2 : DOMAIN_ANY;
}

/* Reads the column's dictionary, if it has one, and tells how many strings it has; *good gets whether it can be read. */
static enum status check_dictionary(struct check *check, uint64_t item, const struct column *column,
                                    uint32_t *strings, bool *good, struct error *error)
{
    struct error reason = {0};
    struct stored_dictionary stored = {0};
    int64_t unsorted = -1;
    *strings = 0;
    *good = true;
    if (!column_has_dictionary(&column->schema))
        return STATUS_OK;
    stored_dictionary_begin(check->path, column, &stored);
    enum status status = stored_dictionary_load(&stored, 1, &reason);
    *good = status == STATUS_OK;
    if (*good && (unsorted = dictionary_unsorted(&stored.dictionary)) >= 0)
        status = error_set(&reason, STATUS_CHECK_FAILED,
                           "%s: string %lld of the dictionary is out of order; load the table again",
                           stored.file->path, (long long)unsorted);
    *strings = stored.dictionary.count;
    stored_dictionary_close(&stored);
    return status == STATUS_OK ? status : fault(check, item, status, &reason, error);
}

/* Checks all parts of a file, each by its checksum; *good becomes false if one is damaged. */
static enum status check_parts(struct check *check, uint64_t item, const struct column_file *file, bool *good,
                               struct error *error)
{
    struct error reason = {0};
    for (uint32_t p = 0; p < file->part_count; p++) {
        const enum status status = column_file_part_check(file, &file->parts[p], &reason);
        *good = *good && status == STATUS_OK;
        if (status != STATUS_OK)
            RETURN_IF_ERROR(fault(check, item, status, &reason, error));
    }
    return STATUS_OK;
}

static enum status check_domain(struct check *check, uint64_t item, const struct column *column,
                                uint32_t strings, struct error *error)
{
    struct error reason = {0};
    const struct column_statistics *statistics = &column->statistics;
    const uint64_t domain = column_domain(column, strings);
    if (domain == DOMAIN_ANY || statistics->min > statistics->max ||
        (statistics->min >= 0 && (uint64_t)statistics->max < domain))
        return STATUS_OK;
    const enum status status =
        error_set(&reason, STATUS_CHECK_FAILED,
                  "%s/" CATALOGUE_FILE ": column %s.%s has values outside of its dictionary or of the table "
                  "that it refers to; load the table again",
                  check->path, column->table->name, column->schema.name);
    return fault(check, item, status, &reason, error);
}

/* Checks the side files; *good gets whether it is good enough to check an encoding against it. */
static enum status check_side(struct check *check, uint64_t item, const struct column *column, bool *good,
                              struct error *error)
{
    uint32_t strings = 0;
    enum status status = STATUS_OK;
    *good = true;
    for (uint32_t i = 0; status == STATUS_OK && i < column->sides.count; i++) {
        struct error reason = {0};
        struct column_file *file = NULL;
        status = span_open(check->path, column, CODEC_NONE, &column->sides.list[i], &file, &reason);
        *good = *good && status == STATUS_OK;
        status = status == STATUS_OK ? check_parts(check, item, file, good, error)
                                     : fault(check, item, status, &reason, error);
        column_file_close(file);
    }
    if (status == STATUS_OK && *good)
        status = check_dictionary(check, item, column, &strings, good, error);
    return status == STATUS_OK && *good ? check_domain(check, item, column, strings, error) : status;
}

/* ---- Encodings ---- */

/* What all segments of an encoding are compared with, and what is found in them. */
struct values_check {
    const struct column_statistics *column;
    struct position_check references; /* of a foreign key to a table with levels; else all zeros */
    struct column_statistics found;
    int64_t wrong; /* the first tile whose values do not fit, or -1 */
    bool doubles;  /* the values are doubles */
    bool dangling; /* because a key is at a position without a row */
};

/* Looks at the values of a tile; true if they fit. The value of a NULL row must be in the column's range, because kernels
 * may use it before they look at its validity. */
static bool values_fit(struct values_check *values_check, const struct segment_data *segment, uint32_t tile,
                       const void *values)
{
    const struct column_statistics *column = values_check->column;
    const bool any = column->min <= column->max;
    const int64_t low = any ? column->min : 0, high = any ? column->max : 0;
    const struct chunk_view *chunk = &segment->chunk;
    const uint32_t left = chunk->rows - tile * TILE_ROWS, rows = left < TILE_ROWS ? left : TILE_ROWS;
    const uint32_t *validity = segment->validity ? segment->validity + tile * TILE_LANES : NULL;
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (uint32_t r = 0; r < rows; r++) {
        int64_t value = row_value(values, chunk->value_bytes, r);
        if (validity && !tile_row_valid(validity, r)) {
            if (value < low || value > high)
                return false;
            continue;
        }
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    if (segment->tile_min_max[2 * tile] != min || segment->tile_min_max[2 * tile + 1] != max)
        return false;
    statistics_merge(&values_check->found,
                     &(struct column_statistics){.min = min,
                                                 .max = max,
                                                 .bits = values_check->doubles ? statistics_bits(values, rows)
                                                                               : DOUBLE_BITS_NONE});
    values_check->dangling = values_check->references.rows &&
                             max < (int64_t)values_check->references.positions &&
                             position_check_tile(&values_check->references, values, validity, rows) < rows;
    return !values_check->dangling;
}

/* Decodes a segment, up to the first tile whose values do not fit. */
static enum status check_segment(struct values_check *values_check, const struct segment_data *segment,
                                 struct chunk_reader *reader, struct error *error)
{
    for (uint32_t tile = 0; tile < segment->chunk.tiles; tile++) {
        const void *values;
        RETURN_IF_ERROR(chunk_reader_tile(reader, &segment->chunk, tile, &values, error));
        if (values_fit(values_check, segment, tile, values))
            continue;
        values_check->wrong = tile;
        return STATUS_OK;
    }
    return STATUS_OK;
}

/* Compares what was found in all segments with the catalogue. */
static enum status compare_found(struct check *check, uint64_t item, const struct column *column,
                                 const struct values_check *values_check, const char *codec,
                                 struct error *error)
{
    struct error reason = {0};
    const struct column_statistics *const found = &values_check->found, *const known = &column->statistics;
    if (values_check->doubles &&
        (found->bits.finer < known->bits.finer || found->bits.lower < known->bits.lower)) {
        const enum status status = error_set(&reason, STATUS_CHECK_FAILED,
                                             "%s: column %s.%s, codec %s: its doubles have more bits than "
                                             "the catalogue says; load the table again",
                                             check->path, column->table->name, column->schema.name, codec);
        RETURN_IF_ERROR(fault(check, item, status, &reason, error));
    }
    if (found->min == known->min && found->max == known->max)
        return STATUS_OK;
    const enum status status = error_set(&reason, STATUS_CHECK_FAILED,
                                         "%s: column %s.%s, codec %s: its least and greatest values are not "
                                         "those in the catalogue; load the table again",
                                         check->path, column->table->name, column->schema.name, codec);
    return fault(check, item, status, &reason, error);
}

static enum status check_values(struct check *check, uint64_t item, const struct column *column,
                                const struct column_data *data, struct error *error)
{
    struct error reason = {0};
    struct values_check values_check = {
        .column = &column->statistics, .found = COLUMN_STATISTICS_NONE, .wrong = -1};
    values_check.doubles = column->schema.type == TYPE_DOUBLE && column->value_bytes == 8;
    struct chunk_reader reader = {0};
    enum status status =
        column->references && column->references->table->levels
            ? position_check_open(column->references->table, &values_check.references, &reason)
            : STATUS_OK;
    uint32_t s = 0;
    for (; status == STATUS_OK && values_check.wrong < 0 && s < data->segment_count && !cancel_requested();
         s++)
        status = check_segment(&values_check, &data->segments[s], &reader, &reason);
    position_check_close(&values_check.references);
    chunk_reader_close(&reader);
    if (status == STATUS_OK && values_check.wrong >= 0)
        status = error_set(
            &reason, STATUS_CHECK_FAILED,
            "%s: column %s.%s, codec %s, segment %u, tile %lld: %s; load the table again", check->path,
            column->table->name, column->schema.name, data->codec->name, s - 1, (long long)values_check.wrong,
            values_check.dangling ? "a key is at a position where the referenced table has no row"
                                  : "its values are not within its statistics");
    if (status != STATUS_OK)
        return fault(check, item, status, &reason, error);
    return cancel_requested() ? STATUS_OK
                              : compare_found(check, item, column, &values_check, data->codec->name, error);
}

/* Checks the parts one by one, so that each bad part is named; *good becomes false if one is damaged. */
static enum status check_file(struct check *check, uint64_t item, const struct column *column,
                              enum codec_id codec, const struct column_span *span, bool *good,
                              struct error *error)
{
    struct error reason = {0};
    struct column_file *file = NULL;
    uint64_t bytes = 0;
    enum status status = span_open(check->path, column, codec, span, &file, &reason);
    if (status != STATUS_OK) {
        *good = false;
        return fault(check, item, status, &reason, error);
    }
    status = check_parts(check, item, file, good, error);
    for (uint32_t p = 0; p < file->part_count; p++)
        bytes += file->parts[p].bytes;
    if (status == STATUS_OK && bytes != span->bytes) {
        status = error_set(&reason, STATUS_CHECK_FAILED,
                           "%s: its chunks have %llu bytes, not the catalogue's %llu; load the table again",
                           file->path, (unsigned long long)bytes, (unsigned long long)span->bytes);
        status = fault(check, item, status, &reason, error);
    }
    column_file_close(file);
    return status;
}

/* Checks the files; then opens the column as a reader would. */
static enum status check_encoding(struct check *check, uint64_t item, const struct column *column,
                                  const struct encoding_info *encoding, bool good_side, struct error *error)
{
    struct error reason = {0};
    struct column_data *data = NULL;
    bool good = good_side;
    for (uint32_t i = 0; i < encoding->files.count; i++)
        RETURN_IF_ERROR(
            check_file(check, item, column, encoding->codec, &encoding->files.list[i], &good, error));
    if (!good)
        return STATUS_OK;
    enum status status = column_data_read(check->path, column, encoding->codec, 1, &data, &reason);
    status = status == STATUS_OK ? check_values(check, item, column, data, error)
                                 : fault(check, item, status, &reason, error);
    column_data_free(data);
    return status;
}

/* ---- Indexes ---- */

/* Compares the index with the column's own encoding, whose faults were reported already. */
static enum status compare_index(struct check *check, uint64_t item, const struct column *column,
                                 const struct index_data *index, struct error *error)
{
    struct error reason = {0};
    struct column_data *data = NULL;
    enum status status = column_data_read(check->path, column, column->own, 1, &data, &reason);
    if (status != STATUS_OK && !error_of_system(status, &reason))
        return STATUS_OK;
    status = AND_THEN(status, index_file_compare(index, data, 1, &reason));
    column_data_free(data);
    return status == STATUS_OK ? status : fault(check, item, status, &reason, error);
}

/* Opens the index as a reader would, and compares it with its column. */
static enum status check_index(struct check *check, uint64_t item, const struct column *column,
                               bool good_side, struct error *error)
{
    struct error reason = {0};
    struct index_data *index = NULL;
    enum status status = index_file_read(check->path, column, 1, &index, &reason);
    if (status != STATUS_OK)
        status = fault(check, item, status, &reason, error);
    else if (good_side)
        status = compare_index(check, item, column, index, error);
    index_data_free(index);
    return status;
}

/* ---- Levels ---- */

/* Once for a table, with its key column. Values that cannot be read were reported already. */
static enum status check_levels(struct check *check, uint64_t item, const struct table *table,
                                struct error *error)
{
    struct error reason = {0};
    const enum status status = levels_check(check->path, table, &reason);
    return status == STATUS_OK ? status : fault(check, item, status, &reason, error);
}

/* Keys of a table whose levels cannot be read mean nothing, so nothing else is checked then. */
static enum status read_levels(struct check *check, struct error *error)
{
    struct error reason = {0};
    for (uint32_t t = 0; t < check->catalogue->table_count; t++) {
        const enum status status = levels_fill(check->path, &check->catalogue->tables[t], &reason);
        if (status == STATUS_OK)
            continue;
        RETURN_IF_ERROR(fault(check, 0, status, &reason, error));
        return error_set(error, status, "%s", reason.text);
    }
    return STATUS_OK;
}

/* ---- Deleted rows ---- */

/* Live rows reference live rows. Columns that cannot be read were reported already. */
static enum status check_deleted(struct check *check, uint64_t item, const struct column *key,
                                 struct error *error)
{
    const struct table *const own = key->table, *const referenced = key->references->table;
    struct live_rows live = {0}, referenced_live = {0};
    struct error reason = {0};
    uint64_t count = 0;
    enum status status = live_rows_read(check->path, own, &live, &reason);
    status = AND_THEN(status, live_rows_read(check->path, referenced, &referenced_live, &reason));
    status = AND_THEN(status, live_rows_dangling(check->path, key, &live, &referenced_live, &count, &reason));
    free(live.bits);
    free(referenced_live.bits);
    if (status != STATUS_OK)
        return status == STATUS_INTERRUPTED || error_of_system(status, &reason)
                   ? fault(check, item, status, &reason, error)
                   : STATUS_OK;
    if (!count)
        return STATUS_OK;
    status = error_set(&reason, STATUS_CHECK_FAILED,
                       "%s: column %s.%s: %llu row%s reference%s deleted rows of table %s; load the tables "
                       "again",
                       check->path, own->name, key->schema.name, (unsigned long long)count,
                       count == 1 ? "" : "s", count == 1 ? "s" : "", referenced->name);
    return fault(check, item, status, &reason, error);
}

/* ---- The whole database ---- */

static enum status check_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct check *check = context;
    const struct column *column = check->columns[item];
    bool good_side;
    RETURN_IF_ERROR(check_side(check, item, column, &good_side, error));
    for (uint32_t e = 0; e < column->encoding_count; e++) {
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(check_encoding(check, item, column, &column->encodings[e], good_side, error));
        uint64_t bytes = column->encodings[e].bytes;
        progress_report(check->progress, "checking", "bytes",
                        atomic_fetch_add(&check->bytes_done, bytes) + bytes, check->bytes_total);
    }
    if (column->index)
        RETURN_IF_ERROR(check_index(check, item, column, good_side, error));
    if (good_side && column->references && table_live(column->references->table))
        RETURN_IF_ERROR(check_deleted(check, item, column, error));
    if (column->table->levels && column == levels_key(column->table))
        RETURN_IF_ERROR(check_levels(check, item, column->table, error));
    return cancel_check(error);
}

/* Files beside the catalogue's: those that look like ours are counted, others named. */
struct foreign {
    struct check *check;
    uint64_t files, bytes;
};

static void look_at_file(void *context, const char *directory, const struct table *table, const char *name)
{
    struct foreign *foreign = context;
    char line[ERROR_TEXT_BYTES];
    struct stat stat_of;
    enum stored_file kind = name[0] ? stored_file_kind(table, name) : FILE_CURRENT;
    snprintf(line, sizeof line, "%s/%s", directory, name);
    if (kind == FILE_STALE) {
        foreign->files++;
        foreign->bytes += lstat(line, &stat_of) == 0 ? (uint64_t)stat_of.st_size : 0;
        return;
    }
    if (kind == FILE_UNKNOWN)
        snprintf(line, sizeof line, "%s/%s: not a file of this database; nothing reads it", directory, name);
    else if (!name[0] && !table)
        snprintf(line, sizeof line,
                 "%s: the directory of no table; the next writer removes it if it is empty", directory);
    else
        return;
    report(foreign->check, line, false);
}

static enum status report_foreign(struct check *check, struct error *error)
{
    struct foreign foreign = {.check = check};
    char line[ERROR_TEXT_BYTES];
    RETURN_IF_ERROR(stored_files_visit(check->path, check->catalogue, look_at_file, &foreign, error));
    if (!foreign.files)
        return STATUS_OK;
    snprintf(line, sizeof line,
             "%s: %llu file%s with %llu bytes %s not in the catalogue: a writer is at work or was killed, or "
             "a reader has an older state open; that reader removes them when it ends, or else the next "
             "change of the database does (a load, or --codec)",
             check->path, (unsigned long long)foreign.files, foreign.files == 1 ? "" : "s",
             (unsigned long long)foreign.bytes, foreign.files == 1 ? "is" : "are");
    report(check, line, false);
    return STATUS_OK;
}

static enum status list_columns(struct check *check, struct error *error)
{
    size_t count = 0;
    for (uint32_t t = 0; t < check->catalogue->table_count; t++)
        count += check->catalogue->tables[t].column_count;
    check->columns = calloc(count + 1, sizeof *check->columns);
    if (!check->columns)
        return error_out_of_memory(error, count * sizeof *check->columns, "the list of columns to check");
    for (uint32_t t = 0; t < check->catalogue->table_count; t++)
        for (uint32_t c = 0; c < check->catalogue->tables[t].column_count; c++) {
            const struct column *column = &check->catalogue->tables[t].columns[c];
            check->columns[check->column_count++] = column;
            for (uint32_t e = 0; e < column->encoding_count; e++)
                check->bytes_total += column->encodings[e].bytes;
        }
    return STATUS_OK;
}

enum status database_check(const char *path, unsigned threads, database_check_report *report_line,
                           void *context, struct progress *progress, struct error *error)
{
    struct catalogue catalogue;
    struct error reason = {0};
    int held;
    enum status status = catalogue_hold(path, &catalogue, &held, &reason);
    if (status != STATUS_OK) {
        if (report_line && !error_of_system(status, &reason))
            report_line(context, reason.text, true);
        if (error)
            *error = reason;
        return status;
    }
    struct check check = {.path = path,
                          .catalogue = &catalogue,
                          .report = report_line,
                          .context = context,
                          .progress = progress,
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    status = read_levels(&check, error);
    status = AND_THEN(status, list_columns(&check, error));
    status = AND_THEN(status, parallel_for(threads, check.column_count, check_column, &check, error));
    status = AND_THEN(status, report_foreign(&check, error));
    if (status == STATUS_OK && check.faults)
        status = error_set(error, STATUS_CHECK_FAILED, "%s", check.first.text);
    free(check.columns);
    state_release(path, held);
    catalogue_free(&catalogue);
    return status;
}
