/* roaring.c: see roaring.h. */
#include "lab/bitmaps/roaring.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 4096u

static const char *const libraries[] = {"libroaring.so", "libroaring.so.0"};

/* POSIX makes an address of a function from one of data; ISO C has no cast for it. */
static bool find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

void roaring_open(struct roaring *roaring)
{
    *roaring = (struct roaring){.library = NULL};
    for (size_t l = 0; l < sizeof libraries / sizeof *libraries && !roaring->library; l++)
        roaring->library = dlopen(libraries[l], RTLD_NOW | RTLD_LOCAL);
    void *const library = roaring->library;
    if (library && (!find(library, "roaring_bitmap_create_with_capacity", &roaring->create) ||
                    !find(library, "roaring_bitmap_free", &roaring->release) ||
                    !find(library, "roaring_bitmap_add_many", &roaring->add_many) ||
                    !find(library, "roaring_bitmap_add_range_closed", &roaring->add_range) ||
                    !find(library, "roaring_bitmap_run_optimize", &roaring->optimize) ||
                    !find(library, "roaring_bitmap_shrink_to_fit", &roaring->shrink) ||
                    !find(library, "roaring_bitmap_portable_size_in_bytes", &roaring->bytes) ||
                    !find(library, "roaring_bitmap_or_many", &roaring->or_many) ||
                    !find(library, "roaring_bitmap_or_many_heap", &roaring->or_heap) ||
                    !find(library, "roaring_bitmap_equals", &roaring->equals)))
        roaring_close(roaring);
}

void roaring_close(struct roaring *roaring)
{
    if (roaring->library)
        dlclose(roaring->library);
    roaring->library = NULL;
}

static struct roaring_bitmap *make(const struct roaring *roaring, struct wah_vector vector)
{
    uint32_t batch[BATCH_ROWS + WAH_GROUP_ROWS], count = 0;
    struct roaring_bitmap *const bitmap = roaring->create(0);
    uint64_t row = 0;
    for (uint64_t w = 0; w < vector.count && bitmap; w++) {
        const uint64_t word = vector.words[w], length = word & WAH_FILL ? word & WAH_LENGTH : 1;
        if ((word & WAH_FILL) && (word & WAH_ONES))
            roaring->add_range(bitmap, (uint32_t)row, (uint32_t)(row + length * WAH_GROUP_ROWS - 1));
        for (uint64_t rest = word & WAH_FILL ? 0 : word; rest; rest &= rest - 1)
            batch[count++] = (uint32_t)(row + (uint64_t)__builtin_ctzll(rest));
        row += length * WAH_GROUP_ROWS;
        if (count < BATCH_ROWS && w + 1 < vector.count)
            continue;
        roaring->add_many(bitmap, count, batch);
        count = 0;
    }
    if (bitmap) {
        roaring->optimize(bitmap);
        roaring->shrink(bitmap);
    }
    return bitmap;
}

enum status roaring_make(const struct roaring *roaring, const struct wah_vector *vectors, uint64_t count,
                         uint64_t rows, struct roaring_set *set, struct error *error)
{
    *set = (struct roaring_set){.bitmaps = NULL};
    if (rows > UINT64_C(1) << 32)
        return error_set(error, STATUS_BAD_INPUT, "Roaring bitmaps have at most 2^32 rows");
    RETURN_IF_ERROR(memory_zeros(&set->bitmaps, count * sizeof *set->bitmaps, "Roaring bitmaps", error));
    for (; set->count < count; set->count++) {
        struct roaring_bitmap *const bitmap = make(roaring, vectors[set->count]);
        if (!bitmap)
            return error_set(error, STATUS_MACHINE, "no memory for a Roaring bitmap");
        set->bitmaps[set->count] = bitmap;
        set->bytes += roaring->bytes(bitmap);
        RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

void roaring_free(const struct roaring *roaring, struct roaring_set *set)
{
    for (uint64_t b = 0; set->bitmaps && b < set->count && set->bitmaps[b]; b++)
        roaring->release(set->bitmaps[b]);
    free(set->bitmaps);
    *set = (struct roaring_set){.bitmaps = NULL};
}

enum status roaring_time(const struct roaring *roaring, const struct roaring_set *set,
                         struct wah_vector expected, uint64_t rows, double *ms, struct error *error)
{
    const struct roaring_bitmap **const bitmaps = (const struct roaring_bitmap **)set->bitmaps;
    struct roaring_set wanted = {.bitmaps = NULL};
    enum status status = roaring_make(roaring, &expected, 1, rows, &wanted, error);
    for (int heap = 0; heap < 2 && status == STATUS_OK; heap++) {
        const double begin = clock_ms();
        struct roaring_bitmap *const result =
            heap ? roaring->or_heap((uint32_t)set->count, bitmaps) : roaring->or_many(set->count, bitmaps);
        const double taken = clock_ms() - begin;
        *ms = heap == 0 || taken < *ms ? taken : *ms;
        if (!result || !roaring->equals(result, wanted.bitmaps[0]))
            status = error_set(error, STATUS_CHECK_FAILED, "CRoaring's OR of %llu vectors gives other rows",
                               (unsigned long long)set->count);
        if (result)
            roaring->release(result);
    }
    roaring_free(roaring, &wanted);
    return status;
}
