/* table_writer.c: writes a new table's columns, dictionaries and segments; see writer.h.
 *
 * One call writes one segment of one column: range check, statistics, encoding, one write. Columns share
 * nothing. Segments of a column share only a few sums under a lock, so every thread of a loader may call it.
 * A call needs memory for the encoded segment, 4 MiB to count distinct values, and a copy of the values if
 * some are NULL. */
#include "storage/database/clustering/clustering.h"

#include "storage/base/memory.h"
#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/column/column_span.h"
#include "storage/column/levels_file.h"
#include "storage/database/database_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Finds the values that a column may have, and the key column that it references. */
static enum status find_domain(struct table_writer *table, uint32_t c, struct error *error)
{
    struct column *const column = (struct column *)&table->table.columns[c];
    const struct column_schema *const schema = &column->schema;
    uint64_t *const domain = &table->columns[c].domain;
    if (schema->references_table[0]) {
        const struct table *const referenced =
            strcmp(schema->references_table, table->table.name) == 0
                ? &table->table
                : database_writer_find(table->database, schema->references_table);
        *domain = table_positions(referenced);
        return table_column(referenced, schema->references_column, &column->references, error);
    }
    if (schema->type == TYPE_BOOL)
        *domain = 2;
    else if (schema->type == TYPE_STRING)
        *domain = (uint64_t)INT32_MAX + 1; /* until the dictionary is known */
    return STATUS_OK;
}

enum status table_writer_create(struct database_writer *database, const char *name,
                                const struct column_schema *columns, uint32_t column_count, uint64_t rows,
                                struct table_writer **out, struct error *error)
{
    struct table_writer *table = calloc(1, sizeof *table);
    struct column *described = calloc(column_count, sizeof *described);
    struct codec_choice choice;
    *out = table;
    if (!table || !described) {
        free(described);
        return error_out_of_memory(error, column_count * sizeof *described, "a table");
    }
    table->database = database;
    table->table = (struct table){.rows = rows, .columns = described, .column_count = column_count};
    memcpy(table->table.name, name, strlen(name) + 1);
    RETURN_IF_ERROR(memory_zeros(&table->columns, column_count * sizeof *table->columns, "a table", error));
    RETURN_IF_ERROR(table_segments_set(&table->table, error));
    RETURN_IF_ERROR(codec_choice_parse("auto", &choice, error));
    const struct column_span whole = {.generation = database->generation,
                                      .count = table->table.segment_count};
    for (uint32_t c = 0; c < column_count; c++) {
        described[c] = (struct column){.schema = columns[c],
                                       .value_bytes = column_schema_value_bytes(&columns[c]),
                                       .table = &table->table,
                                       .statistics = COLUMN_STATISTICS_NONE};
        struct column_writer *writer = &table->columns[c];
        pthread_mutex_init(&writer->lock, NULL);
        writer->span = whole;
        encoding_writer_open(&writer->encoding, database->path, &described[c], &choice, &writer->span,
                             &database->buffers);
        writer->statistics = COLUMN_STATISTICS_NONE;
        writer->domain = DOMAIN_ANY;
    }
    const struct table *const replaced = catalogue_table(&database->catalogue, name);
    for (uint32_t c = 0; c < column_count; c++) {
        struct column_writer *writer = &table->columns[c];
        RETURN_IF_ERROR(find_domain(table, c, error));
        const struct column *before = NULL;
        if (replaced && table_column(replaced, columns[c].name, &before, NULL) == STATUS_OK &&
            before->index) {
            writer->indexed = true;
            writer->wish = before->index->wish;
        }
        writer->segment_state = calloc(table->table.segment_count + 1, 1);
        described[c].own_name = strdup("auto");
        if (!writer->segment_state || !described[c].own_name)
            return error_out_of_memory(error, table->table.segment_count, "a table");
        char *path = NULL;
        writer->side_identity = column_identity(&described[c], CODEC_NONE, &whole);
        RETURN_IF_ERROR(
            column_path(database->path, &described[c], CODEC_NONE, database->generation, &path, error));
        enum status status = column_file_create(path, &writer->side_identity, &writer->side, error);
        free(path);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

void table_writer_free(struct table_writer *table)
{
    if (!table)
        return;
    for (uint32_t c = 0; table->columns && c < table->table.column_count; c++) {
        struct column_writer *writer = &table->columns[c];
        encoding_writer_close(&writer->encoding);
        column_file_writer_free(writer->side);
        pthread_mutex_destroy(&writer->lock);
        distinct_free(&writer->distinct);
        free(writer->segment_state);
    }
    table_sorter_free(table->sorter);
    cell_places_free(table);
    free(table->positions);
    free(table->moves);
    table_appended_free(table);
    free(table->columns);
    table_free(&table->table);
    free(table);
}

void table_writer_key(struct table_writer *table, const struct key_columns *key)
{
    table->table.key = *key;
}

enum status table_writer_column(const struct table_writer *table, uint32_t column, struct error *error)
{
    if (column < table->table.column_count)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "table %s: there is no column number %u; it has %u",
                     table->table.name, column, table->table.column_count);
}

/* The column's name, for error sentences. */
static const char *column_name(const struct table_writer *table, uint32_t column)
{
    return table->table.columns[column].schema.name;
}

void table_writer_part(struct table_writer *table, const struct table_part *part)
{
    table->table.part = *part;
}

enum status table_writer_codec(struct table_writer *table, uint32_t column, const char *name,
                               struct error *error)
{
    struct codec_choice choice;
    RETURN_IF_ERROR(table_writer_column(table, column, error));
    RETURN_IF_ERROR(codec_choice_parse(name, &choice, error));
    struct column *described = (struct column *)&table->table.columns[column];
    struct encoding_writer *encoding = &table->columns[column].encoding;
    if (encoding->file)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: column %s: its codec was set after its first segment; set it before",
                         table->table.name, described->schema.name);
    char *own_name = strdup(name);
    if (!own_name)
        return error_out_of_memory(error, strlen(name), "a codec's name");
    free((void *)described->own_name);
    described->own_name = own_name;
    choice.name = own_name;
    if (table->kept)
        table_append_choice(table, column, &choice);
    encoding_writer_close(encoding);
    encoding_writer_open(encoding, table->database->path, described, &choice, &table->columns[column].span,
                         &table->database->buffers);
    return STATUS_OK;
}

enum status table_writer_dictionary(struct table_writer *table, uint32_t column,
                                    const struct dictionary *dictionary, struct error *error)
{
    bool blocks;
    RETURN_IF_ERROR(table_writer_column(table, column, error));
    struct column_writer *writer = &table->columns[column];
    if (!column_has_dictionary(&table->table.columns[column].schema) || writer->dictionary_given)
        return error_set(
            error, STATUS_BAD_INPUT, "table %s: column %s: %s", table->table.name, column_name(table, column),
            writer->dictionary_given ? "it was given a dictionary twice; give it once"
                                     : "only a string column that is no foreign key has a dictionary");
    if (dictionary->count > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: column %s: %u different strings are more than the %d that codes can name",
                         table->table.name, column_name(table, column), dictionary->count, INT32_MAX);
    int64_t unsorted = dictionary_unsorted(dictionary);
    if (unsorted >= 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: column %s: string %lld of its dictionary is not greater than the one "
                         "before; sort it by bytes, without duplicates",
                         table->table.name, column_name(table, column), (long long)unsorted);
    if (dictionary->count && dictionary->starts[0] != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: column %s: its dictionary does not begin at byte 0", table->table.name,
                         column_name(table, column));
    if (table->old)
        RETURN_IF_ERROR(table_appended_dictionary(table, column, dictionary, error));
    if (table_append_keeps(table, column) && table->appended[column].same_strings)
        blocks = table->old->columns[column].dictionary_blocks;
    else
        RETURN_IF_ERROR(stored_dictionary_write(writer->side, dictionary, &blocks, error));
    pthread_mutex_lock(&writer->lock);
    writer->dictionary_given = true;
    writer->dictionary_blocks = blocks;
    writer->domain = dictionary->count;
    pthread_mutex_unlock(&writer->lock);
    return STATUS_OK;
}

enum status table_writer_check(const struct table_writer *table, struct error *error)
{
    if (table->sorter && !table_sorter_done(table->sorter))
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s was to be sorted and was not (table_writer_sort); nothing was changed",
                         table->table.name);
    for (uint32_t c = 0; c < table->table.column_count; c++) {
        const struct column_writer *writer = &table->columns[c];
        const char *name = column_name(table, c);
        for (uint32_t s = 0; s < table->table.segment_count; s++)
            if (writer->segment_state[s] < SEGMENT_NULLS)
                return error_set(error, STATUS_BAD_INPUT,
                                 "table %s: column %s: segment %u of %u was not written; nothing was changed",
                                 table->table.name, name, s, table->table.segment_count);
        if (!column_has_dictionary(&table->table.columns[c].schema))
            continue;
        if (!writer->dictionary_given)
            return error_set(error, STATUS_BAD_INPUT,
                             "table %s: column %s: its dictionary was not written; nothing was changed",
                             table->table.name, name);
        if (writer->statistics.max >= 0 && (uint64_t)writer->statistics.max >= writer->domain)
            return error_set(error, STATUS_BAD_INPUT,
                             "table %s: column %s: code %" PRId64 " is beyond its dictionary of %" PRIu64
                             " strings; nothing was changed",
                             table->table.name, name, writer->statistics.max, writer->domain);
    }
    return STATUS_OK;
}

static enum status keep_files(const struct column_spans *files, uint32_t segments, struct column_spans *kept,
                              struct error *error)
{
    for (uint32_t i = 0; i < files->count && files->list[i].first < segments; i++)
        RETURN_IF_ERROR(spans_add(kept, &files->list[i], error));
    return STATUS_OK;
}

/* The files of the column: old ones that stay, and the new one. */
static enum status list_files(const struct table_writer *table, uint32_t column, struct column *described,
                              struct encoding_info *info, struct error *error)
{
    const struct column_writer *const writer = &table->columns[column];
    const struct column *const old = table_append_keeps(table, column) ? &table->old->columns[column] : NULL;
    struct column_span span = writer->span;
    const bool adds = !old || span.count;
    if (old) {
        RETURN_IF_ERROR(keep_files(&column_encoding(old, old->own)->files, table->kept, &info->files, error));
        RETURN_IF_ERROR(keep_files(&old->sides, table->kept, &described->sides, error));
    }
    if (adds)
        RETURN_IF_ERROR(spans_add(&described->sides, &span, error));
    span.bytes = writer->encoding.bytes;
    described->strings_generation = !column_has_dictionary(&described->schema)
                                        ? described->sides.list[0].generation
                                    : old && table->appended[column].same_strings ? old->strings_generation
                                                                                  : span.generation;
    if (adds)
        RETURN_IF_ERROR(spans_add(&info->files, &span, error));
    info->bytes = spans_bytes(&info->files);
    return STATUS_OK;
}

/* The statistics of old segments that stay, but for the number of different values. Of some of them only extrema and NULLs are
 * known exactly: deleted rows, which a compaction left out, may have had others. */
static enum status kept_statistics(const struct table_writer *table, uint32_t column,
                                   struct column_statistics *kept, struct error *error)
{
    const struct column *const old = table->old ? &table->old->columns[column] : NULL;
    bool nulls;
    *kept = COLUMN_STATISTICS_NONE;
    if (!table_append_keeps(table, column))
        return STATUS_OK;
    if (table->kept == table->old->segment_count) {
        *kept = old->statistics;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(segments_statistics(table->database->path, old, 0, table->kept, kept, &nulls, error));
    kept->runs = old->statistics.runs;
    return STATUS_OK;
}

/* The number of different values among old and new ones is not known: at most it is the sum. If old segments were written
 * again, no rows are new. */
static void finish_statistics(const struct table_writer *table, uint32_t column,
                              const struct column_statistics *kept, struct column *described)
{
    const struct column_writer *const writer = &table->columns[column];
    struct column_statistics *const statistics = &described->statistics;
    uint64_t distinct = distinct_count(&writer->distinct);
    *statistics = writer->statistics;
    if (table_append_keeps(table, column)) {
        const uint64_t old = table->old->columns[column].statistics.distinct;
        distinct = table->kept == table->old->segment_count ? distinct + old : old;
        statistics_merge(statistics, kept);
        statistics->runs = statistics->runs < table->table.rows ? statistics->runs : table->table.rows;
    }
    statistics->distinct = statistics_plausible_distinct(statistics, distinct, table->table.rows);
}

/* A segment of NULLs has a value that is in range, of old rows, too. */
static enum status write_nulls(struct table_writer *table, uint32_t column,
                               const struct column_statistics *kept, struct error *error)
{
    struct column_statistics all = table->columns[column].statistics;
    statistics_merge(&all, kept);
    return segments_write_nulls(table, column, all.min <= all.max ? all.min : 0, error);
}

enum status table_writer_finish_column(struct table_writer *table, uint32_t column, struct error *error)
{
    struct column_writer *writer = &table->columns[column];
    struct column *described = (struct column *)&table->table.columns[column];
    struct encoding_info *info;
    struct column_statistics kept;
    RETURN_IF_ERROR(kept_statistics(table, column, &kept, error));
    RETURN_IF_ERROR(write_nulls(table, column, &kept, error));
    RETURN_IF_ERROR(encoding_writer_finish(&writer->encoding, error));
    if (table->table.levels && described == levels_key(&table->table))
        RETURN_IF_ERROR(levels_add(table->table.levels, writer->side, error));
    RETURN_IF_ERROR(column_file_finish(writer->side, error));
    RETURN_IF_ERROR(memory_zeros(&info, sizeof *info, "a column", error));
    described->encodings = info;
    described->encoding_count = 1;
    described->own = info->codec = writer->encoding.identity.codec;
    described->chosen[writer->encoding.choice.chooser] = info->codec;
    described->chosen[CHOOSER_NONE] = CODEC_NONE;
    described->dictionary_blocks = writer->dictionary_blocks;
    finish_statistics(table, column, &kept, described);
    return list_files(table, column, described, info, error);
}
