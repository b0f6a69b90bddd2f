/* byte_decoder.c: see byte_decoder.h. */
#include "engine/gpu/byte_decoder.h"

#include "engine/cuda/cuda.h"
#include "engine/cuda/kernel_cache.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (64u << 20) /* of output */
#define IN_BYTES \
    (80u << 20) /* a chunk that does not shrink is stored, so input is hardly longer than output */
#define BATCH_JOBS    (64u << 10)
#define STREAM_ALIGN  128u /* a decoder reads whole lines */
#define BATCHES       2u
#define CALL_BATCHES  4u /* a call should have so many */
#define THREADS       256u
#define BLOCK_STREAMS (THREADS / 32)
#define COPY_THREADS  4u /* the callers of other columns use the rest */

static const char source[] =
    "#define TILE_CUDA 1\n"
    "#include <stdint.h>\n"
    "#include \"operators/decode/bytes/deflate_cuda.h\"\n"
    "extern __shared__ __align__(16) unsigned char shared[];\n"
    "typedef deflate_stream<uint8_t> decoder;\n"
    "extern \"C\" __device__ const unsigned scratch_bytes = decoder::SCRATCH_BYTES;\n"
    "extern \"C\" __global__ void __launch_bounds__(256, 4)\n"
    "    inflate(const byte_block *blocks, uint32_t count, uint32_t *given)\n"
    "{\n"
    "    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, index = blockIdx.x * 8 + warp;\n"
    "    if (index >= count)\n"
    "        return;\n"
    "    uint32_t bytes = 0;\n"
    "    uint32_t *scratch = (uint32_t *)(shared + warp * decoder::SCRATCH_BYTES);\n"
    "    const byte_block block = blocks[index];\n"
    "    const bool right = decoder::decode_most(block, lane, scratch, &bytes);\n"
    "    if (lane == 0)\n"
    "        given[index] = right ? bytes : 0xffffffffu;\n"
    "}\n";
#define REFUSED UINT32_MAX

/* struct byte_block of operators/decode/bytes/byte_block_cuda.h. */
struct stream {
    cuda_address in;
    uint32_t in_bytes;
    uint32_t reserved;
    cuda_address out;
    uint32_t out_bytes;
    uint32_t reserved2;
};

/* Streams that are decoded by one launch. */
struct batch {
    uint8_t *in, *out; /* pinned */
    struct stream *streams;
    uint32_t *given;
    cuda_address device_in, device_out, device_streams, device_given;
    struct cuda_event *begin, *end, *copied;
    struct byte_job **jobs;
    uint64_t in_bytes, out_bytes;
    uint32_t count; /* 0: it is free */
};

struct byte_gpu {
    struct cuda *cuda;
    unsigned threads;
    struct cuda_module *module;
    struct cuda_function *inflate;
    uint64_t shared_bytes;
    struct batch batches[BATCHES];
    double kernel_ms;
    uint64_t bytes;
    char text[320];
};

/* ---- Opening ---- */

static enum status compile(struct byte_gpu *gpu, struct error *error)
{
    struct kernel_binary binary = {0};
    const struct nvrtc_request request = {
        .name = "inflate.cu", .source = source, .arch = cuda_properties(gpu->cuda)->arch};
    cuda_address address;
    uint32_t scratch = 0;
    uint64_t bytes;
    enum status status = kernel_cache_get(&request, &binary, NULL, error);
    status = AND_THEN(status, cuda_module_load(gpu->cuda, binary.cubin, &gpu->module, error));
    kernel_binary_free(&binary);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(cuda_module_function(gpu->cuda, gpu->module, "inflate", &gpu->inflate, error));
    RETURN_IF_ERROR(cuda_module_variable(gpu->cuda, gpu->module, "scratch_bytes", &address, &bytes, error));
    RETURN_IF_ERROR(cuda_copy_to_host(gpu->cuda, &scratch, address, sizeof scratch, error));
    RETURN_IF_ERROR(cuda_synchronize(gpu->cuda, error));
    gpu->shared_bytes = (uint64_t)scratch * BLOCK_STREAMS;
    return cuda_function_allow_shared(gpu->cuda, gpu->inflate, gpu->shared_bytes, error);
}

static enum status batch_open(struct cuda *cuda, struct batch *batch, struct error *error)
{
    static const char what[] = "decompressing streams";
    RETURN_IF_ERROR(cuda_pinned_allocate(cuda, IN_BYTES, (void **)&batch->in, error));
    RETURN_IF_ERROR(cuda_pinned_allocate(cuda, BATCH_BYTES, (void **)&batch->out, error));
    RETURN_IF_ERROR(
        cuda_pinned_allocate(cuda, BATCH_JOBS * sizeof *batch->streams, (void **)&batch->streams, error));
    RETURN_IF_ERROR(
        cuda_pinned_allocate(cuda, BATCH_JOBS * sizeof *batch->given, (void **)&batch->given, error));
    RETURN_IF_ERROR(memory_take(&batch->jobs, BATCH_JOBS * sizeof *batch->jobs, what, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, IN_BYTES, what, &batch->device_in, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, BATCH_BYTES, what, &batch->device_out, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, BATCH_JOBS * sizeof *batch->streams, what, &batch->device_streams, error));
    RETURN_IF_ERROR(
        cuda_allocate(cuda, BATCH_JOBS * sizeof *batch->given, what, &batch->device_given, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &batch->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &batch->end, error));
    return cuda_event_create(cuda, &batch->copied, error);
}

static void batch_close(struct cuda *cuda, struct batch *batch)
{
    cuda_pinned_free(cuda, batch->in);
    cuda_pinned_free(cuda, batch->out);
    cuda_pinned_free(cuda, batch->streams);
    cuda_pinned_free(cuda, batch->given);
    cuda_free(cuda, batch->device_in);
    cuda_free(cuda, batch->device_out);
    cuda_free(cuda, batch->device_streams);
    cuda_free(cuda, batch->device_given);
    cuda_event_destroy(cuda, batch->begin);
    cuda_event_destroy(cuda, batch->end);
    cuda_event_destroy(cuda, batch->copied);
    free(batch->jobs);
}

/* ---- A batch ---- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + STREAM_ALIGN - 1) / STREAM_ALIGN * STREAM_ALIGN;
}

/* Adds the job if there is room; an empty batch has room for every job that the GPU takes. */
static bool batch_add(struct batch *batch, struct byte_job *job)
{
    const uint64_t in = aligned(job->in_bytes), out = aligned(job->out_room);
    if (batch->count == BATCH_JOBS || in > IN_BYTES - batch->in_bytes || out > BATCH_BYTES - batch->out_bytes)
        return false;
    batch->streams[batch->count] = (struct stream){.in = batch->device_in + batch->in_bytes,
                                                   .in_bytes = job->in_bytes,
                                                   .out = batch->device_out + batch->out_bytes,
                                                   .out_bytes = job->out_room};
    batch->jobs[batch->count++] = job;
    batch->in_bytes += in;
    batch->out_bytes += out;
    return true;
}

#define COPY_JOBS 64u

static enum status gather(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct batch *batch = context;
    (void)thread;
    for (uint64_t j = item * COPY_JOBS; j < (item + 1) * COPY_JOBS && j < batch->count; j++)
        memcpy(batch->in + (batch->streams[j].in - batch->device_in), batch->jobs[j]->in,
               batch->jobs[j]->in_bytes);
    return cancel_check(error);
}

static enum status scatter(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct batch *batch = context;
    (void)thread;
    for (uint64_t j = item * COPY_JOBS; j < (item + 1) * COPY_JOBS && j < batch->count; j++) {
        struct byte_job *job = batch->jobs[j];
        job->bad = batch->given[j] == REFUSED;
        job->out_bytes = job->bad ? 0 : batch->given[j];
        memcpy(job->out, batch->out + (batch->streams[j].out - batch->device_out), job->out_bytes);
    }
    return cancel_check(error);
}

static enum status batch_queue(struct byte_gpu *gpu, struct batch *batch, struct error *error)
{
    struct cuda *cuda = gpu->cuda;
    void *arguments[] = {&batch->device_streams, &batch->count, &batch->device_given};
    RETURN_IF_ERROR(
        parallel_for(gpu->threads, (batch->count + COPY_JOBS - 1) / COPY_JOBS, gather, batch, error));
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, batch->device_in, batch->in, batch->in_bytes, error));
    RETURN_IF_ERROR(cuda_copy_to_device(cuda, batch->device_streams, batch->streams,
                                        batch->count * sizeof *batch->streams, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, batch->begin, error));
    RETURN_IF_ERROR(cuda_launch(cuda, gpu->inflate, (batch->count + BLOCK_STREAMS - 1) / BLOCK_STREAMS,
                                THREADS, gpu->shared_bytes, arguments, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, batch->end, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, batch->given, batch->device_given,
                                      batch->count * sizeof *batch->given, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, batch->out, batch->device_out, batch->out_bytes, error));
    return cuda_event_record(cuda, batch->copied, error);
}

/* Waits for the batch and gives its jobs their bytes. */
static enum status batch_finish(struct byte_gpu *gpu, struct batch *batch, struct error *error)
{
    double ms;
    if (batch->count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_event_wait(gpu->cuda, batch->copied, error));
    RETURN_IF_ERROR(cuda_event_elapsed(gpu->cuda, batch->begin, batch->end, &ms, error));
    RETURN_IF_ERROR(
        parallel_for(gpu->threads, (batch->count + COPY_JOBS - 1) / COPY_JOBS, scatter, batch, error));
    for (uint32_t j = 0; j < batch->count; j++)
        gpu->bytes += batch->jobs[j]->out_bytes;
    gpu->kernel_ms += ms;
    batch->count = 0;
    batch->in_bytes = batch->out_bytes = 0;
    return STATUS_OK;
}

/* ---- The decoder ---- */

static bool is_ours(const struct byte_job *job)
{
    return job->scheme == BYTE_DEFLATE && aligned(job->in_bytes) <= IN_BYTES &&
           aligned(job->out_room) <= BATCH_BYTES;
}

static enum status decode_batches(struct byte_gpu *gpu, struct byte_job *jobs, uint64_t count,
                                  struct error *error)
{
    uint32_t turn = 0;
    for (uint64_t j = 0; j < count;) {
        struct batch *batch = &gpu->batches[turn];
        RETURN_IF_ERROR(batch_finish(gpu, batch, error));
        for (; j < count; j++) {
            if (!is_ours(&jobs[j]))
                RETURN_IF_ERROR(byte_decoder_host.decode(&byte_decoder_host, &jobs[j], 1, error));
            else if (!batch_add(batch, &jobs[j]))
                break;
        }
        if (batch->count)
            RETURN_IF_ERROR(batch_queue(gpu, batch, error));
        turn = (turn + 1) % BATCHES;
    }
    for (uint32_t b = 0; b < BATCHES; b++)
        RETURN_IF_ERROR(batch_finish(gpu, &gpu->batches[(turn + b) % BATCHES], error));
    return STATUS_OK;
}

/* After an error the buffers may still be in use: the next call waits for them first. */
static enum status decode(const struct byte_decoder *decoder, struct byte_job *jobs, uint64_t count,
                          struct error *error)
{
    struct byte_gpu *gpu = decoder->context;
    const enum status status = decode_batches(gpu, jobs, count, error);
    if (status != STATUS_OK) {
        (void)!cuda_synchronize(gpu->cuda, NULL);
        for (uint32_t b = 0; b < BATCHES; b++)
            gpu->batches[b].count = 0;
    }
    return status;
}

static void byte_gpu_close(struct byte_decoder *decoder)
{
    struct byte_gpu *gpu = decoder->context;
    if (!gpu)
        return;
    for (uint32_t b = 0; gpu->cuda && b < BATCHES; b++)
        batch_close(gpu->cuda, &gpu->batches[b]);
    if (gpu->cuda)
        cuda_module_unload(gpu->cuda, gpu->module);
    cuda_close(gpu->cuda);
    free(gpu);
    *decoder = (struct byte_decoder){0};
}

static enum status byte_gpu_open(const char *device, unsigned threads, struct byte_decoder *decoder,
                                 struct error *error)
{
    struct byte_gpu *gpu;
    const char *const number = strchr(device, ':');
    const unsigned ordinal = number ? (unsigned)strtoul(number + 1, NULL, 10) : 0;
    *decoder = (struct byte_decoder){0};
    RETURN_IF_ERROR(memory_zeros(&gpu, sizeof *gpu, "a decompressor", error));
    *decoder = (struct byte_decoder){.context = gpu,
                                     .schemes = 1u << BYTE_DEFLATE,
                                     .batch_bytes = (uint64_t)CALL_BATCHES * BATCH_BYTES,
                                     .decode = decode};
    gpu->threads = threads == 0 || threads > COPY_THREADS ? COPY_THREADS : threads;
    enum status status = cuda_open(ordinal, &gpu->cuda, error);
    status = AND_THEN(status, compile(gpu, error));
    for (uint32_t b = 0; status == STATUS_OK && b < BATCHES; b++)
        status = batch_open(gpu->cuda, &gpu->batches[b], error);
    if (status == STATUS_OK)
        snprintf(gpu->text, sizeof gpu->text, "%s (cuda:%u)", cuda_properties(gpu->cuda)->name, ordinal);
    else
        byte_gpu_close(decoder);
    return status;
}

static const char *byte_gpu_text(const struct byte_decoder *decoder)
{
    return ((const struct byte_gpu *)decoder->context)->text;
}

static void byte_gpu_spent(const struct byte_decoder *decoder, double *ms, uint64_t *bytes)
{
    const struct byte_gpu *gpu = decoder->context;
    *ms = gpu->kernel_ms;
    *bytes = gpu->bytes;
}

const struct byte_device cuda_byte_device = {
    .open = byte_gpu_open, .text = byte_gpu_text, .spent = byte_gpu_spent, .close = byte_gpu_close};
