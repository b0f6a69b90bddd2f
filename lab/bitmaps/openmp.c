/* openmp.c: see openmp.h. */
#include "lab/bitmaps/openmp.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

bool openmp_available(void)
{
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

/* A vector that is a sum so far, and the memory for the next. */
struct sum {
    struct wah_vector vector;
    struct wah_builder now, next;
};

struct sums {
    struct sum *of;
    uint64_t rows;
    unsigned threads;
};

/* sum |= other */
static enum status add(struct sum *sum, struct wah_vector other, uint64_t rows, struct error *error)
{
    const uint64_t room = wah_result_bound(sum->vector, other, rows);
    RETURN_IF_ERROR(cancel_check(error));
    if (sum->next.room < room) {
        RETURN_IF_ERROR(
            memory_grow(&sum->next.words, room * sizeof *sum->next.words, "a sum of vectors", error));
        sum->next.room = room;
    }
    sum->next.count = wah_or(sum->vector, other, sum->next.words);
    const struct wah_builder swapped = sum->now;
    sum->now = sum->next;
    sum->next = swapped;
    sum->vector = wah_of(&sum->now);
    return STATUS_OK;
}

/* Adds others[i] to sum i, or, if `others` is NULL, sum count + i; the operations run at the same time. */
static enum status add_all(struct sums *sums, const struct wah_vector *others, uint64_t first, uint64_t count,
                           struct error *error)
{
    int failed = STATUS_OK;
#pragma omp parallel for num_threads((int)sums->threads) schedule(dynamic, 1) reduction(max : failed)
    for (uint64_t i = 0; i < count; i++) {
        struct error own = {.status = STATUS_OK};
        const struct wah_vector other = others ? others[i] : sums->of[first + i].vector;
        const enum status status = add(&sums->of[i], other, sums->rows, &own);
        if (status == STATUS_OK)
            continue;
        failed = (int)status;
#pragma omp critical
        if (error)
            *error = own;
    }
    return (enum status)failed;
}

static enum status add_levels(struct sums *sums, uint64_t count, struct error *error)
{
    for (uint64_t half; count > 1; count = half) {
        half = (count + 1) / 2;
        RETURN_IF_ERROR(add_all(sums, NULL, half, count - half, error));
    }
    return STATUS_OK;
}

/* The sums begin as the first vectors; each round adds one more to each; the sums are added by levels. */
static enum status add_pairs(struct sums *sums, uint64_t width, const struct wah_vector *vectors,
                             uint64_t count, struct error *error)
{
    for (uint64_t done = width; done < count; done += width)
        RETURN_IF_ERROR(add_all(sums, vectors + done, 0, count - done < width ? count - done : width, error));
    return add_levels(sums, width, error);
}

/* A vector that was never added to has no words of its own. */
static enum status give(struct sum *sum, uint64_t rows, struct wah_builder *result, struct error *error)
{
    if (sum->now.words == NULL && sum->vector.count) {
        const uint64_t bytes = sum->vector.count * sizeof *sum->now.words;
        RETURN_IF_ERROR(memory_take(&sum->now.words, bytes, "a copy of a vector", error));
        memcpy(sum->now.words, sum->vector.words, bytes);
        sum->now.count = sum->now.room = sum->vector.count;
    }
    wah_builder_free(result);
    *result = sum->now;
    result->rows = rows;
    result->group = wah_groups(rows);
    sum->now = (struct wah_builder){.words = NULL};
    return STATUS_OK;
}

enum status openmp_or(enum openmp_method method, const struct wah_vector *vectors, uint64_t count,
                      uint64_t rows, unsigned threads, struct wah_builder *result, struct error *error)
{
    struct sums sums = {.rows = rows, .threads = threads ? threads : parallel_threads_available()};
    const uint64_t pairs = count / 2 > 0 ? count / 2 : 1;
    const uint64_t width = method == OPENMP_LEVELS ? count : pairs < sums.threads ? pairs : sums.threads;
    RETURN_IF_ERROR(memory_zeros(&sums.of, width * sizeof *sums.of, "sums of vectors", error));
    for (uint64_t i = 0; i < width; i++)
        sums.of[i].vector = vectors[i];
    enum status status = method == OPENMP_LEVELS ? add_levels(&sums, count, error)
                                                 : add_pairs(&sums, width, vectors, count, error);
    if (status == STATUS_OK)
        status = give(&sums.of[0], rows, result, error);
    for (uint64_t i = 0; i < width; i++) {
        wah_builder_free(&sums.of[i].now);
        wah_builder_free(&sums.of[i].next);
    }
    free(sums.of);
    return status;
}
