/*
 * sort_strings.c: see sort_strings.h. Each thread sorts a part, and parts are merged in pairs.
 *
 * A part that is nearly in order is sorted by merging its runs, as the results of most functions are. Others are sorted
 * by quicksort on 7 bytes of each string at a time, which are kept beside it (Bentley and Sedgewick,
 * "Fast algorithms for sorting and searching strings", SODA 1997, with the bytes cached): addresses and paths have
 * long common beginnings, which comparing whole strings would read again and again.
 */
#include "storage/base/sort/sort_strings.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_A_THREAD 4096u
#define PIECES_INSERTED 12u   /* so few are sorted by insertion */
#define RUNS_MAX        4096u /* a part of at most so many runs in order is merged */
#define PIECES_SAMPLED  128u  /* of so many, the pivot is the middle of nine */
#define BYTES_AT_A_TIME 7u

/* Bytes `depth` to depth + 6 of the string, most significant first, then how many of them it has, or 8 if it goes on. So
 * keys have the order of strings that are equal before `depth`, and equal keys without an 8 are of equal strings. */
struct keyed_piece {
    uint64_t key;
    struct piece piece;
};

int piece_compare(const struct piece *a, const struct piece *b)
{
    const uint32_t least = a->length < b->length ? a->length : b->length;
    const int order = least ? memcmp(a->text, b->text, least) : 0;
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static uint64_t key_at(const struct piece *piece, uint64_t depth)
{
    const uint64_t left = piece->length > depth ? piece->length - depth : 0;
    uint64_t key = 0;
    if (left > BYTES_AT_A_TIME) {
        memcpy(&key, piece->text + depth, sizeof key);
        return (__builtin_bswap64(key) & ~UINT64_C(255)) | (BYTES_AT_A_TIME + 1);
    }
    for (uint64_t i = 0; i < left; i++)
        key |= (uint64_t)(unsigned char)piece->text[depth + i] << (56 - 8 * i);
    return key | left;
}

static int compare_keyed(const void *left, const void *right, const void *context)
{
    (void)context;
    return piece_compare(&((const struct keyed_piece *)left)->piece,
                         &((const struct keyed_piece *)right)->piece);
}

static void swap(struct keyed_piece *a, struct keyed_piece *b)
{
    const struct keyed_piece kept = *a;
    *a = *b;
    *b = kept;
}

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

static void insert_all(struct keyed_piece *pieces, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        for (uint64_t at = i; at > 0; at--) {
            const struct keyed_piece *const before = &pieces[at - 1];
            if (before->key < pieces[at].key ||
                (before->key == pieces[at].key && compare_keyed(before, &pieces[at], NULL) <= 0))
                break;
            swap(&pieces[at - 1], &pieces[at]);
        }
}

/* The pieces with less than the pivot's key, with its key, and with more. */
struct partition {
    struct keyed_piece *pieces;
    uint64_t count, depth;
};

static void divide(struct keyed_piece *pieces, uint64_t count, uint64_t depth, struct partition parts[3])
{
    const struct keyed_piece *const middle = &pieces[count / 2], *const last = &pieces[count - 1];
    uint64_t pivot = middle_of(pieces[0].key, middle->key, last->key);
    if (count >= PIECES_SAMPLED)
        pivot =
            middle_of(middle_of(pieces[0].key, pieces[count / 8].key, pieces[count / 4].key),
                      middle_of(middle[-1].key, middle->key, middle[1].key),
                      middle_of(last[-(int64_t)(count / 4)].key, last[-(int64_t)(count / 8)].key, last->key));
    uint64_t less = 0, at = 0, more = count;
    while (at < more)
        if (pieces[at].key < pivot)
            swap(&pieces[less++], &pieces[at++]);
        else if (pieces[at].key > pivot)
            swap(&pieces[at], &pieces[--more]);
        else
            at++;
    const bool equal = (pivot & 255) <= BYTES_AT_A_TIME; /* there is nothing left to compare */
    parts[0] = (struct partition){pieces, less, depth};
    parts[1] = (struct partition){pieces + less, equal ? 0 : more - less, depth + BYTES_AT_A_TIME};
    parts[2] = (struct partition){pieces + more, count - more, depth};
}

/* Sorts pieces that are equal before `depth`, and have their keys there. Goes on with the largest part in place, so it
 * calls itself at most 64 deep. After `unlucky` pivots, whose parts are uneven, it sorts by comparisons. */
static void sort_keyed(struct keyed_piece *pieces, uint64_t count, uint64_t depth, unsigned unlucky)
{
    while (count > PIECES_INSERTED) {
        struct partition parts[3];
        unsigned largest = 0;
        if (unlucky == 0) {
            sort_items(pieces, count, sizeof *pieces, compare_keyed, NULL);
            return;
        }
        divide(pieces, count, depth, parts);
        for (uint64_t i = 0; i < parts[1].count; i++)
            parts[1].pieces[i].key = key_at(&parts[1].pieces[i].piece, parts[1].depth);
        for (unsigned p = 1; p < 3; p++)
            largest = parts[p].count > parts[largest].count ? p : largest;
        if (largest != 1 && count >= PIECES_SAMPLED && parts[largest].count > count / 8 * 7)
            unlucky--;
        for (unsigned p = 0; p < 3; p++)
            if (p != largest)
                sort_keyed(parts[p].pieces, parts[p].count, parts[p].depth, unlucky);
        pieces = parts[largest].pieces;
        count = parts[largest].count;
        depth = parts[largest].depth;
    }
    insert_all(pieces, count);
}

/* ---- Parts ---- */

struct sorting {
    struct piece *from, *to; /* of a round of merging */
    uint64_t count, parts;
    uint64_t run;    /* the parts that a round's runs have */
    uint64_t slices; /* that the merging of two runs is divided into */
};

static uint64_t part_begin(const struct sorting *sorting, uint64_t part)
{
    return part >= sorting->parts ? sorting->count : sorting->count / sorting->parts * part; /* not empty */
}

/* The first piece of a range that is less than the one before it, or `end`. */
static uint64_t descent(const struct piece *pieces, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin + 1; i < end; i++)
        if (piece_compare(&pieces[i - 1], &pieces[i]) > 0)
            return i;
    return end;
}

static void merge(const struct piece *a, const struct piece *a_end, const struct piece *b,
                  const struct piece *b_end, struct piece *to)
{
    while (a < a_end && b < b_end)
        *to++ = piece_compare(b, a) < 0 ? *b++ : *a++;
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

/* Merges two runs that follow each other. Only those pieces of them move that overlap: few, if strings are nearly in
 * order. */
static void merge_in_place(struct piece *a, struct piece *b, const struct piece *b_end, struct piece *scratch)
{
    uint64_t first = 0;
    for (uint64_t count = (uint64_t)(b - a);
         count;) { /* the pieces of a that are not greater than b's first */
        const uint64_t half = count / 2;
        const bool stays = piece_compare(&a[first + half], b) <= 0;
        first += stays ? half + 1 : 0;
        count = stays ? count - half - 1 : half;
    }
    const uint64_t moving = (uint64_t)(b - a) - first;
    if (moving == 0)
        return;
    memcpy(scratch, a + first, moving * sizeof *scratch);
    const struct piece *left = scratch, *const left_end = scratch + moving;
    struct piece *to = a + first;
    while (left < left_end && b < b_end)
        *to++ = piece_compare(b, left) < 0 ? *b++ : *left++;
    memcpy(to, left, (size_t)(left_end - left) * sizeof *to);
}

/* Sorts pieces begin .. end - 1 by merging the runs that they have; false if there
 * are more than RUNS_MAX. */
static bool merge_runs(const struct sorting *sorting, uint64_t begin, uint64_t end)
{
    uint64_t runs[RUNS_MAX + 1], count = 0;
    for (uint64_t at = begin; at < end; at = descent(sorting->from, at, end)) {
        if (count == RUNS_MAX)
            return false;
        runs[count++] = at;
    }
    runs[count] = end;
    while (count > 1) {
        uint64_t left = 0;
        for (uint64_t r = 0; r < count; r += 2) {
            if (r + 1 < count)
                merge_in_place(sorting->from + runs[r], sorting->from + runs[r + 1],
                               sorting->from + runs[r + 2], sorting->to + begin);
            runs[left++] = runs[r];
        }
        runs[left] = end;
        count = left;
    }
    return true;
}

static enum status sort_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct sorting *sorting = context;
    const uint64_t begin = part_begin(sorting, part), end = part_begin(sorting, part + 1);
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (merge_runs(sorting, begin, end))
        return STATUS_OK;
    struct keyed_piece *keyed;
    RETURN_IF_ERROR(memory_take(&keyed, (end - begin) * sizeof *keyed, "a dictionary", error));
    for (uint64_t i = begin; i < end; i++)
        keyed[i - begin] = (struct keyed_piece){key_at(&sorting->from[i], 0), sorting->from[i]};
    sort_keyed(keyed, end - begin, 0, 64);
    for (uint64_t i = begin; i < end; i++)
        sorting->from[i] = keyed[i - begin].piece;
    free(keyed);
    return STATUS_OK;
}

/* The pieces that are less than `than`. */
static uint64_t count_less(const struct piece *pieces, uint64_t count, const struct piece *than)
{
    uint64_t low = 0;
    while (count) {
        const uint64_t half = count / 2;
        const bool less = piece_compare(&pieces[low + half], than) < 0;
        low += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    return low;
}

/* Merges a slice of two runs: an equal part of the first one, and what of the second one goes with it. */
static enum status merge_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct sorting *sorting = context;
    const uint64_t pair = item / sorting->slices, slice = item % sorting->slices;
    const uint64_t first = part_begin(sorting, 2 * pair * sorting->run),
                   cut = part_begin(sorting, (2 * pair + 1) * sorting->run),
                   end = part_begin(sorting, (2 * pair + 2) * sorting->run);
    const struct piece *const a = sorting->from + first, *const b = sorting->from + cut;
    const bool last = slice + 1 == sorting->slices;
    const uint64_t a_count = cut - first, b_count = end - cut;
    const uint64_t a_begin = a_count * slice / sorting->slices,
                   a_end = a_count * (slice + 1) / sorting->slices;
    const uint64_t b_begin = slice == 0 ? 0 : count_less(b, b_count, &a[a_begin]);
    const uint64_t b_end = last ? b_count : count_less(b, b_count, &a[a_end]);
    (void)thread;
    (void)error;
    merge(a + a_begin, a + a_end, b + b_begin, b + b_end, sorting->to + first + a_begin + b_begin);
    return STATUS_OK;
}

static enum status merge_parts(struct sorting *sorting, unsigned threads, struct error *error)
{
    for (sorting->run = 1; sorting->run < sorting->parts; sorting->run *= 2) {
        const uint64_t pairs = (sorting->parts + 2 * sorting->run - 1) / (2 * sorting->run);
        struct piece *const from = sorting->from;
        sorting->slices = 1 + (threads - 1) / pairs;
        RETURN_IF_ERROR(parallel_for(threads, pairs * sorting->slices, merge_slice, sorting, error));
        sorting->from = sorting->to;
        sorting->to = from;
    }
    return STATUS_OK;
}

enum status pieces_sort(struct piece *pieces, uint64_t count, unsigned threads, struct error *error)
{
    const unsigned most = threads ? threads : parallel_threads_available();
    const uint64_t worth = 1 + count / PIECES_A_THREAD;
    struct sorting sorting = {.from = pieces, .count = count, .parts = worth < most ? worth : most};
    if (descent(pieces, 0, count) == count)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&sorting.to, count * sizeof *pieces, "a dictionary", error));
    struct piece *const other = sorting.to;
    enum status status = parallel_for((unsigned)sorting.parts, sorting.parts, sort_part, &sorting, error);
    if (status == STATUS_OK)
        status = merge_parts(&sorting, (unsigned)sorting.parts, error);
    if (status == STATUS_OK && sorting.from == other)
        memcpy(pieces, other, count * sizeof *pieces);
    free(other);
    return status;
}
