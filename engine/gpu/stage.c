/* stage.c: see stage.h. */
#include "engine/gpu/stage.h"

#include "engine/gpu/kernel_decoder.h"

#include <stdio.h>
#include <stdlib.h>

#define STAGE_THREADS (32u * WORK_TILES) /* as in operators/dialect/stage_cuda.h */

/* Blocks a multiprocessor: together they have 64 warps, the most that are resident. */
#define STAGE_BLOCKS 8u

enum status cuda_stage_source(const struct kernel_column *columns, uint32_t count, char **source,
                              struct error *error)
{
    size_t bytes = 0;
    FILE *out = open_memstream(source, &bytes);
    if (!out)
        return error_out_of_memory(error, 4096, "a kernel's source");
    fputs("#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/dialect/stage_cuda.h\"\n", out);
    for (uint32_t c = 0; c < count; c++) {
        kernel_decoder_include(out, columns[c].data->codec);
        fprintf(out,
                "extern \"C\" __global__ void __launch_bounds__(STAGE_THREADS)\n"
                "    decode_%u(const bound_chunk *from, const bound_chunk *to, const uint4 *work, uint32_t "
                "items)\n"
                "{\n    stage_column<",
                c);
        kernel_decoder_write(out, &columns[c]);
        fprintf(out, ", int%u_t>(from, to, work, items);\n}\n", columns[c].value_bytes * 8);
    }
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, 4096, "a kernel's source");
}

enum status cuda_stage_write(const struct plan *plan, const struct kernel *kernel, struct cuda_stage *stage,
                             struct error *error)
{
    struct kernel_column columns[KERNEL_COLUMNS_MAX];
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        const struct plan_column *column = &plan->columns[kernel->columns[c]];
        stage->columns[c].used = plan_stages(plan, kernel->columns[c]);
        if (stage->columns[c].used)
            columns[stage->count++] = (struct kernel_column){.data = column->data,
                                                             .value_bytes = column->column->value_bytes,
                                                             .width_low = column->width_low,
                                                             .width_high = column->width_high};
    }
    return stage->count ? cuda_stage_source(columns, stage->count, &stage->source, error) : STATUS_OK;
}

/* Allocates the scratch memory of a column: a list of chunks, and then the values. The validity addresses are
 * copied from the list of the encoded chunks. */
static enum status make_scratch(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                                uint32_t c, struct stage_column *column, struct error *error)
{
    const struct column_data *data = plan->columns[c].data;
    const uint64_t list_bytes = (data->segment_count * sizeof(struct bound_chunk) + 255) / 256 * 256;
    struct bound_chunk *chunks = malloc(list_bytes + 1);
    if (!chunks)
        return error_out_of_memory(error, list_bytes, "a list of chunks");
    column->to.bytes = list_bytes;
    for (uint32_t s = 0; s < data->segment_count; s++)
        column->to.bytes += plan_staged_bytes(plan, c, s);
    enum status status =
        cuda_copy_to_host(cuda, chunks, column->from->address, data->segment_count * sizeof *chunks, error);
    if (status == STATUS_OK)
        status = cuda_synchronize(cuda, error);
    if (status == STATUS_OK)
        status = cuda_columns_allocate(columns, column->to.bytes, "a column's decoded values (--staged)",
                                       &column->to.address, error);
    cuda_address values = column->to.address + list_bytes;
    for (uint32_t s = 0; status == STATUS_OK && s < data->segment_count; s++) {
        chunks[s] = (struct bound_chunk){.data = values, .validity = chunks[s].validity};
        values += plan_staged_bytes(plan, c, s);
    }
    if (status == STATUS_OK)
        status = cuda_upload(cuda, column->to.address, chunks, data->segment_count * sizeof *chunks, error);
    free(chunks);
    return status;
}

enum status cuda_stage_load(struct cuda *cuda, struct cuda_columns *columns, const struct plan *plan,
                            const struct kernel *kernel, const struct cuda_column *const *encoded,
                            struct cuda_stage *stage, struct error *error)
{
    char name[16];
    uint32_t number = 0;
    RETURN_IF_ERROR(cuda_event_create(cuda, &stage->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &stage->end, error));
    RETURN_IF_ERROR(cuda_module_load(cuda, stage->binary.cubin, &stage->module, error));
    kernel_binary_free(&stage->binary);
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        struct stage_column *column = &stage->columns[c];
        if (!column->used)
            continue;
        column->from = encoded[c];
        column->scratch_bytes = plan->columns[kernel->columns[c]].data->codec->gpu.scratch_bytes;
        snprintf(name, sizeof name, "decode_%u", number++);
        RETURN_IF_ERROR(cuda_module_function(cuda, stage->module, name, &column->decode, error));
        RETURN_IF_ERROR(make_scratch(cuda, columns, plan, kernel->columns[c], column, error));
    }
    return STATUS_OK;
}

enum status cuda_stage_run(struct cuda *cuda, struct cuda_stage *stage, const struct cuda_scan *scan,
                           struct error *error)
{
    const uint32_t most = STAGE_BLOCKS * cuda_properties(cuda)->multiprocessors;
    const uint32_t blocks = scan->work.items < most ? scan->work.items : most;
    RETURN_IF_ERROR(cuda_event_record(cuda, stage->begin, error));
    for (uint32_t c = 0; c < KERNEL_COLUMNS_MAX && blocks; c++) {
        struct stage_column *column = &stage->columns[c];
        cuda_address from, to = column->to.address, work = scan->work.work;
        uint32_t items = scan->work.items;
        if (!column->used)
            continue;
        from = column->from->address;
        void *arguments[] = {&from, &to, &work, &items};
        RETURN_IF_ERROR(cuda_launch(cuda, column->decode, blocks, STAGE_THREADS,
                                    (uint64_t)column->scratch_bytes * WORK_TILES, arguments, error));
    }
    return cuda_event_record(cuda, stage->end, error);
}

enum status cuda_stage_elapsed(struct cuda *cuda, const struct cuda_stage *stage, double *ms,
                               struct error *error)
{
    return cuda_event_elapsed(cuda, stage->begin, stage->end, ms, error);
}

void cuda_stage_free(struct cuda *cuda, struct cuda_stage *stage)
{
    for (uint32_t c = 0; c < KERNEL_COLUMNS_MAX; c++)
        cuda_free(cuda, stage->columns[c].to.address);
    cuda_event_destroy(cuda, stage->begin);
    cuda_event_destroy(cuda, stage->end);
    cuda_module_unload(cuda, stage->module);
    kernel_binary_free(&stage->binary);
    free(stage->source);
}
