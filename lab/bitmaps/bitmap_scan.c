/* bitmap_scan.c: see bitmap_scan.h. */
#include "lab/bitmaps/bitmap_scan.h"

#include "operators/index/index_arguments.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/index/bitset.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_TILES (ENCODED_CHUNK_ROWS / TILE_ROWS)
#define TILE_WORDS  (TILE_ROWS / 64u)
#define REPEAT_MOST 3u

static enum status differ(const struct bitmap_scan *scan, const char *device, struct error *error)
{
    return error_set(error, STATUS_CHECK_FAILED,
                     "values %d to %d: the index and %s's scan have other rows on %s", (int)scan->low,
                     (int)scan->high, scan->encoded->codec->name, device);
}

static void set_range(struct bitmap_scan *scan, int32_t low, uint32_t count)
{
    scan->low = low;
    scan->high = low + (int32_t)count - 1;
    scan->count = count;
}

/* ---- On the processor ---- */

static void scan_host(struct bitmap_scan *scan)
{
    for (uint64_t tile = 0; tile < scan->tiles; tile++)
        scan->encoded->codec->in_range(&scan->encoded->chunks[tile / CHUNK_TILES],
                                       (uint32_t)(tile % CHUNK_TILES), scan->low, scan->high,
                                       scan->bits + tile * TILE_WORDS);
}

static enum status or_host(struct bitmap_scan *scan, struct error *error)
{
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(wah_or_many(scan->set->vectors, scan->set->directories, scan->count, scan->set->rows, 1,
                                &scan->result, error));
    wah_to_bits(wah_of(&scan->result), scan->set->rows, scan->index_bits);
    return STATUS_OK;
}

static enum status compare_host(struct bitmap_scan *scan, struct error *error)
{
    const uint64_t words = bitset_words(scan->set->rows), rest = scan->set->rows % 64;
    if (rest) /* rows after the last one may be in the range */
        scan->bits[words - 1] &= (UINT64_C(1) << rest) - 1;
    return memcmp(scan->bits, scan->index_bits, words * sizeof *scan->bits) == 0
               ? STATUS_OK
               : differ(scan, "the processor", error);
}

enum status bitmap_scan_cpu(struct bitmap_scan *scan, int32_t low, uint32_t count, struct speed *by_index,
                            struct speed *by_scan, struct error *error)
{
    const uint32_t repeat = scan->lab->repeat < REPEAT_MOST ? scan->lab->repeat : REPEAT_MOST;
    double index_ms[REPEAT_MOST], scan_ms[REPEAT_MOST];
    set_range(scan, low, count);
    scan_host(scan);
    RETURN_IF_ERROR(or_host(scan, error));
    RETURN_IF_ERROR(compare_host(scan, error));
    for (uint32_t i = 0; i < repeat; i++) {
        const double begin = clock_ms();
        RETURN_IF_ERROR(or_host(scan, error));
        const double middle = clock_ms();
        scan_host(scan);
        index_ms[i] = middle - begin;
        scan_ms[i] = clock_ms() - middle;
    }
    *by_index = speed_of(index_ms, repeat);
    *by_scan = speed_of(scan_ms, repeat);
    return STATUS_OK;
}

/* ---- On the GPU ---- */

static enum status launch_scan(void *context, struct error *error)
{
    struct bitmap_scan *const scan = context;
    uint32_t items, chunk_tiles = CHUNK_TILES;
    cuda_address chunks = cuda_decode_chunks(scan->column.decode),
                 work = cuda_decode_work(scan->column.decode, &items);
    void *arguments[] = {&chunks, &work, &items, &chunk_tiles, &scan->low, &scan->high, &scan->masks};
    return lab_kernel_launch(scan->lab, &scan->kernel, arguments, error);
}

static enum status launch_or(void *context, struct error *error)
{
    struct bitmap_scan *const scan = context;
    uint64_t groups = scan->set->groups;
    cuda_address none = 0;
    void *arguments[] = {&scan->vectors, &scan->count, &groups, &scan->groups, &none};
    return bitmap_launch_inline(scan->kernels, scan->set, arguments, error);
}

static enum status compare_device(struct bitmap_scan *scan, struct error *error)
{
    struct cuda *const cuda = scan->lab->cuda;
    uint64_t rows = scan->set->rows;
    uint32_t wrong;
    void *arguments[] = {&scan->groups, &scan->masks, &rows, &scan->wrong};
    RETURN_IF_ERROR(cuda_set_words(cuda, scan->wrong, 0, 1, error));
    RETURN_IF_ERROR(bitmap_launch(scan->kernels, BITMAP_COMPARE_LANES, (scan->tiles * TILE_LANES + 255) / 256,
                                  256, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &wrong, scan->wrong, sizeof wrong, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    return wrong ? differ(scan, "the GPU", error) : STATUS_OK;
}

enum status bitmap_scan_cuda(struct bitmap_scan *scan, int32_t low, uint32_t count, struct speed *by_index,
                             struct speed *by_scan, struct error *error)
{
    struct cuda *const cuda = scan->lab->cuda;
    set_range(scan, low, count);
    RETURN_IF_ERROR(cuda_set_bytes(cuda, scan->groups, 0xa5, scan->set->stride * 8, error));
    RETURN_IF_ERROR(cuda_set_bytes(cuda, scan->masks, 0x5a, scan->tiles * TILE_ROWS / 8, error));
    RETURN_IF_ERROR(launch_or(scan, error));
    RETURN_IF_ERROR(launch_scan(scan, error));
    RETURN_IF_ERROR(compare_device(scan, error));
    RETURN_IF_ERROR(lab_time(scan->lab, launch_or, scan, by_index, error));
    return lab_time(scan->lab, launch_scan, scan, by_scan, error);
}

static enum status upload_vectors(struct bitmap_scan *scan, struct bound_vector *vectors, struct error *error)
{
    const struct bitmap_set *const set = scan->set;
    struct cuda *const cuda = scan->lab->cuda;
    for (uint32_t v = 0; v < set->count; v++)
        vectors[v] =
            (struct bound_vector){.words = scan->words + (uint64_t)(set->vectors[v].words - set->words) * 8,
                                  .starts = scan->starts + v * set->pieces * sizeof *set->starts,
                                  .count = set->vectors[v].count};
    RETURN_IF_ERROR(cuda_upload(cuda, scan->vectors, vectors, set->count * sizeof *vectors, error));
    RETURN_IF_ERROR(cuda_upload(cuda, scan->words, set->words, set->word_count * 8, error));
    RETURN_IF_ERROR(
        cuda_upload(cuda, scan->starts, set->starts, set->count * set->pieces * sizeof *set->starts, error));
    return cuda_synchronize(cuda, error);
}

static enum status open_device(struct bitmap_scan *scan, struct error *error)
{
    const struct bitmap_set *const set = scan->set;
    const struct {
        cuda_address *address;
        uint64_t bytes;
        const char *what;
    } all[] = {
        {&scan->words, (set->word_count + 3) / 4 * 32, "compressed vectors"},
        {&scan->starts, set->count * set->pieces * sizeof *set->starts, "directories"},
        {&scan->vectors, set->count * sizeof(struct bound_vector), "a list of vectors"},
        {&scan->groups, set->stride * 8, "the index's result"},
        {&scan->masks, scan->tiles * TILE_ROWS / 8, "the scan's result"},
        {&scan->wrong, sizeof(uint32_t), "a count"},
    };
    char *source;
    struct bound_vector *vectors;
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        RETURN_IF_ERROR(cuda_allocate(scan->lab->cuda, all[a].bytes, all[a].what, all[a].address, error));
    RETURN_IF_ERROR(memory_take(&vectors, set->count * sizeof *vectors, "a list of vectors", error));
    const enum status status = upload_vectors(scan, vectors, error);
    free(vectors);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(lab_column_open(scan->lab, scan->encoded, &scan->column, error));
    RETURN_IF_ERROR(bitmap_scan_text(&scan->column.shape, &source, error));
    return lab_kernel_open(scan->lab, source, BITMAP_SCAN, BITMAP_SCAN_THREADS, 0, &scan->kernel, error);
}

/* ---- Both ---- */

enum status bitmap_scan_open(struct bitmap_scan *scan, struct error *error)
{
    scan->tiles = (scan->set->rows + TILE_ROWS - 1) / TILE_ROWS;
    const uint64_t bytes = scan->tiles * TILE_ROWS / 8;
    RETURN_IF_ERROR(memory_take(&scan->bits, bytes, "the scan's result", error));
    RETURN_IF_ERROR(memory_take(&scan->index_bits, bytes, "the index's result", error));
    return scan->lab->cuda ? open_device(scan, error) : STATUS_OK;
}

void bitmap_scan_close(struct bitmap_scan *scan)
{
    wah_builder_free(&scan->result);
    free(scan->bits);
    free(scan->index_bits);
    if (!scan->lab->cuda)
        return;
    const cuda_address all[] = {scan->words,  scan->starts, scan->vectors,
                                scan->groups, scan->masks,  scan->wrong};
    lab_kernel_close(scan->lab, &scan->kernel);
    lab_column_close(&scan->column);
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        cuda_free(scan->lab->cuda, all[a]);
}
