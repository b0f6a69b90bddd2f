/* stage.c: see stage.h. */
#include "engine/gpu/stage.h"

#include "storage/base/memory.h"

#include <stdlib.h>

enum status cuda_stage_write(const struct plan *plan, const struct kernel *kernel, struct cuda_stage *stage,
                             struct error *error)
{
    struct kernel_column columns[KERNEL_COLUMNS_MAX];
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        const struct plan_column *column = &plan->columns[kernel->columns[c]];
        stage->columns[c].used = plan_stages(plan, kernel->columns[c], true);
        if (stage->columns[c].used)
            columns[stage->count++] = (struct kernel_column){.data = column->data,
                                                             .value_bytes = column->column->value_bytes,
                                                             .width_low = column->width_low,
                                                             .width_high = column->width_high};
    }
    return stage->count ? cuda_decoder_source(columns, stage->count, &stage->source, error) : STATUS_OK;
}

/* The temporary memory of the column that needs most: for all segments, or for one. */
static uint64_t find_layers(const struct plan *plan, const struct kernel *kernel,
                            const struct cuda_stage *stage)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        const struct column_data *data = plan->columns[kernel->columns[c]].data;
        const uint64_t bytes = !stage->columns[c].used ? 0
                               : stage->in_slots       ? cuda_decoder_layer_most(data)
                                                       : cuda_decoder_layer_bytes(data);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static enum status make_layers(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                               const struct kernel *kernel, struct cuda_stage *stage, struct error *error)
{
    const uint64_t bytes = find_layers(plan, kernel, stage);
    if (stage->layers && stage->layer_bytes == bytes)
        return STATUS_OK;
    cuda_free(cuda, stage->layers);
    stage->layers = 0;
    stage->layer_bytes = bytes;
    return cuda_columns_allocate(columns, bytes, "the layers between a column's decoding passes",
                                 &stage->layers, error);
}

enum status cuda_stage_load(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                            const struct kernel *kernel, const struct cuda_place *place,
                            struct cuda_stage *stage, struct error *error)
{
    uint32_t number = 0;
    if (!stage->count)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_event_create(cuda, &stage->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &stage->end, error));
    RETURN_IF_ERROR(cuda_module_load(cuda, stage->binary.cubin, &stage->module, error));
    kernel_binary_free(&stage->binary);
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        struct stage_column *column = &stage->columns[c];
        const struct column_data *data = plan->columns[kernel->columns[c]].data;
        if (!column->used)
            continue;
        column->from = &place->lists[c];
        column->to.bytes = data->segment_count * sizeof(struct bound_chunk);
        column->to.count = data->segment_count;
        RETURN_IF_ERROR(cuda_decoder_load(cuda, stage->module, number++, data, &column->decoder, error));
        RETURN_IF_ERROR(
            cuda_columns_allocate(columns, column->to.bytes, "a list of chunks", &column->to.address, error));
    }
    return STATUS_OK;
}

/* The values of all segments, in memory of the column's own, or none. */
static enum status make_values(struct cuda *cuda, struct cuda_columns *columns,
                               const struct column_data *data, bool wanted, struct stage_column *column,
                               struct error *error)
{
    if (wanted == (column->values != 0))
        return STATUS_OK;
    cuda_free(cuda, column->values);
    column->values = 0;
    column->value_bytes = cuda_decoder_values_bytes(data);
    return wanted ? cuda_columns_allocate(columns, column->value_bytes, "a column's decoded values",
                                          &column->values, error)
                  : STATUS_OK;
}

/* Lists the values' chunks of a column; in slots, `before` has the bytes that each segment's slot has before them. */
static void list_values(const struct column_data *data, const struct cuda_place *place, uint32_t c,
                        const struct cuda_stage *stage, uint64_t *before, struct bound_chunk *chunks)
{
    cuda_address values = stage->columns[c].values, layers = stage->layers;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *segment = &data->segments[s];
        if (stage->in_slots)
            values = cuda_place_slot(place, cuda_place_slot_of(place, s)) + place->slot_copied[s] + before[s];
        chunks[s] =
            (struct bound_chunk){.data = values,
                                 .auxiliary = layers,
                                 .validity = place->chunks[(uint64_t)c * place->segment_count + s].validity};
        before[s] += cuda_decoder_segment_bytes(segment);
        if (stage->in_slots)
            continue;
        values += cuda_decoder_segment_bytes(segment);
        layers += cuda_decoder_segment_layers(segment);
    }
}

enum status cuda_stage_place(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                             const struct kernel *kernel, const struct cuda_place *place,
                             struct cuda_stage *stage, struct error *error)
{
    uint64_t *before = NULL;
    struct bound_chunk *chunks = NULL;
    if (!stage->count)
        return STATUS_OK;
    stage->in_slots = place->batched;
    RETURN_IF_ERROR(make_layers(cuda, columns, plan, kernel, stage, error));
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        if (stage->columns[c].used)
            RETURN_IF_ERROR(make_values(cuda, columns, plan->columns[kernel->columns[c]].data,
                                        !stage->in_slots, &stage->columns[c], error));
    enum status status =
        memory_zeros(&before, (place->segment_count + 1ull) * sizeof *before, "a list", error);
    if (status == STATUS_OK)
        status =
            memory_zeros(&chunks, (place->segment_count + 1ull) * sizeof *chunks, "a list of chunks", error);
    for (uint32_t c = 0; status == STATUS_OK && c < kernel->shape.column_count; c++)
        if (stage->columns[c].used) {
            list_values(plan->columns[kernel->columns[c]].data, place, c, stage, before, chunks);
            status = cuda_send(cuda, stage->columns[c].to.address, chunks, stage->columns[c].to.bytes, error);
        }
    free(before);
    free(chunks);
    return status;
}

static enum status select_blocks(struct cuda *cuda, struct cuda_columns *columns,
                                 const struct column_data *data, const struct tile_skip *skip,
                                 struct cuda_decoder *decoder, struct error *error)
{
    struct bound_block *list = NULL;
    uint64_t bytes;
    cuda_decoder_free(cuda, decoder);
    RETURN_IF_ERROR(cuda_decoder_blocks(data, skip, &list, &bytes, decoder, error));
    enum status status = cuda_columns_allocate(columns, bytes, "a list of blocks", &decoder->blocks, error);
    status = AND_THEN(status, cuda_send(cuda, decoder->blocks, list, bytes, error));
    free(list);
    return status;
}

enum status cuda_stage_select(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                              const struct kernel *kernel, const struct tile_skip *skip,
                              struct cuda_stage *stage, struct error *error)
{
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        if (stage->columns[c].used && stage->columns[c].decoder.of_blocks)
            RETURN_IF_ERROR(select_blocks(cuda, columns, plan->columns[kernel->columns[c]].data, skip,
                                          &stage->columns[c].decoder, error));
    return STATUS_OK;
}

enum status cuda_stage_run(struct cuda *cuda, struct cuda_stage *stage, const struct plan *plan,
                           const struct kernel *kernel, const struct cuda_scan *scan, struct error *error)
{
    RETURN_IF_ERROR(cuda_event_record(cuda, stage->begin, error));
    for (uint32_t c = 0; c < KERNEL_COLUMNS_MAX; c++) {
        const struct stage_column *column = &stage->columns[c];
        if (column->used)
            RETURN_IF_ERROR(cuda_decoder_run(cuda, &column->decoder, column->from->address,
                                             column->to.address, scan->work.work, scan->work.items, error));
    }
    RETURN_IF_ERROR(cuda_event_record(cuda, stage->end, error));
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        if (stage->columns[c].used)
            RETURN_IF_ERROR(cuda_decoder_check(cuda, &stage->columns[c].decoder,
                                               plan->columns[kernel->columns[c]].data, error));
    return STATUS_OK;
}

enum status cuda_stage_run_segment(struct cuda *cuda, struct cuda_stage *stage, const struct plan *plan,
                                   const struct kernel *kernel, const struct cuda_scan *scan,
                                   uint32_t segment, struct error *error)
{
    const uint32_t first = scan->segment_items[segment], items = scan->segment_items[segment + 1] - first;
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        const struct stage_column *column = &stage->columns[c];
        if (!column->used)
            continue;
        RETURN_IF_ERROR(cuda_decoder_run_segment(
            cuda, &column->decoder, segment, column->from->address, column->to.address,
            scan->work.work + first * sizeof(struct bound_work), items, error));
        RETURN_IF_ERROR(
            cuda_decoder_check(cuda, &column->decoder, plan->columns[kernel->columns[c]].data, error));
    }
    return STATUS_OK;
}

enum status cuda_stage_elapsed(struct cuda *cuda, const struct cuda_stage *stage, double *ms,
                               struct error *error)
{
    return cuda_event_elapsed(cuda, stage->begin, stage->end, ms, error);
}

void cuda_stage_free(struct cuda *cuda, struct cuda_stage *stage)
{
    for (uint32_t c = 0; c < KERNEL_COLUMNS_MAX; c++) {
        cuda_free(cuda, stage->columns[c].to.address);
        cuda_free(cuda, stage->columns[c].values);
        cuda_decoder_free(cuda, &stage->columns[c].decoder);
    }
    cuda_free(cuda, stage->layers);
    cuda_event_destroy(cuda, stage->begin);
    cuda_event_destroy(cuda, stage->end);
    cuda_module_unload(cuda, stage->module);
    kernel_binary_free(&stage->binary);
    free(stage->source);
}
