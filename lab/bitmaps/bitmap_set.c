/* bitmap_set.c: see bitmap_set.h. */
#include "lab/bitmaps/bitmap_set.h"

#include "lab/bench/dataset.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors are built in parts of 16.5 million rows, so that two vectors of 1 G rows occupy all threads. */
#define PART_PIECES UINT64_C(256)
#define PART_ROWS   (PART_PIECES * WAH_PIECE_ROWS)
#define BATCH_ROWS  1024u

const struct bitmap_kind bitmap_kinds[BITMAP_KINDS] = {
    [BITMAP_UNIFORM] = {.name = "uniform"},
    [BITMAP_ZIPF_HALF] = {.name = "Zipf 0.5", .zipf = 0.5},
    [BITMAP_ZIPF_ONE] = {.name = "Zipf 1", .zipf = 1},
    [BITMAP_ZIPF_TWO] = {.name = "Zipf 2", .zipf = 2},
    [BITMAP_SORTED] = {.name = "sorted", .sorted = true},
    [BITMAP_CLUSTERED] = {.name = "runs of 1000", .run = 1000},
};

struct making {
    struct bitmap_set *set;
    uint64_t parts;               /* of a vector */
    double weights;               /* of all vectors */
    const int32_t *values;        /* of the column; NULL: rows are drawn */
    int32_t low;                  /* vector 0's */
    struct wah_builder *builders; /* of part p of vector v: at p * count + v */
    uint64_t *firsts;             /* of a vector: its first word */
};

/* ---- Parts ---- */

static double density_of(const struct making *making, uint32_t vector)
{
    return BITMAP_SHARE * pow(vector + 1, -making->set->kind->zipf) / making->weights;
}

/* How many trials fail before one succeeds, if `scale` is 1 / log(1 - p); at most `most`. */
static uint64_t failures(uint64_t *random, double scale, uint64_t most)
{
    const double unit = ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
    const double count = floor(log(unit) * scale);
    return count < (double)most ? (uint64_t)count : most;
}

static enum status make_rows(struct wah_builder *builder, double density, uint64_t rows, uint64_t *random,
                             struct error *error)
{
    const double scale = 1 / log1p(-density);
    for (uint64_t row = failures(random, scale, rows); row < rows; row += 1 + failures(random, scale, rows))
        RETURN_IF_ERROR(wah_append_row(builder, row, error));
    return STATUS_OK;
}

static enum status make_runs(struct wah_builder *builder, double density, uint64_t run, uint64_t rows,
                             uint64_t *random, struct error *error)
{
    const double scale = 1 / log1p(-density / (1 - density) / (double)run);
    for (uint64_t row = failures(random, scale, rows); row < rows;) {
        const uint64_t ones = rows - row < run ? rows - row : run;
        RETURN_IF_ERROR(wah_append_run(builder, false, row - builder->rows, error));
        RETURN_IF_ERROR(wah_append_run(builder, true, ones, error));
        row += ones + failures(random, scale, rows);
    }
    return STATUS_OK;
}

/* The rows of a sorted column's vector that are in the part. */
static enum status make_sorted(struct wah_builder *builder, const struct making *making, uint32_t vector,
                               uint64_t first, uint64_t rows, struct error *error)
{
    const uint64_t length = (uint64_t)((double)making->set->rows * BITMAP_SHARE) / making->set->count;
    const uint64_t begin = vector * length, end = begin + length;
    const uint64_t from = begin < first ? 0 : begin - first < rows ? begin - first : rows;
    const uint64_t to = end < first ? 0 : end - first < rows ? end - first : rows;
    RETURN_IF_ERROR(wah_append_run(builder, false, from, error));
    return wah_append_run(builder, true, to - from, error);
}

static uint64_t rows_of_part(const struct bitmap_set *set, uint64_t part)
{
    const uint64_t rest = set->rows - part * PART_ROWS;
    return rest < PART_ROWS ? rest : PART_ROWS;
}

static enum status make_part(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct making *const making = context;
    const struct bitmap_set *const set = making->set;
    const uint32_t vector = (uint32_t)(item / making->parts);
    const uint64_t part = item % making->parts, first = part * PART_ROWS;
    const uint64_t rows = rows_of_part(set, part);
    struct wah_builder *const builder = &making->builders[part * set->count + vector];
    const double density = density_of(making, vector);
    uint64_t random = item * UINT64_C(0x9e3779b97f4a7c15) + 13;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (set->kind->sorted)
        RETURN_IF_ERROR(make_sorted(builder, making, vector, first, rows, error));
    else if (set->kind->run)
        RETURN_IF_ERROR(make_runs(builder, density, set->kind->run, rows, &random, error));
    else
        RETURN_IF_ERROR(make_rows(builder, density, rows, &random, error));
    return wah_finish(builder, rows, error);
}

/* A part of all vectors, of the column's values. */
static enum status make_part_of_values(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct making *const making = context;
    const struct bitmap_set *const set = making->set;
    struct wah_builder *const builders = making->builders + part * set->count;
    const int32_t *const values = making->values + part * PART_ROWS;
    const uint64_t rows = rows_of_part(set, part);
    uint32_t codes[BATCH_ROWS];
    (void)thread;
    for (uint64_t first = 0; first < rows; first += BATCH_ROWS) {
        const uint64_t batch = rows - first < BATCH_ROWS ? rows - first : BATCH_ROWS;
        for (uint64_t i = 0; i < batch; i++)
            codes[i] = (uint32_t)values[first + i] - (uint32_t)making->low;
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(wah_append_codes(builders, set->count, first, codes, batch, error));
    }
    for (uint32_t v = 0; v < set->count; v++)
        RETURN_IF_ERROR(wah_finish(&builders[v], rows, error));
    return STATUS_OK;
}

/* ---- Vectors ---- */

/* Joins a vector's parts, which are `stride` apart: a fill at the end of one and a fill of the same value at the next one's begin become one. Returns
 * the words, and writes them unless `out` is NULL. */
static uint64_t join_parts(const struct wah_builder *parts, uint64_t count, uint64_t stride, uint64_t *out)
{
    uint64_t words = 0, last = 0;
    for (uint64_t p = 0; p < count; p++) {
        const uint64_t *from = parts[p * stride].words;
        uint64_t rest = parts[p * stride].count;
        if (last & WAH_FILL && last >> 62 == from[0] >> 62) {
            last += from[0] & WAH_LENGTH;
            if (out)
                out[words - 1] = last;
            from++;
            rest--;
        }
        if (!rest)
            continue;
        if (out)
            memcpy(out + words, from, rest * sizeof *out);
        words += rest;
        last = from[rest - 1];
    }
    return words;
}

static enum status make_vector(void *context, uint64_t v, unsigned thread, struct error *error)
{
    const struct making *const making = context;
    struct bitmap_set *const set = making->set;
    struct wah_builder *const parts = making->builders + v;
    uint64_t *const words = set->words + making->firsts[v];
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    const uint64_t count = join_parts(parts, making->parts, set->count, words);
    if (set->stride > set->groups)
        words[count] = WAH_FILL | 1;
    set->vectors[v] = (struct wah_vector){.words = words, .count = count};
    set->directories[v] = set->starts + v * set->pieces;
    wah_directory_build(set->vectors[v], set->rows, set->starts + v * set->pieces);
    for (uint64_t p = 0; p < making->parts; p++)
        wah_builder_free(&parts[p * set->count]);
    return STATUS_OK;
}

/* ORs a piece of all vectors. */
static enum status expect_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    const struct bitmap_set *const set = context;
    const uint64_t first = piece * WAH_PIECE_GROUPS;
    const uint64_t count = set->groups - first < WAH_PIECE_GROUPS ? set->groups - first : WAH_PIECE_GROUPS;
    uint64_t groups[WAH_PIECE_GROUPS];
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    memset(set->expected + first, 0, count * sizeof *groups);
    for (uint32_t v = 0; v < set->count; v++) {
        wah_piece_to_groups(set->vectors[v], set->directories[v][piece], count, groups);
        for (uint64_t g = 0; g < count; g++)
            set->expected[first + g] |= groups[g];
    }
    return STATUS_OK;
}

static enum status make(struct lab *lab, struct making *making, struct error *error)
{
    struct bitmap_set *const set = making->set;
    const uint64_t items = set->count * making->parts;
    RETURN_IF_ERROR(
        memory_zeros(&making->builders, items * sizeof *making->builders, "parts of vectors", error));
    RETURN_IF_ERROR(
        memory_zeros(&making->firsts, set->count * sizeof *making->firsts, "a list of vectors", error));
    RETURN_IF_ERROR(
        memory_zeros(&set->vectors, set->count * sizeof *set->vectors, "a list of vectors", error));
    RETURN_IF_ERROR(
        memory_zeros(&set->directories, set->count * sizeof *set->directories, "a list of vectors", error));
    RETURN_IF_ERROR(
        memory_take(&set->starts, set->count * set->pieces * sizeof *set->starts, "directories", error));
    RETURN_IF_ERROR(
        memory_take(&set->expected, set->stride * sizeof *set->expected, "groups to compare with", error));
    for (uint32_t v = 0; v < set->count; v++)
        making->weights += pow(v + 1, -set->kind->zipf);
    RETURN_IF_ERROR(making->values
                        ? parallel_for(lab->threads, making->parts, make_part_of_values, making, error)
                        : parallel_for(lab->threads, items, make_part, making, error));
    for (uint32_t v = 0; v < set->count; v++) {
        const uint64_t words = join_parts(making->builders + v, making->parts, set->count, NULL);
        making->firsts[v] = set->word_count;
        set->word_count += words + (set->stride - set->groups);
        set->compressed_bytes += words * sizeof *set->words;
    }
    RETURN_IF_ERROR(
        memory_take(&set->words, set->word_count * sizeof *set->words, "compressed vectors", error));
    RETURN_IF_ERROR(parallel_for(lab->threads, set->count, make_vector, making, error));
    return parallel_for(lab->threads, set->pieces, expect_piece, set, error);
}

static enum status make_all(struct lab *lab, const struct bitmap_kind *kind, uint64_t rows, uint32_t count,
                            struct making *making, struct bitmap_set *set, struct error *error)
{
    *set = (struct bitmap_set){
        .kind = kind, .rows = rows, .groups = wah_groups(rows), .pieces = wah_pieces(rows), .count = count};
    set->stride = (set->groups + 1) / 2 * 2;
    making->set = set;
    making->parts = (rows + PART_ROWS - 1) / PART_ROWS;
    const enum status status = make(lab, making, error);
    for (uint64_t p = 0; making->builders && p < count * making->parts; p++)
        wah_builder_free(&making->builders[p]);
    free(making->builders);
    free(making->firsts);
    return status;
}

enum status bitmap_set_make(struct lab *lab, const struct bitmap_kind *kind, uint64_t rows, uint32_t count,
                            struct bitmap_set *set, struct error *error)
{
    struct making making = {.values = NULL};
    return make_all(lab, kind, rows, count, &making, set, error);
}

enum status bitmap_set_of_values(struct lab *lab, const struct bitmap_kind *kind, const int32_t *values,
                                 uint64_t rows, int32_t low, uint32_t count, struct bitmap_set *set,
                                 struct error *error)
{
    struct making making = {.values = values, .low = low};
    return make_all(lab, kind, rows, count, &making, set, error);
}

void bitmap_set_free(struct bitmap_set *set)
{
    free(set->words);
    free(set->vectors);
    free(set->starts);
    free(set->directories);
    free(set->expected);
    *set = (struct bitmap_set){0};
}
