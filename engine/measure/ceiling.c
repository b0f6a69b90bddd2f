/* ceiling.c: see ceiling.h. */
#include "engine/measure/ceiling.h"

#include "engine/cuda/kernel_cache.h"
#include "storage/base/clock.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define LINK_BYTES     (UINT64_C(256) << 20)
#define CUDA_BYTES     (2ull << 30)
#define CPU_BYTES      (512ull << 20)
#define CPU_ITEM_BYTES (4ull << 20)
#define REPEATS        7
#define READ_THREADS   512u

/* Each block reads 32 KB in a row at a time, with four 16-byte loads a thread in flight. The sum is written
 * only if it equals a value that it never has, so that the compiler cannot remove the loads. */
static const char read_source[] = "extern \"C\" __global__ void __launch_bounds__(512, 4) read_all(const "
                                  "uint4 *data, unsigned long long count, unsigned *out)\n"
                                  "{\n"
                                  "    unsigned sum = 0;\n"
                                  "    for (unsigned long long i = blockIdx.x * 2048ull + threadIdx.x; i < "
                                  "count; i += gridDim.x * 2048ull) {\n"
                                  "        uint4 a = __ldg(data + i), b = __ldg(data + i + 512), c = "
                                  "__ldg(data + i + 1024), d = __ldg(data + i + 1536);\n"
                                  "        sum += a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w;\n"
                                  "        sum += c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w;\n"
                                  "    }\n"
                                  "    if (sum == 0x12345678u)\n"
                                  "        *out = sum;\n"
                                  "}\n";

struct reader {
    struct cuda *cuda;
    struct cuda_module *module;
    struct cuda_event *begin, *end;
    cuda_address data;
};

static enum status read_gpu(struct reader *reader, double *bytes_per_second, struct error *error)
{
    struct cuda *cuda = reader->cuda;
    struct nvrtc_request request = {
        .name = "read_all", .source = read_source, .arch = cuda_properties(cuda)->arch};
    struct kernel_binary binary = {0};
    struct cuda_function *function;
    uint64_t free_bytes, total_bytes;
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    enum status status = cuda_module_load(cuda, binary.cubin, &reader->module, error);
    kernel_binary_free(&binary);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(cuda_module_function(cuda, reader->module, "read_all", &function, error));
    RETURN_IF_ERROR(cuda_memory(cuda, &free_bytes, &total_bytes, error));
    uint64_t bytes = free_bytes / 2 < CUDA_BYTES ? free_bytes / 2 : CUDA_BYTES;
    bytes -= bytes % 32768;
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, "measuring how fast memory is read", &reader->data, error));
    RETURN_IF_ERROR(cuda_set_words(cuda, reader->data, 0x5bd1e995u, bytes / 4, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &reader->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &reader->end, error));
    uint64_t count = bytes / 16;
    void *arguments[] = {&reader->data, &count, &reader->data};
    *bytes_per_second = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double ms;
        RETURN_IF_ERROR(cuda_event_record(cuda, reader->begin, error));
        RETURN_IF_ERROR(cuda_launch(cuda, function, 4 * cuda_properties(cuda)->multiprocessors, READ_THREADS,
                                    0, arguments, error));
        RETURN_IF_ERROR(cuda_event_record(cuda, reader->end, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        RETURN_IF_ERROR(cuda_event_elapsed(cuda, reader->begin, reader->end, &ms, error));
        double rate = (double)bytes / (ms * 1e-3);
        if (rate > *bytes_per_second)
            *bytes_per_second = rate;
    }
    return STATUS_OK;
}

enum status ceiling_cuda(struct cuda *cuda, double *bytes_per_second, struct error *error)
{
    struct reader reader = {.cuda = cuda};
    enum status status = read_gpu(&reader, bytes_per_second, error);
    cuda_event_destroy(cuda, reader.begin);
    cuda_event_destroy(cuda, reader.end);
    cuda_free(cuda, reader.data);
    cuda_module_unload(cuda, reader.module);
    return status;
}

static enum status copy_to_gpu(struct reader *reader, void *pinned, double *bytes_per_second,
                               struct error *error)
{
    struct cuda *cuda = reader->cuda;
    RETURN_IF_ERROR(
        cuda_allocate(cuda, LINK_BYTES, "measuring how fast memory is copied", &reader->data, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &reader->begin, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &reader->end, error));
    *bytes_per_second = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double ms;
        RETURN_IF_ERROR(cuda_event_record(cuda, reader->begin, error));
        RETURN_IF_ERROR(cuda_copy_to_device(cuda, reader->data, pinned, LINK_BYTES, error));
        RETURN_IF_ERROR(cuda_event_record(cuda, reader->end, error));
        RETURN_IF_ERROR(cuda_synchronize(cuda, error));
        RETURN_IF_ERROR(cuda_event_elapsed(cuda, reader->begin, reader->end, &ms, error));
        const double rate = (double)LINK_BYTES / (ms * 1e-3);
        if (rate > *bytes_per_second)
            *bytes_per_second = rate;
    }
    return STATUS_OK;
}

enum status ceiling_link(struct cuda *cuda, double *bytes_per_second, struct error *error)
{
    struct reader reader = {.cuda = cuda};
    void *pinned;
    RETURN_IF_ERROR(cuda_pinned_allocate(cuda, LINK_BYTES, &pinned, error));
    memset(pinned, 0x5b, LINK_BYTES);
    const enum status status = copy_to_gpu(&reader, pinned, bytes_per_second, error);
    cuda_event_destroy(cuda, reader.begin);
    cuda_event_destroy(cuda, reader.end);
    cuda_free(cuda, reader.data);
    cuda_pinned_free(cuda, pinned);
    return status;
}

struct read_context {
    uint64_t *words;
    uint64_t sums[PARALLEL_THREADS_MAX];
};

/* Unwritten pages would all share one page of zeros. */
static enum status fill_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct read_context *read = context;
    (void)thread;
    (void)error;
    memset((char *)read->words + item * CPU_ITEM_BYTES, 0x5b, CPU_ITEM_BYTES);
    return STATUS_OK;
}

static enum status read_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct read_context *read = context;
    const uint64_t words = CPU_ITEM_BYTES / sizeof(uint64_t);
    uint64_t sum = 0;
    (void)error;
    for (uint64_t i = item * words; i < (item + 1) * words; i++)
        sum += read->words[i];
    read->sums[thread] += sum;
    return STATUS_OK;
}

/* Reads until two repeats in a row are no faster by a fiftieth than the best one. */
static enum status read_cpu(struct read_context *read, unsigned threads, double *bytes_per_second,
                            struct error *error)
{
    RETURN_IF_ERROR(parallel_for(threads, CPU_BYTES / CPU_ITEM_BYTES, fill_item, read, error));
    for (int repeat = 0, alike = 0; repeat < REPEATS && alike < 2; repeat++) {
        const double begin = clock_seconds();
        RETURN_IF_ERROR(parallel_for(threads, CPU_BYTES / CPU_ITEM_BYTES, read_item, read, error));
        const double rate = (double)CPU_BYTES / (clock_seconds() - begin);
        alike = rate > *bytes_per_second * 1.02 ? 0 : alike + 1;
        *bytes_per_second = rate > *bytes_per_second ? rate : *bytes_per_second;
    }
    return STATUS_OK;
}

enum status ceiling_cpu(unsigned threads, double *bytes_per_second, struct error *error)
{
    struct read_context *read = calloc(1, sizeof *read);
    uint64_t *words = aligned_alloc(4096, CPU_BYTES);
    enum status status = STATUS_OK;
    *bytes_per_second = 0;
    if (!read || !words) {
        status = error_out_of_memory(error, CPU_BYTES, "measuring how fast memory is read");
    } else {
        read->words = words;
        status = read_cpu(read, threads, bytes_per_second, error);
    }
    free(words);
    free(read);
    return status;
}
