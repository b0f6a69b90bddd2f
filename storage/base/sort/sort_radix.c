/*
 * sort_radix.c: sorts rows in memory (sort_rows.h), on all threads.
 *
 *     words     | rank, without the bits that say the part | row |     64 bits
 *     order     | part 0      | part 1      | ...                      a part has the rows of some ranks
 *
 * Threads compute the ranks of slices of the rows twice: to count the rows of each part, and to put their words where they
 * belong. A part has some thousand rows, whose words are sorted in a thread's cache (sort_words.h). Rows that are alike in
 * all bits that a word has room for get words of their next bits. Then a word becomes its row's number. If the values are
 * so skewed that a part has most of the rows, one thread sorts these.
 */
#include "storage/base/sort/sort_rows_internal.h"

#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"
#include "storage/base/sort/sort_words.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a part, and the most parts: so many places are written to at the same time. */
#define PART_ROWS 2048u
#define PARTS_MAX 2048u

/* The least rows of a slice, and the slices of a thread: all end at about the same time. */
#define SLICE_ROWS 65536u
#define SLICES     8u

#define BATCH_ROWS 1024u /* whose ranks are in the first-level cache */
#define FETCHED    32u   /* rows whose next bits are fetched before they are wanted */

struct sorting {
    struct ranking ranking;
    unsigned row_bits;  /* of a word */
    unsigned part_bits; /* of a rank that say the part */
    unsigned shown;     /* of a rank, with those: the first word has so many */
    unsigned prefix;    /* of a rank: the terms of the marks' prefix */
    uint64_t wanted;
    uint64_t slice_rows, slice_count;
    uint64_t *at;     /* for each slice and part: the number of rows, then the first one's place */
    uint64_t *starts; /* of each part, and the end */
    uint64_t *order;
    const struct sort_marks *marked; /* or NULL */
    uint64_t **scratch;              /* of each thread: `room` words */
    uint64_t *room;
    uint8_t *kept; /* the first row of each set alone is wanted (sort_radix_first); else NULL */
};

static unsigned bits_of(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

static uint64_t low_bits(unsigned bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* ---- Dealing to parts ---- */

static uint64_t part_of(const struct sorting *sorting, uint64_t rank)
{
    return sorting->part_bits ? rank >> (sorting->shown - sorting->part_bits) : 0;
}

static void slice_range(const struct sorting *sorting, uint64_t slice, uint64_t *first, uint64_t *end)
{
    const uint64_t rows = sorting->ranking.ordering->rows;
    *first = slice * sorting->slice_rows;
    *end = rows - *first < sorting->slice_rows ? rows : *first + sorting->slice_rows;
}

static enum status count_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct sorting *sorting = context;
    uint64_t *const at = sorting->at + (item << sorting->part_bits), ranks[BATCH_ROWS], row, end;
    (void)thread;
    slice_range(sorting, item, &row, &end);
    for (uint64_t count; row < end; row += count) {
        count = end - row < BATCH_ROWS ? end - row : BATCH_ROWS;
        sort_ranks_of(&sorting->ranking, 0, sorting->part_bits, NULL, row, count, ranks);
        for (uint64_t i = 0; i < count; i++)
            at[ranks[i]]++;
    }
    return cancel_check(error);
}

static enum status place_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct sorting *sorting = context;
    const uint64_t mask = low_bits(sorting->shown - sorting->part_bits);
    uint64_t *const at = sorting->at + (item << sorting->part_bits), ranks[BATCH_ROWS], row, end;
    (void)thread;
    slice_range(sorting, item, &row, &end);
    for (uint64_t count; row < end; row += count) {
        count = end - row < BATCH_ROWS ? end - row : BATCH_ROWS;
        sort_ranks_of(&sorting->ranking, 0, sorting->shown, NULL, row, count, ranks);
        for (uint64_t i = 0; i < count; i++)
            sorting->order[at[part_of(sorting, ranks[i])]++] =
                (ranks[i] & mask) << sorting->row_bits | (row + i);
    }
    return cancel_check(error);
}

static void find_places(struct sorting *sorting)
{
    uint64_t place = 0;
    for (uint64_t part = 0; part >> sorting->part_bits == 0; part++) {
        sorting->starts[part] = place;
        for (uint64_t slice = 0; slice < sorting->slice_count; slice++) {
            uint64_t *const at = &sorting->at[(slice << sorting->part_bits) + part];
            const uint64_t rows = *at;
            *at = place;
            place += rows;
        }
    }
    sorting->starts[UINT64_C(1) << sorting->part_bits] = place;
}

/* ---- A part ---- */

/* What begins at a place whose rank differs from the one before first in this bit. */
static uint8_t mark_of(const struct sorting *sorting, unsigned bit)
{
    return bit < sorting->prefix ? SORT_BEGINS | SORT_BEGINS_PREFIX : SORT_BEGINS;
}

static void sort_shown(const struct sorting *sorting, uint64_t *words, uint64_t *other, uint64_t count,
                       unsigned from, unsigned to, uint8_t *marks);

/* Sorts rows, whose numbers these are, by the bits of their ranks from `from` on. */
static void sort_alike(const struct sorting *sorting, uint64_t *rows, uint64_t *other, uint64_t count,
                       unsigned from, uint8_t *marks)
{
    const struct ranking *const ranking = &sorting->ranking;
    const unsigned room = 64 - sorting->row_bits,
                   to = ranking->bits - from < room ? ranking->bits : from + room;
    if (from < ranking->bits) {
        sort_ranks_of(ranking, from, to, rows, 0, count, other);
        for (uint64_t i = 0; i < count; i++)
            rows[i] |= other[i] << sorting->row_bits;
        sort_shown(sorting, rows, other, count, from, to, marks);
    } else if (!ranking->exact) {
        sort_items(rows, count, sizeof *rows, sort_rows_compare, ranking->ordering);
        for (uint64_t i = 1; marks && i < count; i++)
            marks[i] = sort_rows_mark(ranking->ordering, sorting->marked->prefix, rows[i - 1], rows[i]);
    } else if (marks && ranking->cut && !ranking->distinct) {
        for (uint64_t i = 1; i < count; i++)
            marks[i] = sort_rows_mark(ranking->ordering, sorting->marked->prefix, rows[i - 1], rows[i]);
    } else if (marks) {
        memset(marks + 1, ranking->cut ? SORT_BEGINS : 0, count - 1);
    }
}

/* Makes rows' numbers of sorted words whose bits up to `to` tell all of the order, and their marks without a branch: most
 * ranks differ from the one before, or few, and none can be told beforehand. */
static void mark_words(const struct sorting *sorting, uint64_t *words, uint64_t count, unsigned to,
                       uint8_t *marks)
{
    const unsigned row_bits = sorting->row_bits, below = to > sorting->prefix ? to - sorting->prefix : 0;
    const uint64_t mask = low_bits(row_bits), least = below < 64 ? UINT64_C(1) << below : UINT64_MAX;
    const uint8_t alike = sorting->ranking.cut ? SORT_BEGINS : 0;
    uint64_t before = words[0] >> row_bits;
    words[0] &= mask;
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t rank = words[i] >> row_bits, differs = rank ^ before;
        marks[i] = (uint8_t)((differs != 0) * SORT_BEGINS | (differs >= least) * SORT_BEGINS_PREFIX | alike);
        words[i] &= mask;
        before = rank;
    }
}

/* Fetches the next bits of words at .. end - 1 that are alike to a neighbour in those that they have. */
static void fetch_alike(const struct sorting *sorting, const uint64_t *words, uint64_t count, uint64_t at,
                        uint64_t end, unsigned to)
{
    bool alike = false;
    for (; at < end; at++) {
        const bool next = at + 1 < count && (words[at] ^ words[at + 1]) >> sorting->row_bits == 0;
        if (alike || next)
            sort_ranks_fetch(&sorting->ranking, to, words[at] & low_bits(sorting->row_bits));
        alike = next;
    }
}

/* Sorts words that have the bits from .. to - 1 of ranks, and makes rows' numbers of them; marks[0] is the caller's. */
static void sort_shown(const struct sorting *sorting, uint64_t *words, uint64_t *other, uint64_t count,
                       unsigned from, unsigned to, uint8_t *marks)
{
    const struct ranking *const ranking = &sorting->ranking;
    const unsigned row_bits = sorting->row_bits;
    const uint64_t mask = low_bits(row_bits);
    const bool last = to == ranking->bits && ranking->exact, all = last && !marks;
    uint64_t before = 0, fetched = 0;
    sort_words(words, other, count, row_bits, row_bits + to - from);
    if (last && marks && (!ranking->cut || ranking->distinct)) {
        mark_words(sorting, words, count, to, marks);
        return;
    }
    for (uint64_t i = 0; all && i < count; i++)
        words[i] &= mask;
    for (uint64_t begin = 0, end; !all && begin < count; begin = end) {
        const uint64_t rank = words[begin] >> row_bits,
                       soon = count - begin < 2 * FETCHED ? count : begin + 2 * FETCHED;
        if (to < ranking->bits && fetched < begin + FETCHED && fetched < count) {
            fetched = fetched < begin ? begin : fetched;
            fetch_alike(sorting, words, count, fetched, soon, to);
            fetched = soon;
        }
        for (end = begin; end < count && words[end] >> row_bits == rank; end++)
            words[end] &= mask;
        if (marks && begin > 0)
            marks[begin] = mark_of(sorting, to - bits_of(rank ^ before));
        if (end - begin > 1)
            sort_alike(sorting, words + begin, other, end - begin, to, marks ? marks + begin : NULL);
        before = rank;
    }
}

/* Makes a thread's scratch `count` words or more. */
static enum status make_scratch(struct sorting *sorting, uint64_t count, unsigned thread, struct error *error)
{
    if (count <= sorting->room[thread])
        return STATUS_OK;
    sorting->room[thread] = count < 2 * PART_ROWS ? 2 * PART_ROWS : count;
    return spillable_grow(&sorting->scratch[thread], sorting->room[thread] * sizeof **sorting->scratch,
                          "an answer's order", error);
}

static enum status sort_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct sorting *const sorting = context;
    const uint64_t first = sorting->starts[part], count = sorting->starts[part + 1] - first;
    if (count == 0 || first >= sorting->wanted)
        return STATUS_OK;
    RETURN_IF_ERROR(make_scratch(sorting, count, thread, error));
    sort_shown(sorting, sorting->order + first, sorting->scratch[thread], count, sorting->part_bits,
               sorting->shown, sorting->marked ? sorting->marked->marks + first : NULL);
    return cancel_check(error);
}

/* The sets of a part by their bits after those of the part, and how far these are from a word's lowest one. */
static uint64_t sets_of_part(const struct sorting *sorting)
{
    return UINT64_C(1) << (sorting->prefix - sorting->part_bits);
}

static unsigned set_shift(const struct sorting *sorting)
{
    return sorting->row_bits + sorting->shown - sorting->prefix;
}

/* The word of the row that comes first, of two of a set; `all`: words have all bits of ranks, and these tell all of the order. */
static inline uint64_t first_of(const struct sorting *sorting, bool all, uint64_t word, uint64_t other)
{
    const uint64_t mask = low_bits(sorting->row_bits), rows[2] = {word & mask, other & mask};
    if (all || (word ^ other) > mask || other == UINT64_MAX)
        return word < other ? word : other;
    return sort_rows_compare(&rows[0], &rows[1], sorting->ranking.ordering) < 0 ? word : other;
}

/* Finds the least word of each of a part's sets: that of its first row. */
static enum status find_first(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct sorting *const sorting = context;
    const uint64_t *const words = sorting->order + sorting->starts[part];
    const uint64_t count = sorting->starts[part + 1] - sorting->starts[part], sets = sets_of_part(sorting);
    const unsigned shift = set_shift(sorting);
    const bool all = sorting->shown == sorting->ranking.bits && sorting->ranking.exact;
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(make_scratch(sorting, sets, thread, error));
    uint64_t *const least = sorting->scratch[thread];
    memset(least, UINT8_MAX, sets * sizeof *least);
    for (uint64_t i = 0; all && i < count; i++)
        least[words[i] >> shift] = first_of(sorting, true, words[i], least[words[i] >> shift]);
    for (uint64_t i = 0; !all && i < count; i++)
        least[words[i] >> shift] = first_of(sorting, false, words[i], least[words[i] >> shift]);
    for (uint64_t set = 0; set < sets; set++)
        if (least[set] != UINT64_MAX)
            sorting->kept[least[set] & low_bits(sorting->row_bits)] = 1;
    return cancel_check(error);
}

/* The marks of the parts' first places. */
static void mark_parts(const struct sorting *sorting)
{
    uint64_t before = 0;
    for (uint64_t part = 0; part >> sorting->part_bits == 0; part++) {
        const uint64_t first = sorting->starts[part];
        if (first == sorting->starts[part + 1])
            continue;
        sorting->marked->marks[first] = first == 0
                                            ? SORT_BEGINS | SORT_BEGINS_PREFIX
                                            : mark_of(sorting, sorting->part_bits - bits_of(part ^ before));
        before = part;
    }
}

/* ---- All ---- */

static enum status open_sorting(struct sorting *sorting, unsigned threads, struct error *error)
{
    const uint64_t rows = sorting->ranking.ordering->rows,
                   share = rows / threads / SLICES / BATCH_ROWS * BATCH_ROWS;
    sorting->row_bits = bits_of(rows - 1);
    const unsigned most = sorting->kept ? sorting->prefix : sorting->ranking.bits;
    while (sorting->part_bits < most && (1u << sorting->part_bits) < PARTS_MAX &&
           rows >> sorting->part_bits > PART_ROWS)
        sorting->part_bits++;
    sorting->shown = sorting->part_bits + (sorting->kept ? 63 : 64) -
                     sorting->row_bits; /* find_first: no word is UINT64_MAX */
    if (sorting->shown > sorting->ranking.bits)
        sorting->shown = sorting->ranking.bits;
    sorting->slice_rows = share < SLICE_ROWS ? SLICE_ROWS : share;
    sorting->slice_count = (rows + sorting->slice_rows - 1) / sorting->slice_rows;
    const uint64_t parts = UINT64_C(1) << sorting->part_bits;
    RETURN_IF_ERROR(memory_zeros(&sorting->at, sorting->slice_count * parts * sizeof *sorting->at,
                                 "an answer's order", error));
    RETURN_IF_ERROR(
        memory_take(&sorting->starts, (parts + 1) * sizeof *sorting->starts, "an answer's order", error));
    RETURN_IF_ERROR(
        memory_zeros(&sorting->scratch, threads * sizeof *sorting->scratch, "an answer's order", error));
    RETURN_IF_ERROR(
        memory_zeros(&sorting->room, threads * sizeof *sorting->room, "an answer's order", error));
    return spillable_rows(&sorting->order, (rows + 1) * sizeof *sorting->order, "an answer's order", error);
}

static enum status sort_all(struct sorting *sorting, unsigned threads, struct error *error)
{
    RETURN_IF_ERROR(open_sorting(sorting, threads, error));
    RETURN_IF_ERROR(parallel_for(threads, sorting->slice_count, count_slice, sorting, error));
    find_places(sorting);
    RETURN_IF_ERROR(parallel_for(threads, sorting->slice_count, place_slice, sorting, error));
    RETURN_IF_ERROR(parallel_for(threads, UINT64_C(1) << sorting->part_bits,
                                 sorting->kept ? find_first : sort_part, sorting, error));
    if (sorting->marked)
        mark_parts(sorting);
    return STATUS_OK;
}

static void close_sorting(struct sorting *sorting, unsigned threads)
{
    for (unsigned t = 0; sorting->scratch && t < threads; t++)
        spillable_free(sorting->scratch[t]);
    spillable_free(sorting->order);
    free(sorting->scratch);
    free(sorting->room);
    free(sorting->at);
    free(sorting->starts);
}

/* The rows as they stand. */
static enum status keep_all(struct sorting *sorting, struct error *error)
{
    if (sorting->marked && sorting->marked->may_stand)
        return STATUS_OK;
    RETURN_IF_ERROR(spillable_rows(&sorting->order, (sorting->wanted + 1) * sizeof *sorting->order,
                                   "an answer's order", error));
    for (uint64_t row = 0; row < sorting->wanted; row++)
        sorting->order[row] = row;
    return STATUS_OK;
}

enum status sort_radix(const struct ordering *ordering, uint64_t wanted, const struct sort_marks *marks,
                       unsigned threads, uint64_t **places, struct error *error)
{
    struct sorting sorting = {.wanted = wanted, .marked = marks};
    enum status status = sort_ranking_make(ordering, threads, &sorting.ranking, error);
    status = AND_THEN(status, sort_ranking_cut(&sorting.ranking, marks, wanted, threads, error));
    for (uint32_t t = 0; marks && t < marks->prefix && t < sorting.ranking.count; t++)
        sorting.prefix += sorting.ranking.parts[t].bits;
    if (sorting.ranking.cut && sorting.ranking.count == 0)
        status = AND_THEN(status, keep_all(&sorting, error));
    else
        status = AND_THEN(status, sort_all(&sorting, threads, error));
    if (status == STATUS_OK) {
        *places = sorting.order;
        sorting.order = NULL;
    }
    close_sorting(&sorting, threads);
    free(sorting.ranking.parts);
    return status;
}

/* ---- First rows ---- */

/* A part's sets are at most so many times its rows. */
#define SETS_A_ROW 8u

bool sort_radix_may_find_first(const struct ranking *ranking, unsigned prefix)
{
    const uint64_t rows = ranking->ordering->rows;
    return rows > 0 && prefix + bits_of(rows - 1) < 64 && prefix <= bits_of(SETS_A_ROW * rows);
}

enum status sort_radix_first(const struct ranking *ranking, unsigned prefix, unsigned threads, uint8_t *kept,
                             struct error *error)
{
    struct sorting sorting = {.ranking = *ranking, .prefix = prefix, .kept = kept};
    const enum status status = sort_all(&sorting, threads, error);
    close_sorting(&sorting, threads);
    return status;
}
