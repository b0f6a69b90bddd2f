/* prefix.c: numbers and sums of the values before each place; see window.h. Each block of places is added up on its own,
 * and then the totals of blocks. */
#include "engine/relational/window/window.h"

#include "storage/base/doubles/double_bits.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define LIMB_WIDTH 62u /* with the carries of 2^64 rows a sum of limbs fits 128 bits */
_Static_assert((DOUBLE_TOP - DOUBLE_FINEST + LIMB_WIDTH - 1) / LIMB_WIDTH + 3 <= WINDOW_LIMBS_MAX,
               "all doubles have limbs");

/* ---- Numbers ---- */

struct counting {
    const struct window_order *order;
    const struct rowset_column *argument;
    bool true_only;
    struct window_counts *counts;
};

static enum status count_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct counting *const counting = context;
    const struct rowset_column *const argument = counting->argument;
    uint64_t count = 0;
    for (uint64_t at = begin; at < end; at++) {
        const uint64_t row = window_row(counting->order, at);
        counting->counts->local[at] = count;
        count += !window_is_null(argument, row) && (!counting->true_only || argument->values[row]);
    }
    counting->counts->bases[begin / WINDOW_BLOCK + 1] = count;
    return cancel_check(error);
}

enum status window_counts_make(const struct window_order *order, const struct rowset_column *argument,
                               bool true_only, unsigned threads, struct window_counts *counts,
                               struct error *error)
{
    struct counting counting = {order, argument, true_only, counts};
    const uint64_t last = order->rows / WINDOW_BLOCK; /* the block of the place after the end */
    *counts = (struct window_counts){.all = !argument || (!argument->nulls && !true_only)};
    if (counts->all)
        return STATUS_OK;
    enum status status =
        spillable_work(&counts->local, (order->rows + 1) * sizeof *counts->local, "a window", error);
    if (status == STATUS_OK)
        status = memory_zeros(&counts->bases, (last + 2) * sizeof *counts->bases, "a window", error);
    if (status == STATUS_OK)
        status = window_blocks(order->rows, threads, count_block, &counting, error);
    if (status != STATUS_OK) {
        window_counts_free(counts);
        return status;
    }
    counts->local[order->rows] = counts->bases[last + 1];
    for (uint64_t b = 1; b <= last; b++)
        counts->bases[b] += counts->bases[b - 1];
    return STATUS_OK;
}

void window_counts_free(struct window_counts *counts)
{
    spillable_free(counts->local);
    free(counts->bases);
    *counts = (struct window_counts){0};
}

/* ---- Sums ---- */

struct summing {
    const struct window_order *order;
    const struct rowset_column *argument;
    struct window_sums *sums;
};

static void add_double(const struct window_sums *sums, int64_t value, __int128 *to)
{
    const uint32_t limbs = sums->limbs - (sums->infinite ? 3 : 0);
    if (!double_key_finite(value)) {
        to[limbs + (value == DOUBLE_KEY_NAN ? 2 : value < 0)]++;
        return;
    }
    for (uint32_t l = 0; l < limbs; l++)
        to[l] += double_limb(value, sums->first + (int)(l * sums->width), sums->width);
}

/* As sum_block, of whole numbers, whose sum stays in a register. */
static void sum_whole(const struct summing *summing, uint64_t begin, uint64_t end, __int128 *total)
{
    const struct rowset_column *const argument = summing->argument;
    __int128 sum = 0;
    for (uint64_t at = begin; at < end; at++) {
        const uint64_t row = window_row(summing->order, at);
        summing->sums->local[at] = sum;
        sum += window_is_null(argument, row) ? 0 : argument->values[row];
    }
    *total = sum;
}

static enum status sum_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct summing *const summing = context;
    const struct window_sums *const sums = summing->sums;
    const size_t bytes = sums->limbs * sizeof *sums->local;
    __int128 total[WINDOW_LIMBS_MAX] = {0};
    if (!sums->doubles)
        sum_whole(summing, begin, end, total);
    for (uint64_t at = begin; at < end && sums->doubles; at++) {
        const uint64_t row = window_row(summing->order, at);
        memcpy(sums->local + at * sums->limbs, total, bytes);
        if (!window_is_null(summing->argument, row))
            add_double(sums, summing->argument->values[row], total);
    }
    memcpy(sums->bases + (begin / WINDOW_BLOCK + 1) * sums->limbs, total, bytes);
    return cancel_check(error);
}

/* Which bits the doubles have. */
static void find_limbs(const struct rowset_column *argument, uint64_t rows, struct window_sums *sums)
{
    struct double_bits bits = DOUBLE_BITS_NONE;
    for (uint64_t row = 0; row < rows; row++) {
        if (window_is_null(argument, row))
            continue;
        if (double_key_finite(argument->values[row]))
            bits = double_bits_join(bits, double_bits_of_key(argument->values[row]));
        else
            sums->infinite = true;
    }
    const int finest = double_bits_finest(bits), top = double_bits_top(bits);
    const unsigned width = top > finest ? (unsigned)(top - finest) : 1;
    sums->first = finest;
    sums->limbs = (width + LIMB_WIDTH - 1) / LIMB_WIDTH + (sums->infinite ? 3 : 0);
}

enum status window_sums_make(const struct window_order *order, const struct rowset_column *argument,
                             unsigned threads, struct window_sums *sums, struct error *error)
{
    struct summing summing = {order, argument, sums};
    const uint64_t last = order->rows / WINDOW_BLOCK; /* the block of the place after the end */
    *sums =
        (struct window_sums){.limbs = 1, .width = LIMB_WIDTH, .doubles = argument->type.kind == VALUE_DOUBLE};
    if (sums->doubles)
        find_limbs(argument, order->rows, sums);
    const uint32_t limbs = sums->limbs;
    const size_t bytes = limbs * sizeof *sums->local;
    enum status status = spillable_work(&sums->local, (order->rows + 1) * bytes, "a window", error);
    if (status == STATUS_OK)
        status = memory_zeros(&sums->bases, (last + 2) * bytes, "a window", error);
    if (status == STATUS_OK)
        status = window_blocks(order->rows, threads, sum_block, &summing, error);
    if (status != STATUS_OK) {
        window_sums_free(sums);
        return status;
    }
    memcpy(sums->local + order->rows * limbs, sums->bases + (last + 1) * limbs, bytes);
    for (uint64_t i = limbs; i < (last + 1) * limbs; i++)
        sums->bases[i] += sums->bases[i - limbs];
    return STATUS_OK;
}

void window_sums_free(struct window_sums *sums)
{
    spillable_free(sums->local);
    free(sums->bases);
    *sums = (struct window_sums){0};
}
