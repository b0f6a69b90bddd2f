/* list_gpu.c: see list_gpu.h. */
#include "lab/lists/list_gpu.h"

#include "engine/cuda/kernel_cache.h"
#include "lab/bench/kernel.h"
#include "lab/kernels/lists_bound.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define THREADS    256u
#define SCAN_TILE  8192u /* items of a thread block of scan_device_cuda.h, which has 256 threads */
#define LIST_ALIGN 64u   /* of a list's sums, in words; a scan needs multiples of 16 bytes */

/* ---- Kernels ---- */

#define SCAN(item) \
    "const " item " *items, uint64_t count, uint32_t *sums, unsigned long long *states, uint32_t *ticket"
#define SCAN_CALL "scan_device(items, count, sums, states, ticket)"

static const struct {
    const char *name, *parameters, *body;
} texts[LIST_FUNCTIONS] = {
    [LIST_SCAN_WORDS] = {"scan_words", SCAN("uint32_t"), SCAN_CALL},
    [LIST_SCAN_BYTES] = {"scan_bytes", SCAN("uint8_t"), SCAN_CALL},
    [LIST_PROBE] = {"probe", "const bound_list *lists, uint32_t list_count, uint8_t *found",
                    "lists_probe(lists, list_count, found)"},
    [LIST_PICK] = {"pick",
                   "const bound_list *lists, const uint8_t *found, const uint32_t *places, uint32_t *out, "
                   "uint32_t *total",
                   "lists_pick(lists, found, places, out, total)"},
    [LIST_MARK] = {"mark", "const bound_list *list, uint32_t *bitmap", "lists_mark(list, bitmap)"},
    [LIST_COUNT] = {"count_bits", "const uint32_t *bitmap, uint64_t words, uint32_t *counts",
                    "lists_count(bitmap, words, counts)"},
    [LIST_WRITE] = {"write_documents",
                    "const uint32_t *bitmap, uint64_t words, const uint32_t *places, uint32_t *out, "
                    "uint32_t *total",
                    "lists_write(bitmap, words, places, out, total)"},
};

enum status list_kernel_text(char **source, struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("lists_cuda.h", NULL, &text, error));
    for (uint32_t f = 0; f < LIST_FUNCTIONS; f++)
        fprintf(text.out, "extern \"C\" __global__ void __launch_bounds__(%u) %s(%s)\n{\n    %s;\n}\n",
                THREADS, texts[f].name, texts[f].parameters, texts[f].body);
    return kernel_text_close(&text, source, error);
}

enum status list_gpu_open(struct lab *lab, struct list_gpu *gpu, struct error *error)
{
    struct kernel_binary binary = {0};
    char *source;
    *gpu = (struct list_gpu){.lab = lab};
    RETURN_IF_ERROR(list_kernel_text(&source, error));
    const struct nvrtc_request request = {.source = source, .arch = cuda_properties(lab->cuda)->arch};
    enum status status = kernel_cache_get(&request, &binary, NULL, error);
    free(source);
    RETURN_IF_ERROR(status);
    status = cuda_module_load(lab->cuda, binary.cubin, &gpu->module, error);
    kernel_binary_free(&binary);
    for (uint32_t f = 0; status == STATUS_OK && f < LIST_FUNCTIONS; f++)
        status = cuda_module_function(lab->cuda, gpu->module, texts[f].name, &gpu->functions[f], error);
    return status;
}

void list_gpu_close(struct list_gpu *gpu)
{
    if (gpu->module)
        cuda_module_unload(gpu->lab->cuda, gpu->module);
    *gpu = (struct list_gpu){0};
}

/* ---- A query's memory ---- */

struct sets {
    struct list_gpu *gpu;
    const struct list_query *query;
    struct bound_list lists[LIST_QUERY_MAX];
    uint64_t words;      /* of the bitmap */
    uint64_t states;     /* of the largest scan */
    cuda_address bounds; /* `lists` */
    cuda_address sums, found, places, bitmap, out, total, scan;
};

static uint64_t blocks_of(uint64_t items, uint64_t each)
{
    return (items + each - 1) / each;
}

static uint64_t sums_room(const struct dataset *gaps)
{
    return blocks_of(gaps->rows, LIST_ALIGN) * LIST_ALIGN * sizeof(uint32_t);
}

static enum status open_sets(struct sets *sets, const cuda_address *gaps, struct error *error)
{
    struct cuda *const cuda = sets->gpu->lab->cuda;
    const struct list_query *const query = sets->query;
    const uint64_t first = query->gaps[0].rows;
    uint64_t sums_bytes = 0, longest = 0;
    for (uint32_t l = 0; l < query->lists; l++) {
        sums_bytes += sums_room(&query->gaps[l]);
        longest = query->gaps[l].rows > longest ? query->gaps[l].rows : longest;
    }
    sets->words = blocks_of(query->documents, 32);
    sets->states = blocks_of(longest > sets->words ? longest : sets->words, SCAN_TILE);
    const uint64_t places = first > sets->words ? first : sets->words;
    const uint64_t written = query->any_count > first ? query->any_count : first;
    const struct {
        cuda_address *address;
        uint64_t bytes;
        const char *what;
    } parts[] = {
        {&sets->bounds, sizeof sets->lists, "a list of lists"},
        {&sets->sums, sums_bytes, "sums of gaps"},
        {&sets->found, first, "a byte for each document"},
        {&sets->places, places * sizeof(uint32_t), "places of documents"},
        {&sets->bitmap, sets->words * sizeof(uint32_t), "a bitmap of documents"},
        {&sets->out, written * sizeof(uint32_t), "documents"},
        {&sets->total, sizeof(uint32_t), "a count"},
        {&sets->scan, (sets->states + 1) * sizeof(uint64_t), "a scan's state"},
    };
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        RETURN_IF_ERROR(cuda_allocate(cuda, parts[p].bytes, parts[p].what, parts[p].address, error));
    cuda_address sums = sets->sums;
    for (uint32_t l = 0; l < query->lists; l++) {
        sets->lists[l] = (struct bound_list){gaps[l], sums, query->gaps[l].rows};
        sums += sums_room(&query->gaps[l]);
    }
    return cuda_upload(cuda, sets->bounds, sets->lists, sizeof sets->lists, error);
}

static void close_sets(struct sets *sets)
{
    struct cuda *const cuda = sets->gpu->lab->cuda;
    const cuda_address parts[] = {sets->bounds, sets->sums, sets->found, sets->places,
                                  sets->bitmap, sets->out,  sets->total, sets->scan};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        cuda_free(cuda, parts[p]);
}

/* ---- Steps ---- */

static enum status launch(const struct sets *sets, enum list_function function, uint64_t blocks,
                          void **arguments, struct error *error)
{
    return cuda_launch(sets->gpu->lab->cuda, sets->gpu->functions[function], (unsigned)blocks, THREADS, 0,
                       arguments, error);
}

static enum status scan(const struct sets *sets, enum list_function function, cuda_address items,
                        uint64_t count, cuda_address sums, struct error *error)
{
    cuda_address states = sets->scan, ticket = sets->scan + sets->states * sizeof(uint64_t);
    void *arguments[] = {&items, &count, &sums, &states, &ticket};
    RETURN_IF_ERROR(cuda_set_words(sets->gpu->lab->cuda, sets->scan, 0, 2 * sets->states + 1, error));
    return launch(sets, function, blocks_of(count, SCAN_TILE), arguments, error);
}

static enum status run_sums(void *context, struct error *error)
{
    struct sets *const sets = context;
    for (uint32_t l = 0; l < sets->query->lists; l++) {
        const struct bound_list *const list = &sets->lists[l];
        RETURN_IF_ERROR(scan(sets, LIST_SCAN_WORDS, list->gaps, list->count, list->sums, error));
    }
    return STATUS_OK;
}

static enum status run_and(void *context, struct error *error)
{
    struct sets *const sets = context;
    const uint64_t first = sets->lists[0].count;
    uint32_t lists = sets->query->lists;
    void *probing[] = {&sets->bounds, &lists, &sets->found};
    void *picking[] = {&sets->bounds, &sets->found, &sets->places, &sets->out, &sets->total};
    RETURN_IF_ERROR(launch(sets, LIST_PROBE, blocks_of(first, THREADS), probing, error));
    RETURN_IF_ERROR(scan(sets, LIST_SCAN_BYTES, sets->found, first, sets->places, error));
    return launch(sets, LIST_PICK, blocks_of(first, THREADS), picking, error);
}

static enum status run_or(void *context, struct error *error)
{
    struct sets *const sets = context;
    void *counting[] = {&sets->bitmap, &sets->words, &sets->places};
    void *writing[] = {&sets->bitmap, &sets->words, &sets->places, &sets->out, &sets->total};
    RETURN_IF_ERROR(cuda_set_words(sets->gpu->lab->cuda, sets->bitmap, 0, sets->words, error));
    for (uint32_t l = 0; l < sets->query->lists; l++) {
        cuda_address list = sets->bounds + l * sizeof(struct bound_list);
        void *marking[] = {&list, &sets->bitmap};
        RETURN_IF_ERROR(launch(sets, LIST_MARK, blocks_of(sets->lists[l].count, THREADS), marking, error));
    }
    RETURN_IF_ERROR(launch(sets, LIST_COUNT, blocks_of(sets->words, THREADS), counting, error));
    RETURN_IF_ERROR(scan(sets, LIST_SCAN_WORDS, sets->places, sets->words, sets->places, error));
    return launch(sets, LIST_WRITE, blocks_of(sets->words, THREADS), writing, error);
}

/* ---- Measuring ---- */

/* Reads the answer back and compares it. A count that is too large is wrong, too; it is not read back. */
static enum status check(const struct sets *sets, bool any, struct error *error)
{
    struct cuda *const cuda = sets->gpu->lab->cuda;
    const struct list_query *const query = sets->query;
    const uint32_t expected = any ? query->any_count : query->all_count;
    uint32_t *documents = NULL, count = 0;
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, &count, sets->total, sizeof count, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    const uint64_t bytes = count == expected ? count * sizeof *documents : 0;
    RETURN_IF_ERROR(memory_take(&documents, bytes, "a query's answer", error));
    enum status status = bytes ? cuda_copy_to_host(cuda, documents, sets->out, bytes, error) : STATUS_OK;
    if (status == STATUS_OK)
        status = cuda_synchronize(cuda, error);
    if (status == STATUS_OK)
        status = list_query_check(query, any, documents, count, "the GPU", error);
    free(documents);
    return status;
}

static enum status measure(struct sets *sets, struct list_gpu_result *result, struct error *error)
{
    struct lab *const lab = sets->gpu->lab;
    RETURN_IF_ERROR(run_sums(sets, error));
    RETURN_IF_ERROR(run_and(sets, error));
    RETURN_IF_ERROR(check(sets, false, error));
    RETURN_IF_ERROR(run_or(sets, error));
    RETURN_IF_ERROR(check(sets, true, error));
    RETURN_IF_ERROR(lab_time(lab, run_sums, sets, &result->sum, error));
    RETURN_IF_ERROR(lab_time(lab, run_and, sets, &result->all, error));
    return lab_time(lab, run_or, sets, &result->any, error);
}

enum status list_gpu_measure(struct list_gpu *gpu, const struct list_query *query, const cuda_address *gaps,
                             struct list_gpu_result *result, struct error *error)
{
    struct sets sets = {.gpu = gpu, .query = query};
    enum status status = open_sets(&sets, gaps, error);
    if (status == STATUS_OK)
        status = measure(&sets, result, error);
    close_sets(&sets);
    return status;
}
