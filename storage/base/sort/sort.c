/* sort.c: see sort.h. The core is inlined with the comparison and the size of an item. */
#include "storage/base/sort/sort.h"

#include <stdbool.h>
#include <string.h>

#define CORE  static inline __attribute__((always_inline))
#define WORDS 64u /* bytes that are swapped at a time */
#define SMALL 12u /* ranges of so many items are sorted by insertion */

struct items {
    char *first;
    size_t bytes;
    sort_compare *compare;
    const void *context;
};

CORE int order_of(const struct items *items, uint64_t left, uint64_t right)
{
    return items->compare(items->first + left * items->bytes, items->first + right * items->bytes,
                          items->context);
}

CORE void swap(const struct items *items, uint64_t left, uint64_t right)
{
    char kept[WORDS], *a = items->first + left * items->bytes, *b = items->first + right * items->bytes;
    for (size_t left_bytes = items->bytes; left_bytes;) {
        const size_t bytes = left_bytes < WORDS ? left_bytes : WORDS;
        memcpy(kept, a, bytes);
        memcpy(a, b, bytes);
        memcpy(b, kept, bytes);
        a += bytes;
        b += bytes;
        left_bytes -= bytes;
    }
}

CORE void insert_all(const struct items *items, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin + 1; i < end; i++)
        for (uint64_t at = i; at > begin && order_of(items, at - 1, at) > 0; at--)
            swap(items, at - 1, at);
}

CORE void sift(const struct items *items, uint64_t begin, uint64_t count, uint64_t at)
{
    for (uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && order_of(items, begin + child, begin + child + 1) < 0)
            child++;
        if (order_of(items, begin + at, begin + child) >= 0)
            return;
        swap(items, begin + at, begin + child);
        at = child;
    }
}

CORE void sort_by_heap(const struct items *items, uint64_t begin, uint64_t count)
{
    for (uint64_t at = count / 2; at-- > 0;)
        sift(items, begin, count, at);
    while (count-- > 1) {
        swap(items, begin, begin + count);
        sift(items, begin, count, 0);
    }
}

/* Brings the middle one of three items to the front. */
CORE void choose_pivot(const struct items *items, uint64_t begin, uint64_t end)
{
    const uint64_t middle = begin + (end - begin) / 2, last = end - 1;
    const int first_middle = order_of(items, begin, middle), middle_last = order_of(items, middle, last),
              first_last = order_of(items, begin, last);
    if ((first_middle < 0) == (middle_last < 0))
        swap(items, begin, middle);
    else if ((first_middle < 0) != (first_last < 0))
        return;
    else
        swap(items, begin, last);
}

/* Items before the place are not greater than the pivot, which stands there, and those after it not less. */
CORE uint64_t divide(const struct items *items, uint64_t begin, uint64_t end)
{
    uint64_t low = begin, high = end;
    choose_pivot(items, begin, end);
    for (;;) {
        do
            low++;
        while (low < end && order_of(items, low, begin) < 0);
        do
            high--;
        while (order_of(items, high, begin) > 0);
        if (low >= high)
            break;
        swap(items, low, high);
    }
    swap(items, begin, high);
    return high;
}

CORE void sort_all(const struct items *items, uint64_t count)
{
    struct {
        uint64_t begin, end;
        unsigned unlucky; /* divisions that are left */
    } open[64];
    unsigned depth = 0;
    uint64_t ordered = 1;
    while (ordered < count && order_of(items, ordered - 1, ordered) <= 0)
        ordered++;
    if (ordered >= count)
        return;
    if (count <= SORT_STABLE) {
        insert_all(items, 0, count);
        return;
    }
    open[depth].begin = 0, open[depth].end = count;
    open[depth++].unlucky = 2 * (64 - (unsigned)__builtin_clzll(count));
    while (depth) {
        uint64_t begin = open[--depth].begin, end = open[depth].end;
        unsigned unlucky = open[depth].unlucky;
        while (end - begin > SMALL && unlucky--) {
            const uint64_t pivot = divide(items, begin, end);
            const bool left = pivot - begin < end - pivot - 1; /* is smaller, and comes first */
            open[depth].begin = left ? pivot + 1 : begin;
            open[depth].end = left ? end : pivot;
            open[depth++].unlucky = unlucky;
            *(left ? &end : &begin) = left ? pivot : pivot + 1;
        }
        if (end - begin > SMALL)
            sort_by_heap(items, begin, end - begin);
        else
            insert_all(items, begin, end);
    }
}

void sort_items(void *items, uint64_t count, size_t bytes, sort_compare *compare, const void *context)
{
    sort_all(&(struct items){items, bytes, compare, context}, count);
}

static int compare_integers(const void *left, const void *right, const void *context)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    (void)context;
    return (a > b) - (a < b);
}

void sort_integers(int64_t *values, uint64_t count)
{
    sort_all(&(struct items){(char *)values, sizeof *values, compare_integers, NULL}, count);
}

static int compare_doubles(const void *left, const void *right, const void *context)
{
    const double a = *(const double *)left, b = *(const double *)right;
    (void)context;
    return (a > b) - (a < b);
}

void sort_doubles(double *values, uint64_t count)
{
    sort_all(&(struct items){(char *)values, sizeof *values, compare_doubles, NULL}, count);
}

uint64_t sort_distinct(int64_t *values, uint64_t count)
{
    uint64_t kept = 0;
    sort_integers(values, count);
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}
