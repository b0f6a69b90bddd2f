/* nvcomp_deflate.c: see nvcomp_deflate.h. Options are all 0 in both versions: nvCOMP decides how. */
#include "lab/bytes/nvcomp_deflate.h"

#include "lab/bench/nvcomp_internal.h"
#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Lists have an item for each block: 8 bytes, a status 4. */
struct batch {
    struct nvcomp *nvcomp;
    const struct nvcomp_functions *functions;
    struct byte_batch *blocks;
    uint64_t *list; /* on the host */
    cuda_address in, in_bytes, out, room_bytes, out_bytes, statuses, temporary;
    size_t temporary_bytes;
};

enum part { IN, IN_BYTES, OUT, OUT_BYTES };

static enum status upload_list(struct batch *batch, enum part part, cuda_address *list, struct error *error)
{
    struct cuda *const cuda = batch->nvcomp->lab->cuda;
    const uint64_t bytes = batch->blocks->count * sizeof *batch->list;
    for (uint32_t b = 0; b < batch->blocks->count; b++) {
        const struct byte_batch_block *const block = &batch->blocks->blocks[b];
        batch->list[b] = part == IN         ? block->in
                         : part == IN_BYTES ? block->in_bytes
                         : part == OUT      ? block->out
                                            : block->out_bytes;
    }
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, "a list of blocks", list, error));
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, *list, batch->list, bytes, error));
    return cuda_synchronize(cuda, error); /* the next list is written to the same memory */
}

static enum status open_batch(struct batch *batch, struct error *error)
{
    static const struct nvcomp_options options;
    struct byte_batch *const blocks = batch->blocks;
    struct nvcomp *const nvcomp = batch->nvcomp;
    RETURN_IF_ERROR(
        memory_take(&batch->list, blocks->count * sizeof *batch->list, "a list of blocks", error));
    RETURN_IF_ERROR(upload_list(batch, IN, &batch->in, error));
    RETURN_IF_ERROR(upload_list(batch, IN_BYTES, &batch->in_bytes, error));
    RETURN_IF_ERROR(upload_list(batch, OUT, &batch->out, error));
    RETURN_IF_ERROR(upload_list(batch, OUT_BYTES, &batch->room_bytes, error));
    RETURN_IF_ERROR(upload_list(batch, OUT_BYTES, &batch->out_bytes, error));
    RETURN_IF_ERROR(cuda_allocate(nvcomp->lab->cuda, blocks->count * sizeof(int32_t), "a list of statuses",
                                  &batch->statuses, error));
    return nvcomp_temporary(nvcomp, batch->functions->decompress_temporary, blocks->count,
                            blocks->streams->block_bytes, blocks->out_bytes, &options, &batch->temporary,
                            &batch->temporary_bytes, error);
}

static void close_batch(struct batch *batch)
{
    const cuda_address all[] = {batch->in,        batch->in_bytes, batch->out,      batch->room_bytes,
                                batch->out_bytes, batch->statuses, batch->temporary};
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        cuda_free(batch->nvcomp->lab->cuda, all[a]);
    free(batch->list);
}

static enum status decompress(void *context, struct error *error)
{
    static const struct nvcomp_options options;
    struct batch *const batch = context;
    void *stream;
    RETURN_IF_ERROR(cuda_share(batch->nvcomp->lab->cuda, &stream, error));
    return nvcomp_check(batch->nvcomp, "decompression",
                        batch->functions->decompress(batch->in, batch->in_bytes, batch->room_bytes,
                                                     batch->out_bytes, batch->blocks->count, batch->temporary,
                                                     batch->temporary_bytes, batch->out, options,
                                                     batch->statuses, stream),
                        error);
}

enum status nvcomp_deflate_measure(struct nvcomp *nvcomp, struct byte_batch *blocks, struct speed *speed,
                                   char *why, struct error *error)
{
    struct batch batch = {.nvcomp = nvcomp, .functions = &nvcomp->formats[NVCOMP_DEFLATE], .blocks = blocks};
    struct error what = {0};
    *why = '\0';
    *speed = (struct speed){0};
    if (nvcomp_missing(nvcomp)) {
        snprintf(why, NVCOMP_WHY_BYTES, "%s", nvcomp_missing(nvcomp));
        return STATUS_OK;
    }
    enum status status = open_batch(&batch, &what);
    if (status == STATUS_OK)
        status = byte_batch_measure(blocks, "nvCOMP", decompress, &batch, speed, &what);
    close_batch(&batch);
    if (status == STATUS_INTERRUPTED)
        return error_set(error, status, "%s", what.text);
    if (status != STATUS_OK)
        snprintf(why, NVCOMP_WHY_BYTES, "%.*s", NVCOMP_WHY_BYTES - 1, what.text);
    return STATUS_OK;
}
