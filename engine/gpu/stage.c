/* stage.c: see stage.h. */
#include "engine/gpu/stage.h"

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

/* Allocates the temporary memory of the column that needs most. */
static enum status make_layers(struct cuda_columns *columns, const struct plan *plan,
                               const struct kernel *kernel, struct cuda_stage *stage, struct error *error)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        const uint64_t bytes =
            stage->columns[c].used ? cuda_decoder_layer_bytes(plan->columns[kernel->columns[c]].data) : 0;
        most = bytes > most ? bytes : most;
    }
    return cuda_columns_allocate(columns, most, "the layers between a column's decoding passes",
                                 &stage->layers, error);
}

/* Allocates the scratch memory of a column: a list of chunks, and then the values. The validity addresses are
 * copied from the list of the encoded chunks. */
static enum status make_scratch(struct cuda *cuda, struct cuda_columns *columns,
                                const struct column_data *data, cuda_address layers,
                                struct stage_column *column, struct error *error)
{
    const uint64_t list_bytes = (data->segment_count * sizeof(struct bound_chunk) + 255) / 256 * 256;
    struct bound_chunk *chunks = malloc(list_bytes + 1);
    if (!chunks)
        return error_out_of_memory(error, list_bytes, "a list of chunks");
    column->to.bytes = list_bytes + cuda_decoder_values_bytes(data);
    enum status status =
        cuda_copy_to_host(cuda, chunks, column->from->address, data->segment_count * sizeof *chunks, error);
    if (status == STATUS_OK)
        status = cuda_synchronize(cuda, error);
    if (status == STATUS_OK)
        status = cuda_columns_allocate(columns, column->to.bytes, "a column's decoded values",
                                       &column->to.address, error);
    if (status == STATUS_OK) {
        cuda_decoder_target(data, column->to.address + list_bytes, layers, chunks);
        status = cuda_upload(cuda, column->to.address, chunks, data->segment_count * sizeof *chunks, error);
    }
    free(chunks);
    return status;
}

enum status cuda_stage_load(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                            const struct kernel *kernel, const struct cuda_column *const *encoded,
                            struct cuda_stage *stage, struct error *error)
{
    uint32_t number = 0;
    RETURN_IF_ERROR(cuda_event_create(cuda, &stage->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &stage->end, error));
    RETURN_IF_ERROR(cuda_module_load(cuda, stage->binary.cubin, &stage->module, error));
    kernel_binary_free(&stage->binary);
    RETURN_IF_ERROR(make_layers(columns, plan, kernel, stage, error));
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        struct stage_column *column = &stage->columns[c];
        const struct column_data *data = plan->columns[kernel->columns[c]].data;
        if (!column->used)
            continue;
        column->from = encoded[c];
        RETURN_IF_ERROR(cuda_decoder_load(cuda, stage->module, number++, data, &column->decoder, error));
        RETURN_IF_ERROR(make_scratch(cuda, columns, data, stage->layers, column, error));
    }
    return STATUS_OK;
}

static enum status select_blocks(struct cuda *cuda, struct cuda_columns *columns,
                                 const struct column_data *data, const struct tile_skip *skip,
                                 struct cuda_decoder *decoder, struct error *error)
{
    struct bound_block *list = NULL;
    uint64_t bytes;
    cuda_free(cuda, decoder->blocks);
    decoder->blocks = 0;
    RETURN_IF_ERROR(cuda_decoder_blocks(data, skip, &list, &bytes, decoder, error));
    enum status status = cuda_columns_allocate(columns, bytes, "a list of blocks", &decoder->blocks, error);
    if (status == STATUS_OK)
        status = cuda_upload(cuda, decoder->blocks, list, bytes, error);
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

enum status cuda_stage_elapsed(struct cuda *cuda, const struct cuda_stage *stage, double *ms,
                               struct error *error)
{
    return cuda_event_elapsed(cuda, stage->begin, stage->end, ms, error);
}

void cuda_stage_free(struct cuda *cuda, struct cuda_stage *stage)
{
    for (uint32_t c = 0; c < KERNEL_COLUMNS_MAX; c++) {
        cuda_free(cuda, stage->columns[c].to.address);
        cuda_free(cuda, stage->columns[c].decoder.blocks);
    }
    cuda_free(cuda, stage->layers);
    cuda_event_destroy(cuda, stage->begin);
    cuda_event_destroy(cuda, stage->end);
    cuda_module_unload(cuda, stage->module);
    kernel_binary_free(&stage->binary);
    free(stage->source);
}
