/* inspect_candidates.c: see inspect_candidates.h. */
#include "engine/program/inspect_candidates.h"

#include "storage/codec/chunk_reader.h"

#include <stdlib.h>

static enum status decode(const struct chunk_view *chunk, void **values, struct error *error)
{
    const size_t tile_bytes = (size_t)TILE_ROWS * chunk->value_bytes;
    *values = aligned_alloc(CHUNK_ALIGNMENT, chunk->tiles * tile_bytes);
    if (!*values)
        return error_out_of_memory(error, chunk->tiles * tile_bytes, "a decoded segment");
    RETURN_IF_ERROR(chunk_decode(chunk, 0, chunk->tiles, *values, error));
    return cancel_check(error);
}

enum status inspect_candidates_find(struct database *database, const struct column *column,
                                    struct inspect_candidates *found, struct error *error)
{
    struct column_data *data;
    *found = (struct inspect_candidates){0};
    RETURN_IF_ERROR(codec_choice_parse(column->own_name, &found->choice, error));
    found->choice.probed = column->schema.references_table[0] != '\0';
    if (column->table->segment_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(column_data_open(database, column, column->own, 0, &data, error));
    const struct chunk_view *chunk = &data->segments[0].chunk;
    const size_t bound = codec_candidates_bound(chunk->rows, chunk->value_bytes);
    void *values = NULL;
    uint8_t *scratch =
        aligned_alloc(CHUNK_ALIGNMENT, (bound + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT);
    enum status status =
        scratch ? decode(chunk, &values, error) : error_out_of_memory(error, bound, "an encoded segment");
    const struct codec_input input = column_codec_input(column, values, chunk->rows);
    if (status == STATUS_OK)
        codec_candidates(&found->choice, &input, scratch, found->candidates);
    found->rows = chunk->rows;
    free(values);
    free(scratch);
    return status;
}
