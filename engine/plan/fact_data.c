/* fact_data.c: see fact_data.h. */
#include "engine/plan/fact_data.h"

#include "storage/codec/chunk_reader.h"
#include "storage/codec/codec_spec.h"
#include "storage/column/positions.h"
#include "storage/database/writer.h"

/* Kernels use positions as indices without a test, and codes become strings. So all stored values are checked here
 * once, because a file may be damaged. */
struct index_check {
    const struct column_data *data;
    uint64_t limit;                   /* values must be less */
    struct position_check references; /* of a foreign key */
};

static enum status wrong_value(const struct column *column, uint64_t segment, uint32_t tile, uint32_t value,
                               uint64_t limit, struct error *error)
{
    return column->references
               ? error_set(
                     error, STATUS_BAD_INPUT,
                     "column %s.%s, segment %llu, tile %u points at position %u of %s, where no row is; "
                     "the file is damaged: load the table again",
                     column->table->name, column->schema.name, (unsigned long long)segment, tile, value,
                     column->references->table->name)
               : error_set(
                     error, STATUS_BAD_INPUT,
                     "column %s.%s, segment %llu, tile %u points at string %u of its dictionary, which has "
                     "%llu; the file is damaged: load the table again",
                     column->table->name, column->schema.name, (unsigned long long)segment, tile, value,
                     (unsigned long long)limit);
}

/* Every value of a tile is used as an index, also those of NULLs and after the last row; keys that are not NULL must have
 * a row, too. */
static enum status check_tile(const struct index_check *check, uint64_t segment, uint32_t tile,
                              const void *values, struct error *error)
{
    const struct segment_data *data = &check->data->segments[segment];
    const struct column *column = check->data->column;
    const uint32_t left = data->chunk.rows - tile * TILE_ROWS, rows = left < TILE_ROWS ? left : TILE_ROWS;
    const uint32_t *const value = values;
    const uint32_t highest = position_highest(value, TILE_ROWS);
    if (highest >= check->limit)
        return wrong_value(column, segment, tile, highest, check->limit, error);
    if (!check->references.rows)
        return STATUS_OK;
    const uint32_t row = position_check_tile(
        &check->references, values, data->validity ? data->validity + (size_t)tile * TILE_LANES : NULL, rows);
    return row == rows ? STATUS_OK : wrong_value(column, segment, tile, value[row], check->limit, error);
}

/* A part of a segment, so that threads share the last one too. It has whole blocks of byte streams. */
#define PART_TILES 1024u
#define PARTS      (SEGMENT_ROWS / TILE_ROWS / PART_TILES)

static enum status check_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct index_check *check = context;
    const uint64_t segment = item / PARTS;
    const struct chunk_view *chunk = &check->data->segments[segment].chunk;
    const uint32_t first = (uint32_t)(item % PARTS) * PART_TILES;
    struct chunk_reader reader = {0};
    enum status status = STATUS_OK;
    (void)thread;
    for (uint32_t tile = first; status == STATUS_OK && tile < first + PART_TILES && tile < chunk->tiles;
         tile++) {
        const void *values;
        status = chunk_reader_tile(&reader, chunk, tile, &values, error);
        if (status == STATUS_OK)
            status = check_tile(check, segment, tile, values, error);
    }
    chunk_reader_close(&reader);
    return status;
}

static enum status check_indices(const struct column_data *data, unsigned threads, struct error *error)
{
    const struct column *column = data->column;
    struct index_check check = {.data = data};
    const struct dictionary *dictionary;
    RETURN_IF_ERROR(column_dictionary(column, threads, &dictionary, error));
    check.limit = dictionary ? dictionary->count : 0;
    if (column->references) {
        RETURN_IF_ERROR(position_check_open(column->references->table, &check.references, error));
        check.limit = check.references.positions;
    }
    if (check.limit == 0)
        check.limit = 1; /* every value is NULL and stored as 0 */
    const enum status status =
        parallel_for(threads, (uint64_t)data->segment_count * PARTS, check_part, &check, error);
    position_check_close(&check.references);
    return status;
}

enum status fact_data_open(struct database *database, const struct column *column, const char *codec,
                           unsigned threads, struct fact_data *opened, struct error *error)
{
    enum codec_id id = column->own;
    struct codec_choice choice;
    enum codec_spec_part said;
    *opened = (struct fact_data){0};
    RETURN_IF_ERROR(codec_spec_find(codec, column->schema.name, &choice, &said, error));
    if (said != CODEC_SPEC_NOTHING)
        RETURN_IF_ERROR(database_encode(database, column, &choice, threads, &id, error));
    RETURN_IF_ERROR(column_data_open(database, column, id, threads, &opened->data, error));
    column_data_widths(opened->data, &opened->width_low, &opened->width_high);
    for (uint32_t s = 0; s < opened->data->segment_count; s++)
        opened->nullable |= opened->data->segments[s].validity != NULL;
    if ((!column->references && !column_has_dictionary(&column->schema)) || opened->data->positions_checked)
        return STATUS_OK;
    const enum status status = check_indices(opened->data, threads, error);
    opened->data->positions_checked = status == STATUS_OK;
    if (status != STATUS_OK)
        opened->data = NULL;
    return status;
}
