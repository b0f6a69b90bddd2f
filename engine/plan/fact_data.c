/* fact_data.c: see fact_data.h. */
#include "engine/plan/fact_data.h"

#include "storage/codec/chunk_reader.h"
#include "storage/codec/codec_spec.h"
#include "storage/database/writer.h"

/* Kernels use row positions as indices without a test, and codes become strings. So all stored values are
 * checked here once, because a file may be damaged. */
struct index_check {
    const struct column_data *data;
    uint64_t limit;           /* values must be less */
    const char *what, *where; /* "row" of a table */
};

static enum status check_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct index_check *check = context;
    const struct column *column = check->data->column;
    const struct chunk_view *chunk = &check->data->segments[item].chunk;
    struct chunk_reader reader = {0};
    enum status status = STATUS_OK;
    (void)thread;
    for (uint32_t tile = 0; status == STATUS_OK && tile < chunk->tiles; tile++) {
        const void *decoded;
        uint32_t highest = 0;
        status = chunk_reader_tile(&reader, chunk, tile, &decoded, error);
        const uint32_t *const values = decoded;
        for (uint32_t row = 0; status == STATUS_OK && row < TILE_ROWS; row++)
            highest = values[row] > highest ? values[row] : highest;
        if (highest >= check->limit)
            status = error_set(error, STATUS_BAD_INPUT,
                               "column %s.%s, segment %u, tile %u points at %s %u of %s, which has %llu; the "
                               "file is damaged: load the table again",
                               column->table->name, column->schema.name, (unsigned)item, tile, check->what,
                               highest, check->where, (unsigned long long)check->limit);
    }
    chunk_reader_close(&reader);
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
    if ((!column->references && !column->dictionary) || opened->data->positions_checked)
        return STATUS_OK;
    struct index_check check = {opened->data, column->dictionary ? column->dictionary->count : 0, "string",
                                "its dictionary"};
    if (column->references)
        check = (struct index_check){opened->data, column->references->table->rows, "row",
                                     column->references->table->name};
    if (check.limit == 0)
        check.limit = 1; /* every value is NULL and stored as 0 */
    enum status status = parallel_for(threads, opened->data->segment_count, check_segment, &check, error);
    opened->data->positions_checked = status == STATUS_OK;
    if (status != STATUS_OK)
        opened->data = NULL;
    return status;
}
