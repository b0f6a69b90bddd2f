/* table_append.c: appends rows to a table; see writer.h.
 *
 * New rows get segments of their own, and old segments stay, with their files: an append costs what it adds; compaction
 * (compact.c) appends no rows, and lets only those stay that are before the first one that is not full. A column is
 * written anew as a whole, in the same segments, where its old values change: a new string has its place between old ones,
 * rows of a dimension were laid out anew, another codec is wanted, or all old values are NULL, whose stored values must be
 * within the range of the others. A table that is itself laid out anew, by levels or sorted, is written as one that is
 * loaded. Writing a column anew takes about 4 ns a value. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/column_span.h"
#include "storage/column/dictionary/stored_dictionary.h"

#include <stdlib.h>
#include <string.h>

void table_appended_free(struct table_writer *table)
{
    for (uint32_t c = 0; table->appended && c < table->table.column_count; c++)
        free(table->appended[c].codes);
    free(table->appended);
}

/* ---- Segments ---- */

void column_writer_span(struct table_writer *table, uint32_t column, uint32_t first, uint32_t count)
{
    struct column_writer *const writer = &table->columns[column];
    writer->span =
        (struct column_span){.generation = table->database->generation, .first = first, .count = count};
    writer->encoding.first = first;
    writer->encoding.identity.rows = writer->side_identity.rows = span_rows(&table->table, &writer->span);
}

/* The table's segments, and that no column has any yet. */
static enum status set_segments(struct table_writer *table, const uint32_t *rows, uint32_t count,
                                uint32_t first, struct error *error)
{
    free((void *)table->table.segment_rows);
    table->table.segment_rows = rows;
    table->table.segment_count = count;
    for (uint32_t c = 0; c < table->table.column_count; c++) {
        struct column_writer *const writer = &table->columns[c];
        RETURN_IF_ERROR(memory_grow(&writer->segment_state, count + 1ull, "a table", error));
        memset(writer->segment_state, SEGMENT_MISSING, count);
        column_writer_span(table, c, first, count - first);
    }
    return STATUS_OK;
}

enum status table_writer_segments(struct table_writer *table, const uint32_t *rows, uint32_t count,
                                  struct error *error)
{
    uint32_t *copy;
    RETURN_IF_ERROR(memory_take(&copy, (count + 1ull) * sizeof *copy, "a table's segments", error));
    memcpy(copy, rows, count * sizeof *copy);
    return set_segments(table, copy, count, 0, error);
}

static enum status begin(struct table_writer *table, uint32_t kept, struct error *error)
{
    const struct table *const old = table->old;
    uint64_t left = table->table.rows;
    uint32_t *rows;
    for (uint32_t s = 0; s < kept; s++)
        left -= old->segment_rows[s];
    const uint64_t count = kept + (left + SEGMENT_ROWS - 1) / SEGMENT_ROWS;
    if (count > TABLE_SEGMENTS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s would have more than %u segments; run `tessera compact` first", old->name,
                         TABLE_SEGMENTS_MAX);
    RETURN_IF_ERROR(memory_take(&rows, (count + 1) * sizeof *rows, "a table's segments", error));
    memcpy(rows, old->segment_rows, kept * sizeof *rows);
    for (uint64_t s = kept; s < count; s++, left -= SEGMENT_ROWS)
        rows[s] = left < SEGMENT_ROWS ? (uint32_t)left : SEGMENT_ROWS;
    table->kept = kept;
    return set_segments(table, rows, (uint32_t)count, kept, error);
}

enum status table_append_begin(struct table_writer *table, const struct table *old, uint32_t kept,
                               struct error *error)
{
    table->old = old;
    table->table.clustering = old->clustering;
    RETURN_IF_ERROR(
        memory_zeros(&table->appended, old->column_count * sizeof *table->appended, "a table", error));
    return begin(table, kept, error);
}

enum status table_append_anew(struct table_writer *table, struct error *error)
{
    if (!table->kept)
        return STATUS_OK;
    RETURN_IF_ERROR(begin(table, 0, error));
    for (uint32_t c = 0; c < table->table.column_count; c++)
        RETURN_IF_ERROR(table_writer_codec(table, c, table->old->columns[c].own_name, error));
    return STATUS_OK;
}

/* Whether a file ends before the segment. */
static bool files_end_at(const struct column_spans *files, const struct table *old, uint32_t segment)
{
    return segment == old->segment_count || files->list[spans_find(files, segment)].first == segment;
}

bool table_append_keeps(const struct table_writer *table, uint32_t column)
{
    if (!table->kept)
        return false;
    const struct appended_column *const appended = &table->appended[column];
    const struct column *const old = &table->old->columns[column];
    return !appended->codes && !appended->moved && !appended->recoded &&
           old->statistics.min <= old->statistics.max && files_end_at(&old->sides, table->old, table->kept) &&
           files_end_at(&column_encoding(old, old->own)->files, table->old, table->kept);
}

uint64_t table_writer_old_most(const struct table_writer *table)
{
    uint64_t rows = 0;
    for (uint32_t s = table->kept; table->old && s < table->old->segment_count; s++)
        rows += table->old->segment_rows[s];
    return rows < SEGMENT_ROWS ? rows : SEGMENT_ROWS;
}

void table_append_choice(struct table_writer *table, uint32_t column, struct codec_choice *choice)
{
    const struct column *const old = &table->old->columns[column];
    bool *const recoded = &table->appended[column].recoded;
    *recoded = choice->codec ? choice->codec->id != old->own : strcmp(choice->name, old->own_name) != 0;
    /* a codec of levels cannot hold positions in a table that has none any more */
    const struct column *const now = &table->table.columns[column];
    *recoded |= codec_needs_levels(codec_by_id(old->own)) && !choice->codec &&
                !(now->references && now->references->table->levels);
    if (!*recoded)
        choice->codec = codec_by_id(old->own);
}

enum status table_append_add(struct database_writer *writer, const struct table *old, uint64_t rows,
                             uint32_t columns, uint32_t kept, struct table_writer **out, struct error *error)
{
    struct column_schema *schemas;
    struct table_writer *table;
    RETURN_IF_ERROR(memory_take(&schemas, columns * sizeof *schemas, "a table", error));
    for (uint32_t c = 0; c < columns; c++)
        schemas[c] = old->columns[c].schema;
    enum status status = database_writer_add(writer, old->name, schemas, columns, rows, &table, error);
    free(schemas);
    RETURN_IF_ERROR(status);
    table->table.key = old->key;
    RETURN_IF_ERROR(table_append_begin(table, old, kept, error));
    for (uint32_t c = 0; c < columns; c++)
        RETURN_IF_ERROR(table_writer_codec(table, c, old->columns[c].own_name, error));
    *out = table;
    return STATUS_OK;
}

enum status database_writer_append(struct database_writer *writer, const char *name, uint64_t rows,
                                   struct table_writer **out, struct error *error)
{
    const struct table *old = catalogue_table(&writer->catalogue, name);
    *out = NULL;
    if (!old)
        return error_set(error, STATUS_BAD_INPUT, "%s has no table %.63s to append to; load it first",
                         writer->path, name);
    if (old->part.of)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s of %s is part %u of %u of a load, and rows cannot be appended to a part; "
                         "load all parts again",
                         name, writer->path, old->part.number, old->part.of);
    if (rows > TABLE_ROWS_MAX - old->rows)
        return error_set(error, STATUS_BAD_INPUT, "table %s would have more than %llu rows", name,
                         TABLE_ROWS_MAX);
    return table_append_add(writer, old, old->rows + rows, old->column_count,
                            old->levels ? 0 : old->segment_count, out, error);
}

/* ---- Rows that were not deleted ---- */

static enum status write_live(struct table_writer *table, uint32_t c, int32_t *values, uint64_t *validity,
                              struct error *error)
{
    struct old_rows left;
    RETURN_IF_ERROR(table_writer_old(table, c, values, validity, &left, error));
    for (uint32_t s = left.segment; s < table->table.segment_count; s++, left.rows = 0) {
        for (uint32_t r = left.rows; r < table->table.segment_rows[s]; r++)
            values[r] = 1;
        RETURN_IF_ERROR(table_writer_segment(table, c, s, values, NULL, error));
    }
    return STATUS_OK;
}

enum status table_append_live(struct table_writer *table, struct error *error)
{
    const struct column *const live = table->old ? table_live(&table->table) : NULL;
    const uint32_t c = live ? (uint32_t)(live - table->table.columns) : 0;
    const uint64_t most = table->table.rows < SEGMENT_ROWS ? table->table.rows : SEGMENT_ROWS;
    uint64_t *validity = NULL;
    if (!live || table->appended[c].taken)
        return STATUS_OK;
    int32_t *const values = segment_buffer(most * sizeof *values, "a segment", error);
    enum status status = values ? STATUS_OK : STATUS_MACHINE;
    status =
        AND_THEN(status, memory_take(&validity, (most + 63) / 64 * sizeof *validity, "a segment", error));
    status = AND_THEN(status, write_live(table, c, values, validity, error));
    free(validity);
    free(values);
    return status;
}

/* ---- Codes ---- */

static enum status translate(const struct dictionary *from, const struct dictionary *to, const char *column,
                             int32_t **codes, struct error *error)
{
    bool same = true;
    RETURN_IF_ERROR(memory_take(codes, ((size_t)from->count + 1) * sizeof **codes, "a dictionary", error));
    for (uint32_t code = 0; code < from->count; code++) {
        uint32_t length;
        const char *string = dictionary_string(from, code, &length);
        const int64_t found = dictionary_find(to, string, length);
        if (found < 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "column %s: its new dictionary lacks '%.*s', which the table's rows have",
                             column, (int)(length < 100 ? length : 100), string);
        (*codes)[code] = (int32_t)found;
        same &= found == code;
    }
    if (same) {
        free(*codes);
        *codes = NULL;
    }
    return STATUS_OK;
}

enum status table_appended_dictionary(struct table_writer *table, uint32_t column,
                                      const struct dictionary *dictionary, struct error *error)
{
    const struct column *old = &table->old->columns[column];
    struct stored_dictionary before;
    stored_dictionary_begin(table->database->path, old, &before);
    struct appended_column *const appended = &table->appended[column];
    enum status status = stored_dictionary_load(&before, 1, error);
    status = AND_THEN(status,
                      translate(&before.dictionary, dictionary, old->schema.name, &appended->codes, error));
    const struct column_span *const strings = spans_of(&old->sides, old->strings_generation);
    appended->same_strings = status == STATUS_OK && !appended->codes && strings->first < table->kept &&
                             before.dictionary.count == dictionary->count;
    stored_dictionary_close(&before);
    return status;
}

/* ---- Old rows ---- */

/* Fills the segments of the new table with old rows, one after the other. */
struct refill {
    struct table_writer *table;
    const struct column_data *data;
    uint32_t column;
    const int32_t *codes; /* the new code (or position) of each old one, or NULL */
    uint32_t strings;     /* the number of old ones */
    void *values;
    uint64_t *validity;
    uint64_t row;         /* the old one that is next */
    struct old_rows left; /* the segment that is being filled */
    struct chunk_reader reader;
};

/* Takes rows `from` to `from` + `count` of a tile, in which codes or positions are replaced; false if there is none for one of
 * them, as in a damaged file. */
static bool take_rows(struct refill *refill, const void *decoded, const uint32_t *valid, uint32_t from,
                      uint32_t count)
{
    const uint32_t bytes = refill->data->column->value_bytes, to = refill->left.rows;
    uint8_t *const values = (uint8_t *)refill->values + (size_t)to * bytes;
    memcpy(values, (const uint8_t *)decoded + (size_t)from * bytes, (size_t)count * bytes);
    int32_t *const codes = (int32_t *)(void *)values;
    for (uint32_t r = 0; refill->codes && r < count; r++) {
        if ((uint32_t)codes[r] >= refill->strings || refill->codes[codes[r]] < 0)
            return false;
        codes[r] = refill->codes[codes[r]];
    }
    for (uint32_t r = 0; valid && r < count; r++)
        if (!tile_row_valid(valid, from + r)) {
            refill->validity[(to + r) / 64] &= ~(UINT64_C(1) << (to + r) % 64);
            refill->left.nulls = true;
        }
    refill->left.rows += count;
    return true;
}

/* How many rows from the next one on stay, or go, as *stay says; at most `most`. */
static uint32_t next_rows(const struct refill *refill, uint32_t most, bool *stay)
{
    const uint64_t *const live = refill->table->live;
    uint32_t count = 1;
    *stay = !live || row_valid(live, refill->row);
    if (!live)
        return most;
    while (count < most && row_valid(live, refill->row + count) == *stay)
        count++;
    return count;
}

/* Writes the segment, and begins the next one. */
static enum status flush(struct refill *refill, struct error *error)
{
    struct old_rows *const left = &refill->left;
    RETURN_IF_ERROR(table_writer_segment(refill->table, refill->column, left->segment, refill->values,
                                         left->nulls ? refill->validity : NULL, error));
    memset(refill->validity, 0xff, ((size_t)left->rows + 63) / 64 * sizeof *refill->validity);
    *left = (struct old_rows){.segment = left->segment + 1};
    return cancel_check(error);
}

static enum status take_tile(struct refill *refill, uint32_t segment, uint32_t tile, struct error *error)
{
    const struct segment_data *const from = &refill->data->segments[segment];
    const uint32_t left = from->chunk.rows - tile * TILE_ROWS, rows = left < TILE_ROWS ? left : TILE_ROWS;
    const uint32_t *const valid = from->validity ? from->validity + tile * TILE_LANES : NULL;
    const uint32_t *const limits = refill->table->table.segment_rows;
    const struct column *const column = refill->data->column;
    const void *decoded;
    RETURN_IF_ERROR(chunk_reader_tile(&refill->reader, &from->chunk, tile, &decoded, error));
    for (uint32_t at = 0, count; at < rows; at += count, refill->row += count) {
        bool stay;
        count = next_rows(refill, rows - at, &stay);
        if (!stay)
            continue;
        const uint32_t room = limits[refill->left.segment] - refill->left.rows;
        count = count < room ? count : room;
        if (!take_rows(refill, decoded, valid, at, count))
            return error_set(
                error, STATUS_BAD_INPUT,
                "column %s.%s, segment %u, tile %u: %s; the file is damaged: load the table again",
                refill->table->table.name, column->schema.name, segment, tile,
                column->schema.references_table[0] ? "the referenced table has no such position"
                                                   : "a code is beyond its dictionary");
        if (refill->left.rows == limits[refill->left.segment])
            RETURN_IF_ERROR(flush(refill, error));
    }
    return STATUS_OK;
}

static enum status take_segments(struct refill *refill, struct error *error)
{
    const struct column_data *const data = refill->data;
    for (uint32_t s = 0; s < data->segment_count; s++)
        for (uint32_t tile = 0; tile < data->segments[s].chunk.tiles; tile++)
            RETURN_IF_ERROR(take_tile(refill, s, tile, error));
    return STATUS_OK;
}

static enum status refill_open(struct refill *refill, struct error *error)
{
    const uint64_t rows = refill->data->column->table->rows, most = rows < SEGMENT_ROWS ? rows : SEGMENT_ROWS,
                   words = (most + 63) / 64 * sizeof(uint64_t);
    refill->values = segment_buffer(most * refill->data->column->value_bytes + 1, "a segment", error);
    if (!refill->values)
        return STATUS_MACHINE;
    RETURN_IF_ERROR(memory_take(&refill->validity, words + 1, "a segment", error));
    memset(refill->validity, 0xff, words);
    return STATUS_OK;
}

static void refill_close(struct refill *refill)
{
    chunk_reader_close(&refill->reader);
    free(refill->values);
    free(refill->validity);
}

/* Writes old segments again, from `first` on; the rows that fill no segment go to the caller. */
static enum status write_again(struct table_writer *table, uint32_t c, uint32_t first, void *values,
                               uint64_t *validity, struct old_rows *left, struct error *error)
{
    const struct table_writer *const target =
        database_writer_appended(table->database, table->old->columns[c].schema.references_table);
    const struct appended_column *const appended = &table->appended[c];
    struct column_view view = {0};
    struct column_data *data = NULL;
    struct refill refill = {.table = table,
                            .column = c,
                            .codes = appended->moved ? target->moves : appended->codes,
                            .left = {.segment = first}};
    for (uint32_t s = 0; s < first; s++)
        refill.row += table->old->segment_rows[s];
    enum status status =
        column_view_open(table->database->path, &table->old->columns[c], first, &view, error);
    status = AND_THEN(
        status, column_data_read(table->database->path, &view.column, view.column.own, 1, &data, error));
    refill.data = data;
    refill.strings = appended->moved ? (uint32_t)target->move_count : view.dictionary.dictionary.count;
    status = AND_THEN(status, refill_open(&refill, error));
    status = AND_THEN(status, take_segments(&refill, error));
    *left = refill.left;
    if (status == STATUS_OK && left->rows) {
        memcpy(values, refill.values, (size_t)left->rows * view.column.value_bytes);
        memcpy(validity, refill.validity, ((size_t)left->rows + 63) / 64 * sizeof *validity);
    }
    refill_close(&refill);
    column_data_free(data);
    column_view_close(&view);
    return status;
}

/* The first segments of a column whose files stay count as written. */
static void keep_segments(struct table_writer *table, uint32_t c)
{
    struct column_writer *const writer = &table->columns[c];
    pthread_mutex_lock(&writer->lock);
    memset(writer->segment_state, SEGMENT_WRITTEN, table->kept);
    pthread_mutex_unlock(&writer->lock);
}

static enum status find_moves(struct table_writer *table, uint32_t column, struct error *error)
{
    struct table_writer *const target =
        database_writer_appended(table->database, table->old->columns[column].schema.references_table);
    if (!target || target == table)
        return STATUS_OK;
    pthread_mutex_lock(&table->database->lock);
    const enum status status = table_moves(target, error);
    pthread_mutex_unlock(&table->database->lock);
    table->appended[column].moved = status == STATUS_OK && target->moves != NULL;
    return status;
}

enum status table_writer_old(struct table_writer *table, uint32_t column, void *values, uint64_t *validity,
                             struct old_rows *left, struct error *error)
{
    *left = (struct old_rows){0};
    if (!table->old || column >= table->table.column_count || table->appended[column].taken)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: the old rows of column %u were asked for twice, or there are none",
                         table->table.name, column);
    table->appended[column].taken = true;
    RETURN_IF_ERROR(find_moves(table, column, error));
    const bool keeps = table_append_keeps(table, column);
    if (keeps)
        keep_segments(table, column);
    else
        column_writer_span(table, column, 0, table->table.segment_count);
    *left = (struct old_rows){.segment = keeps ? table->kept : 0};
    return left->segment < table->old->segment_count
               ? write_again(table, column, left->segment, values, validity, left, error)
               : STATUS_OK;
}

enum status table_append_old(struct table_writer *table, uint32_t column, struct error *error)
{
    const uint64_t most = table_writer_old_most(table);
    struct old_rows left;
    uint64_t *validity = NULL;
    void *const values =
        segment_buffer(most * table->table.columns[column].value_bytes + 1, "a segment", error);
    enum status status = values ? STATUS_OK : STATUS_MACHINE;
    status =
        AND_THEN(status, memory_take(&validity, (most + 63) / 64 * sizeof *validity, "a segment", error));
    status = AND_THEN(status, table_writer_old(table, column, values, validity, &left, error));
    if (status == STATUS_OK && left.rows)
        status =
            table_writer_segment(table, column, left.segment, values, left.nulls ? validity : NULL, error);
    free(validity);
    free(values);
    return status;
}
