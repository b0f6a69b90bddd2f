/* byte_batch.c: see byte_batch.h. */
#include "lab/bytes/byte_batch.h"

#include "lab/bytes/byte_kernel.h"
#include "storage/base/memory.h"

#include <stddef.h>
#include <stdlib.h>

#define LINE_BYTES 128u

_Static_assert(sizeof(struct byte_batch_block) == 32 && offsetof(struct byte_batch_block, out) == 16,
               "a block is as in CUDA");

static void list_blocks(struct byte_batch *batch)
{
    const struct byte_streams *const streams = batch->streams;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t copy = i / streams->block_count, b = i % streams->block_count;
        batch->blocks[i] = (struct byte_batch_block){
            .in = batch->in + copy * streams->memory_bytes + streams->starts[b],
            .in_bytes = streams->lengths[b],
            .out = batch->out + copy * batch->copy_bytes + (uint64_t)b * streams->block_bytes,
            .out_bytes = byte_streams_block(streams, b)};
        batch->out_bytes += batch->blocks[i].out_bytes;
    }
}

static enum status allocate(struct byte_batch *batch, struct error *error)
{
    const struct byte_streams *const streams = batch->streams;
    struct cuda *const cuda = batch->lab->cuda;
    RETURN_IF_ERROR(
        memory_zeros(&batch->blocks, batch->count * sizeof *batch->blocks, "a list of blocks", error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, streams->set->byte_count, "the bytes to compare with", &batch->expected, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, batch->copies * streams->memory_bytes, "compressed blocks", &batch->in, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, batch->copies * batch->copy_bytes, "decoded blocks", &batch->out, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, batch->count * sizeof *batch->blocks, "a list of blocks", &batch->list, error));
    return cuda_allocate(cuda, sizeof(uint32_t), "a count", &batch->counter, error);
}

enum status byte_batch_open(struct lab *lab, const struct byte_streams *streams, uint32_t count,
                            struct byte_batch *batch, struct error *error)
{
    struct cuda *const cuda = lab->cuda;
    *batch = (struct byte_batch){.lab = lab,
                                 .streams = streams,
                                 .count = count,
                                 .copies = (count + streams->block_count - 1) / streams->block_count,
                                 .copy_bytes =
                                     (streams->set->byte_count + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES};
    RETURN_IF_ERROR(allocate(batch, error));
    list_blocks(batch);
    RETURN_IF_ERROR(cuda_upload(cuda, batch->expected, streams->set->bytes, streams->set->byte_count, error));
    RETURN_IF_ERROR(cuda_upload(cuda, batch->in, streams->bytes, streams->memory_bytes, error));
    RETURN_IF_ERROR(
        cuda_upload(cuda, batch->list, batch->blocks, batch->count * sizeof *batch->blocks, error));
    for (uint32_t copy = 1; copy < batch->copies; copy++)
        RETURN_IF_ERROR(cuda_copy_on_device(cuda, batch->in + copy * streams->memory_bytes, batch->in,
                                            streams->memory_bytes, error));
    return cuda_synchronize(cuda, error);
}

void byte_batch_close(struct byte_batch *batch)
{
    const cuda_address all[] = {batch->expected, batch->in, batch->out, batch->list, batch->counter};
    for (size_t a = 0; batch->lab && a < sizeof all / sizeof *all; a++)
        cuda_free(batch->lab->cuda, all[a]);
    free(batch->blocks);
    *batch = (struct byte_batch){0};
}

/* ---- Checking ---- */

static enum status read_counter(struct byte_batch *batch, uint32_t *count, struct error *error)
{
    RETURN_IF_ERROR(cuda_copy_to_host(batch->lab->cuda, count, batch->counter, sizeof *count, error));
    return cuda_synchronize(batch->lab->cuda, error);
}

static enum status fail(const struct byte_batch *batch, const char *what, uint32_t count, const char *unit,
                        struct error *error)
{
    return error_set(error, STATUS_CHECK_FAILED, "%s, %s by %s: %u %s are decoded wrongly",
                     batch->streams->set->kind->name, byte_format_names[batch->streams->format], what, count,
                     unit);
}

static enum status count_differences(struct byte_batch *batch, struct lab_kernel *kernel, uint32_t *wrong,
                                     struct error *error)
{
    const struct byte_streams *const streams = batch->streams;
    uint64_t copy_words = streams->set->byte_count / 8, stride = batch->copy_bytes / 8;
    uint64_t rest = (batch->out_bytes - (batch->copies - 1) * streams->set->byte_count) / 8;
    void *arguments[] = {&batch->out, &batch->expected, &copy_words, &stride, &batch->copies,
                         &rest,       &batch->counter};
    char *source;
    RETURN_IF_ERROR(byte_kernel_compare(&source, error));
    RETURN_IF_ERROR(lab_kernel_open(batch->lab, source, BYTE_KERNEL_COMPARE, 256, 0, kernel, error));
    RETURN_IF_ERROR(lab_kernel_launch(batch->lab, kernel, arguments, error));
    return read_counter(batch, wrong, error);
}

enum status byte_batch_measure(struct byte_batch *batch, const char *what, lab_work *work, void *context,
                               struct speed *speed, struct error *error)
{
    struct cuda *const cuda = batch->lab->cuda;
    struct lab_kernel kernel = {0};
    uint32_t wrong = 0;
    RETURN_IF_ERROR(cuda_set_bytes(cuda, batch->out, 0xa5, batch->copies * batch->copy_bytes, error));
    RETURN_IF_ERROR(cuda_set_words(cuda, batch->counter, 0, 1, error));
    RETURN_IF_ERROR(work(context, error));
    RETURN_IF_ERROR(read_counter(batch, &wrong, error));
    if (wrong)
        return fail(batch, what, wrong, "blocks", error);
    const enum status status = count_differences(batch, &kernel, &wrong, error);
    lab_kernel_close(batch->lab, &kernel);
    RETURN_IF_ERROR(status);
    if (wrong)
        return fail(batch, what, wrong, "words of 8 bytes", error);
    return lab_time(batch->lab, work, context, speed, error);
}
