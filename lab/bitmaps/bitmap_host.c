/* bitmap_host.c: see bitmap_host.h. */
#include "lab/bitmaps/bitmap_host.h"

#include "lab/bitmaps/openmp.h"
#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define REPEAT_MOST 3u
#define FLAT_WORDS \
    UINT64_C(1024) /* of a bitset, which a thread combines at a time: 8 KiB stay in the first cache */

const char *const bitmap_host_names[BITMAP_HOSTS] = {"pairs", "levels", "sequential", "pieces", "flat"};
const char *const bitmap_host_keys[BITMAP_HOSTS] = {"pairs_ms", "levels_ms", "sequential_ms", "pieces_ms",
                                                    "flat_ms"};

bool bitmap_host_available(enum bitmap_host host)
{
    return (host != BITMAP_HOST_PAIRS && host != BITMAP_HOST_LEVELS) || openmp_available();
}

struct combining {
    struct lab *lab;
    const struct bitmap_set *set;
    enum bitmap_host host;
    struct wah_builder result;
    uint64_t *groups;     /* of the result */
    uint64_t *bits, *all; /* flat bitsets of the vectors, and their OR */
    uint64_t flat_words;  /* of a bitset */
};

static enum status combine_flat(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct combining *const combining = context;
    const uint64_t first = item * FLAT_WORDS, rest = combining->flat_words - first;
    const uint64_t words = rest < FLAT_WORDS ? rest : FLAT_WORDS;
    uint64_t *const all = combining->all + first;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    memcpy(all, combining->bits + first, words * sizeof *all);
    for (uint32_t v = 1; v < combining->set->count; v++) {
        const uint64_t *const bits = combining->bits + v * combining->flat_words + first;
        for (uint64_t w = 0; w < words; w++)
            all[w] |= bits[w];
    }
    return STATUS_OK;
}

static enum status combine(struct combining *combining, struct error *error)
{
    const struct bitmap_set *const set = combining->set;
    switch (combining->host) {
    case BITMAP_HOST_SEQUENTIAL:
        return wah_or_sequential(set->vectors, set->count, set->rows, &combining->result, error);
    case BITMAP_HOST_PAIRS:
    case BITMAP_HOST_LEVELS:
        return openmp_or(combining->host == BITMAP_HOST_PAIRS ? OPENMP_PAIRS : OPENMP_LEVELS, set->vectors,
                         set->count, set->rows, combining->lab->threads, &combining->result, error);
    case BITMAP_HOST_PIECES:
        return wah_or_many(set->vectors, set->directories, set->count, set->rows, combining->lab->threads,
                           &combining->result, error);
    default:
        return parallel_for(combining->lab->threads, (combining->flat_words + FLAT_WORDS - 1) / FLAT_WORDS,
                            combine_flat, combining, error);
    }
}

static enum status flatten(void *context, uint64_t v, unsigned thread, struct error *error)
{
    const struct combining *const combining = context;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    wah_to_bits(combining->set->vectors[v], combining->set->rows,
                combining->bits + v * combining->flat_words);
    return STATUS_OK;
}

static enum status prepare(struct combining *combining, struct error *error)
{
    const struct bitmap_set *const set = combining->set;
    combining->flat_words = (set->rows + 63) / 64;
    RETURN_IF_ERROR(
        memory_take(&combining->groups, set->groups * sizeof *combining->groups, "groups", error));
    if (combining->host != BITMAP_HOST_FLAT)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&combining->bits, set->count * combining->flat_words * 8, "bitsets", error));
    RETURN_IF_ERROR(memory_take(&combining->all, combining->flat_words * 8, "a bitset", error));
    return parallel_for(combining->lab->threads, set->count, flatten, combining, error);
}

static enum status check(struct combining *combining, struct error *error)
{
    const struct bitmap_set *const set = combining->set;
    if (combining->host == BITMAP_HOST_FLAT)
        RETURN_IF_ERROR(wah_append_bits(&combining->result, combining->all, set->rows, error));
    if (combining->host == BITMAP_HOST_FLAT)
        RETURN_IF_ERROR(wah_finish(&combining->result, set->rows, error));
    wah_to_groups(wah_of(&combining->result), combining->groups);
    if (memcmp(combining->groups, set->expected, set->groups * sizeof *set->expected) == 0)
        return STATUS_OK;
    return error_set(error, STATUS_CHECK_FAILED, "%s, %u vectors, %s: the result is wrong", set->kind->name,
                     set->count, bitmap_host_names[combining->host]);
}

static enum status measure(struct combining *combining, struct speed *speed, struct error *error)
{
    const uint32_t repeat = combining->lab->repeat < REPEAT_MOST ? combining->lab->repeat : REPEAT_MOST;
    double times[REPEAT_MOST];
    RETURN_IF_ERROR(prepare(combining, error));
    RETURN_IF_ERROR(combine(combining, error));
    RETURN_IF_ERROR(check(combining, error));
    for (uint32_t i = 0; i < repeat; i++) {
        const double begin = clock_ms();
        RETURN_IF_ERROR(combine(combining, error));
        times[i] = clock_ms() - begin;
    }
    *speed = speed_of(times, repeat);
    return STATUS_OK;
}

enum status bitmap_host_measure(struct lab *lab, const struct bitmap_set *set, enum bitmap_host host,
                                struct speed *speed, struct error *error)
{
    struct combining combining = {.lab = lab, .set = set, .host = host};
    const enum status status = measure(&combining, speed, error);
    wah_builder_free(&combining.result);
    free(combining.groups);
    free(combining.bits);
    free(combining.all);
    return status;
}
