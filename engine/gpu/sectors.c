/* sectors.c: see sectors.h. */
#include "engine/gpu/sectors.h"

#include <stdlib.h>
#include <string.h>

#define SECTOR_BYTES 32u

/* The same as struct counted_memory of unpack_cuda.h. */
struct counted_memory {
    uint64_t address, bytes;
    uint64_t sectors;
};

const char *const cuda_sectors_options[] = {"-DTILE_COUNT_SECTORS", NULL};

struct counter {
    struct cuda *cuda;
    struct cuda_columns *columns;
    struct cuda_module *module;
    cuda_address marks; /* of all columns, one bit a sector */
    uint64_t mark_bytes;
    uint8_t *copy;
    struct counted_memory memory[SECTOR_RANGES_MAX + 1];
};

static enum status load_kernel(struct counter *counter, const struct sector_count *count,
                               struct cuda_function **function, struct error *error)
{
    RETURN_IF_ERROR(cuda_module_load(counter->cuda, count->cubin, &counter->module, error));
    RETURN_IF_ERROR(cuda_module_function(counter->cuda, counter->module, "scan", function, error));
    return cuda_function_allow_shared(counter->cuda, *function, count->shared_bytes, error);
}

static enum status point_at_columns(struct counter *counter, const struct sector_count *count,
                                    struct error *error)
{
    uint64_t words = 0;
    for (uint32_t r = 0; r < count->range_count; r++) {
        counter->memory[r] = (struct counted_memory){.address = count->ranges[r].address,
                                                     .bytes = count->ranges[r].bytes,
                                                     .sectors = words * sizeof(uint32_t)};
        words += count->ranges[r].bytes / SECTOR_BYTES / 32 + 1;
    }
    counter->mark_bytes = words * sizeof(uint32_t);
    RETURN_IF_ERROR(cuda_columns_allocate_now(counter->columns, counter->mark_bytes, "marks of sectors",
                                              &counter->marks, error));
    for (uint32_t r = 0; r < count->range_count; r++)
        counter->memory[r].sectors += counter->marks;
    RETURN_IF_ERROR(cuda_set_words(counter->cuda, counter->marks, 0, words, error));
    cuda_address place;
    uint64_t bytes;
    RETURN_IF_ERROR(cuda_module_variable(counter->cuda, counter->module, "arguments", &place, &bytes, error));
    RETURN_IF_ERROR(cuda_copy_to_device(counter->cuda, place, count->constant, bytes, error));
    RETURN_IF_ERROR(
        cuda_module_variable(counter->cuda, counter->module, "tile_counted", &place, &bytes, error));
    return cuda_copy_to_device(counter->cuda, place, counter->memory, sizeof counter->memory, error);
}

static enum status run(struct counter *counter, const struct sector_count *count, uint64_t *bytes,
                       struct error *error)
{
    struct cuda_function *scan;
    RETURN_IF_ERROR(load_kernel(counter, count, &scan, error));
    RETURN_IF_ERROR(point_at_columns(counter, count, error));
    RETURN_IF_ERROR(cuda_launch(counter->cuda, scan, count->blocks, count->threads, count->shared_bytes,
                                count->arguments, error));
    counter->copy = malloc(counter->mark_bytes);
    if (!counter->copy)
        return error_out_of_memory(error, counter->mark_bytes, "marks of sectors");
    RETURN_IF_ERROR(
        cuda_copy_to_host(counter->cuda, counter->copy, counter->marks, counter->mark_bytes, error));
    RETURN_IF_ERROR(cuda_synchronize(counter->cuda, error));
    for (uint32_t r = 0; r < count->range_count; r++) {
        const uint64_t first = counter->memory[r].sectors - counter->marks,
                       end = r + 1 < count->range_count ? counter->memory[r + 1].sectors - counter->marks
                                                        : counter->mark_bytes;
        bytes[r] = 0;
        for (uint64_t i = first; i < end; i += sizeof(uint32_t)) {
            uint32_t word;
            memcpy(&word, counter->copy + i, sizeof word);
            bytes[r] += (uint64_t)__builtin_popcount(word) * SECTOR_BYTES;
        }
    }
    return STATUS_OK;
}

enum status cuda_sectors_count(struct cuda *cuda, struct cuda_columns *columns,
                               const struct sector_count *count, uint64_t *bytes, struct error *error)
{
    struct counter counter = {.cuda = cuda, .columns = columns};
    enum status status = run(&counter, count, bytes, error);
    free(counter.copy);
    cuda_free(cuda, counter.marks);
    cuda_module_unload(cuda, counter.module);
    return status;
}
