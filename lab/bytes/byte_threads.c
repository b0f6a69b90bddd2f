/* byte_threads.c: see byte_threads.h. */
#include "lab/bytes/byte_threads.h"

#include "storage/base/memory.h"

#include <stddef.h>
#include <stdlib.h>

#define BLOCK_THREADS 256u
#define WARP_LANES    32u
#define FACTOR        1664525u /* Knuth's, of a linear congruential generator */
#define SEED          UINT64_C(20260102)

_Static_assert(sizeof(struct byte_threads_work) == 24 && offsetof(struct byte_threads_work, factor) == 20,
               "the work is as in CUDA");

uint32_t byte_threads_decode(const struct byte_threads_work *work, const uint32_t *words, uint32_t warp,
                             uint32_t warps)
{
    uint32_t state = warp, line = warp % work->lines;
    for (uint32_t access = 0; access < work->accesses; access++) {
        const uint32_t word = words[(size_t)line * BYTE_THREADS_LINE_WORDS];
        for (uint32_t operation = 0; operation < work->operations; operation++)
            state = state * work->factor + word;
        line = (uint32_t)((line + (uint64_t)warps) % work->lines);
    }
    return state;
}

/* ---- Texts ---- */

const char *byte_threads_kernel(enum byte_threads_way way)
{
    return way == BYTE_THREADS_ALL ? "decode_all_lanes" : "decode_one_lane";
}

enum status byte_threads_text(enum byte_threads_way way, char **source, struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("byte_threads_cuda.h", NULL, &text, error));
    fprintf(text.out,
            "extern \"C\" __global__ void __launch_bounds__(%u) %s(const __grid_constant__ byte_threads_work "
            "work,\n    uint32_t *states)\n{\n    byte_threads<%s>(work, states);\n}\n",
            BLOCK_THREADS, byte_threads_kernel(way), way == BYTE_THREADS_ALL ? "true" : "false");
    return kernel_text_close(&text, source, error);
}

/* ---- Opening ---- */

static enum status make_words(struct byte_threads *threads, struct error *error)
{
    const size_t bytes = (size_t)threads->lines * BYTE_THREADS_LINE_WORDS * sizeof *threads->words;
    struct cuda *const cuda = threads->lab->cuda;
    uint64_t random = SEED;
    RETURN_IF_ERROR(memory_zeros(&threads->words, bytes, "lines of words", error));
    for (size_t line = 0; line < threads->lines; line++)
        threads->words[line * BYTE_THREADS_LINE_WORDS] = (uint32_t)random_next(&random);
    RETURN_IF_ERROR(cuda_allocate(cuda, bytes, "lines of words", &threads->on_device, error));
    return cuda_upload(cuda, threads->on_device, threads->words, bytes, error);
}

enum status byte_threads_open(struct lab *lab, uint32_t lines, struct byte_threads *threads,
                              struct error *error)
{
    *threads = (struct byte_threads){.lab = lab, .lines = lines};
    RETURN_IF_ERROR(make_words(threads, error));
    for (int way = 0; way < BYTE_THREADS_WAYS; way++) {
        char *source;
        RETURN_IF_ERROR(byte_threads_text((enum byte_threads_way)way, &source, error));
        RETURN_IF_ERROR(lab_kernel_open(lab, source, byte_threads_kernel((enum byte_threads_way)way),
                                        BLOCK_THREADS, 0, &threads->kernels[way], error));
    }
    /* One grid for both, so that both have the same work. */
    struct lab_kernel *const one = &threads->kernels[BYTE_THREADS_ONE], *const all =
                                                                            &threads
                                                                                 ->kernels[BYTE_THREADS_ALL];
    one->blocks = all->blocks = one->blocks < all->blocks ? one->blocks : all->blocks;
    threads->warps = one->blocks * (BLOCK_THREADS / WARP_LANES);
    return cuda_allocate(lab->cuda, (uint64_t)threads->warps * WARP_LANES * sizeof(uint32_t),
                         "the lanes' states", &threads->states, error);
}

void byte_threads_close(struct byte_threads *threads)
{
    if (!threads->lab)
        return;
    for (int way = 0; way < BYTE_THREADS_WAYS; way++)
        lab_kernel_close(threads->lab, &threads->kernels[way]);
    cuda_free(threads->lab->cuda, threads->on_device);
    cuda_free(threads->lab->cuda, threads->states);
    free(threads->words);
    *threads = (struct byte_threads){0};
}

/* ---- Measuring ---- */

/* A measurement: `expected` has the host's state of each warp, `found` the device's of each lane. */
struct measuring {
    struct byte_threads *threads;
    struct byte_threads_work work;
    const struct lab_kernel *kernel; /* that runs */
    uint32_t *expected, *found;
};

static enum status expect_warp(void *context, uint64_t warp, unsigned thread, struct error *error)
{
    struct measuring *const own = context;
    (void)thread;
    own->expected[warp] =
        byte_threads_decode(&own->work, own->threads->words, (uint32_t)warp, own->threads->warps);
    return cancel_check(error);
}

static enum status launch(void *context, struct error *error)
{
    struct measuring *const own = context;
    void *arguments[] = {&own->work, &own->threads->states};
    return lab_kernel_launch(own->threads->lab, own->kernel, arguments, error);
}

static enum status measure_way(struct measuring *own, enum byte_threads_way way, struct speed *speed,
                               struct error *error)
{
    struct byte_threads *const threads = own->threads;
    struct cuda *const cuda = threads->lab->cuda;
    const uint32_t lanes = threads->warps * WARP_LANES;
    own->kernel = &threads->kernels[way];
    RETURN_IF_ERROR(cuda_set_words(cuda, threads->states, 0xa5a5a5a5, lanes, error));
    RETURN_IF_ERROR(launch(own, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, own->found, threads->states, lanes * sizeof *own->found, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (own->found[lane] != own->expected[lane / WARP_LANES])
            return error_set(error, STATUS_CHECK_FAILED,
                             "%s, %u operations an access: lane %u of warp %u has another state",
                             byte_threads_kernel(way), own->work.operations, lane % WARP_LANES,
                             lane / WARP_LANES);
    return lab_time(threads->lab, launch, own, speed, error);
}

enum status byte_threads_measure(struct byte_threads *threads, uint32_t accesses, uint32_t operations,
                                 struct speed speeds[BYTE_THREADS_WAYS], struct error *error)
{
    const size_t warps = threads->warps;
    struct measuring own = {.threads = threads,
                            .work = {threads->on_device, threads->lines, accesses, operations, FACTOR}};
    enum status status = memory_take(&own.expected, warps * sizeof *own.expected, "the warps' states", error);
    if (status == STATUS_OK)
        status = memory_take(&own.found, warps * WARP_LANES * sizeof *own.found, "the lanes' states", error);
    if (status == STATUS_OK)
        status = parallel_for(threads->lab->threads, warps, expect_warp, &own, error);
    for (int way = 0; status == STATUS_OK && way < BYTE_THREADS_WAYS; way++)
        status = measure_way(&own, (enum byte_threads_way)way, &speeds[way], error);
    free(own.expected);
    free(own.found);
    return status;
}
