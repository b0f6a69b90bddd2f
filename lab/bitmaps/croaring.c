/* croaring.c: see croaring.h. */
#include "lab/bitmaps/croaring.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT_MOST 3u
#define BATCH_ROWS  4096u /* that are added at a time; a group has at most 63 */

static bool find(void *library, const char *name, void *function)
{
    void *const address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

void croaring_open(struct croaring *roaring)
{
    static const char *const names[] = {"libroaring.so", "libroaring.so.0"};
    const char *const named = getenv("TESSERA_ROARING");
    *roaring = (struct croaring){.library = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL};
    for (size_t n = 0; !named && !roaring->library && n < sizeof names / sizeof *names; n++)
        roaring->library = dlopen(names[n], RTLD_NOW | RTLD_LOCAL);
    if (!roaring->library)
        return;
    const bool complete = find(roaring->library, "roaring_bitmap_create_with_capacity", &roaring->create) &&
                          find(roaring->library, "roaring_bitmap_add_many", &roaring->add_many) &&
                          find(roaring->library, "roaring_bitmap_run_optimize", &roaring->run_optimize) &&
                          find(roaring->library, "roaring_bitmap_portable_size_in_bytes", &roaring->bytes) &&
                          find(roaring->library, "roaring_bitmap_get_cardinality", &roaring->cardinality) &&
                          find(roaring->library, "roaring_bitmap_to_uint32_array", &roaring->to_rows) &&
                          find(roaring->library, "roaring_bitmap_or_many", &roaring->or_many) &&
                          find(roaring->library, "roaring_bitmap_free", &roaring->free);
    if (!complete)
        croaring_close(roaring);
}

void croaring_close(struct croaring *roaring)
{
    if (roaring->library)
        dlclose(roaring->library);
    roaring->library = NULL;
}

struct converting {
    const struct croaring *roaring;
    const struct bitmap_set *set;
    struct roaring_bitmap **bitmaps;
};

/* Adds the rows that are set in `count` groups. */
static void add_groups(const struct croaring *roaring, struct roaring_bitmap *bitmap, uint64_t first,
                       const uint64_t *groups, uint64_t count)
{
    uint32_t rows[BATCH_ROWS + WAH_GROUP_ROWS], held = 0;
    for (uint64_t g = 0; g < count; g++) {
        for (uint64_t rest = groups[g]; rest; rest &= rest - 1)
            rows[held++] = (uint32_t)((first + g) * WAH_GROUP_ROWS + (uint64_t)__builtin_ctzll(rest));
        if (held >= BATCH_ROWS || g + 1 == count) {
            roaring->add_many(bitmap, held, rows);
            held = 0;
        }
    }
}

static enum status convert(void *context, uint64_t v, unsigned thread, struct error *error)
{
    const struct converting *const converting = context;
    const struct bitmap_set *const set = converting->set;
    uint64_t groups[WAH_PIECE_GROUPS];
    struct roaring_bitmap *const bitmap = converting->roaring->create(0);
    (void)thread;
    converting->bitmaps[v] = bitmap;
    if (!bitmap)
        return error_out_of_memory(error, sizeof groups, "a Roaring bitmap");
    for (uint64_t piece = 0; piece < set->pieces; piece++) {
        const uint64_t first = piece * WAH_PIECE_GROUPS, rest = set->groups - first;
        const uint64_t count = rest < WAH_PIECE_GROUPS ? rest : WAH_PIECE_GROUPS;
        RETURN_IF_ERROR(cancel_check(error));
        wah_piece_to_groups(set->vectors[v], set->directories[v][piece], count, groups);
        add_groups(converting->roaring, bitmap, first, groups, count);
    }
    converting->roaring->run_optimize(bitmap);
    return STATUS_OK;
}

static struct roaring_bitmap *combine(const struct converting *converting)
{
    return converting->roaring->or_many(converting->set->count,
                                        (const struct roaring_bitmap **)converting->bitmaps);
}

/* Its rows, in order, are those that are expected. */
static enum status check(const struct converting *converting, const struct roaring_bitmap *result,
                         struct error *error)
{
    const struct bitmap_set *const set = converting->set;
    const uint64_t count = converting->roaring->cardinality(result);
    uint32_t *rows;
    uint64_t at = 0, wrong = 0;
    RETURN_IF_ERROR(memory_take(&rows, (count + 1) * sizeof *rows, "rows", error));
    converting->roaring->to_rows(result, rows);
    for (uint64_t g = 0; g < set->groups; g++)
        for (uint64_t rest = set->expected[g]; rest; rest &= rest - 1, at++)
            wrong += at >= count || rows[at] != g * WAH_GROUP_ROWS + (uint64_t)__builtin_ctzll(rest);
    free(rows);
    return at == count && !wrong
               ? STATUS_OK
               : error_set(error, STATUS_CHECK_FAILED, "%s, %u vectors, CRoaring: the result is wrong",
                           set->kind->name, set->count);
}

static enum status measure(struct lab *lab, struct converting *converting, struct speed *speed,
                           uint64_t *bytes, struct error *error)
{
    const struct bitmap_set *const set = converting->set;
    const uint32_t repeat = lab->repeat < REPEAT_MOST ? lab->repeat : REPEAT_MOST;
    double times[REPEAT_MOST];
    RETURN_IF_ERROR(memory_zeros(&converting->bitmaps, set->count * sizeof *converting->bitmaps,
                                 "Roaring bitmaps", error));
    RETURN_IF_ERROR(parallel_for(lab->threads, set->count, convert, converting, error));
    for (uint32_t v = 0; v < set->count; v++)
        *bytes += converting->roaring->bytes(converting->bitmaps[v]);
    for (uint32_t i = 0; i <= repeat; i++) {
        const double begin = clock_ms();
        struct roaring_bitmap *const result = combine(converting);
        const double ms = clock_ms() - begin;
        enum status status = STATUS_OK;
        if (i)
            times[i - 1] = ms;
        else
            status = check(converting, result, error);
        converting->roaring->free(result);
        RETURN_IF_ERROR(status);
    }
    *speed = speed_of(times, repeat);
    return STATUS_OK;
}

enum status croaring_measure(struct lab *lab, const struct croaring *roaring, const struct bitmap_set *set,
                             struct speed *speed, uint64_t *bytes, struct error *error)
{
    struct converting converting = {.roaring = roaring, .set = set};
    *speed = (struct speed){0};
    *bytes = 0;
    if (!roaring->library || set->rows > UINT32_MAX)
        return STATUS_OK;
    const enum status status = measure(lab, &converting, speed, bytes, error);
    for (uint32_t v = 0; converting.bitmaps && v < set->count; v++)
        if (converting.bitmaps[v])
            roaring->free(converting.bitmaps[v]);
    free(converting.bitmaps);
    return status;
}
