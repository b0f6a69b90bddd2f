/*
 * bench_upload.c: measures how fast columns are copied into a GPU's memory. It compares cuda_upload from
 * pageable memory with a copy from pinned memory, which is the fastest that the bus allows, and with the
 * driver's own copy from pageable memory.
 *
 *     bench_upload [MIB [REPEATS]]      1024 MiB and 11 repeats by default; prints a table
 *
 * The three take turns. After the first turn of each, the bytes are read back and compared; a difference
 * gives exit code 1.
 */
#include "engine/cuda/cuda.h"
#include "storage/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { PINNED, UPLOAD, PAGEABLE, WAYS };

static const char *const way_names[] = {[PINNED] = "pinned", [UPLOAD] = "upload", [PAGEABLE] = "pageable"};

struct bench {
    struct cuda *cuda;
    uint64_t bytes;
    int repeats;
    uint8_t *pageable;
    void *pinned;
    double *times[WAYS];
};

static enum status copy(const struct bench *bench, enum way way, cuda_address to, struct error *error)
{
    if (way == UPLOAD)
        return cuda_upload(bench->cuda, to, bench->pageable, bench->bytes, error);
    RETURN_IF_ERROR(cuda_copy_to_device(bench->cuda, to, way == PINNED ? bench->pinned : bench->pageable,
                                        bench->bytes, error));
    return cuda_synchronize(bench->cuda, error);
}

/* Reads the device's bytes back into the pinned memory and compares them with the pageable memory. */
static enum status check(const struct bench *bench, enum way way, cuda_address from, struct error *error)
{
    RETURN_IF_ERROR(cuda_copy_to_host(bench->cuda, bench->pinned, from, bench->bytes, error));
    RETURN_IF_ERROR(cuda_synchronize(bench->cuda, error));
    if (memcmp(bench->pinned, bench->pageable, bench->bytes) != 0)
        return error_set(error, STATUS_CHECK_FAILED, "%s: other bytes came than were sent", way_names[way]);
    return STATUS_OK;
}

static enum status measure(const struct bench *bench, cuda_address memory, struct error *error)
{
    for (int repeat = -1; repeat < bench->repeats; repeat++)
        for (enum way way = 0; way < WAYS; way++) {
            if (repeat < 0)
                RETURN_IF_ERROR(cuda_set_bytes(bench->cuda, memory, 0, bench->bytes, error));
            RETURN_IF_ERROR(cuda_synchronize(bench->cuda, error));
            const double begin = clock_seconds();
            RETURN_IF_ERROR(copy(bench, way, memory, error));
            if (repeat >= 0)
                bench->times[way][repeat] = clock_seconds() - begin;
            else
                RETURN_IF_ERROR(check(bench, way, memory, error));
        }
    return STATUS_OK;
}

static enum status run(struct bench *bench, struct error *error)
{
    cuda_address memory;
    bench->pageable = malloc(bench->bytes);
    for (enum way way = 0; way < WAYS; way++)
        bench->times[way] = calloc((size_t)bench->repeats, sizeof(double));
    if (!bench->pageable || !bench->times[PINNED] || !bench->times[UPLOAD] || !bench->times[PAGEABLE])
        return error_out_of_memory(error, bench->bytes, "bytes to upload");
    RETURN_IF_ERROR(cuda_open(0, &bench->cuda, error));
    RETURN_IF_ERROR(cuda_pinned_allocate(bench->cuda, bench->bytes, &bench->pinned, error));
    RETURN_IF_ERROR(cuda_allocate(bench->cuda, bench->bytes, "bytes to upload", &memory, error));
    uint64_t random = 20261121;
    for (uint64_t i = 0; i < bench->bytes; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        bench->pageable[i] = (uint8_t)(random >> 56);
    }
    memcpy(bench->pinned, bench->pageable, bench->bytes);
    enum status status = measure(bench, memory, error);
    cuda_free(bench->cuda, memory);
    RETURN_IF_ERROR(status);
    printf("%s, %" PRIu64 " MiB\n\n%-9s %12s %12s\n", cuda_properties(bench->cuda)->name, bench->bytes >> 20,
           "way", "median GB/s", "best GB/s");
    for (enum way way = 0; way < WAYS; way++) {
        const double median = clock_median(bench->times[way], (size_t)bench->repeats);
        printf("%-9s %12.2f %12.2f\n", way_names[way], (double)bench->bytes / median / 1e9,
               (double)bench->bytes / bench->times[way][0] / 1e9);
    }
    return STATUS_OK;
}

int main(int argc, char **argv)
{
    struct bench bench = {.bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1024) << 20,
                          .repeats = argc > 2 ? atoi(argv[2]) : 11};
    struct error error = {0};
    if (argc > 3 || bench.bytes == 0 || bench.repeats < 1) {
        fprintf(stderr, "usage: bench_upload [MIB [REPEATS]]\n");
        return 2;
    }
    enum status status = run(&bench, &error);
    if (status != STATUS_OK)
        fprintf(stderr, "bench_upload: %s\n", error.text);
    for (enum way way = 0; way < WAYS; way++)
        free(bench.times[way]);
    if (bench.pinned)
        cuda_pinned_free(bench.cuda, bench.pinned);
    cuda_close(bench.cuda);
    free(bench.pageable);
    return (int)status;
}
