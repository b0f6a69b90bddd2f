/* list_sets.c: see list_sets.h. */
#include "lab/lists/list_sets.h"

#include <string.h>

void list_sum(const uint32_t *gaps, uint32_t count, uint32_t *documents)
{
    uint32_t document = UINT32_MAX; /* the list begins after -1 */
    for (uint32_t i = 0; i < count; i++)
        documents[i] = document += gaps[i];
}

/* The first row from `from` on whose document is not below `document`; `count` if there is none. */
static uint32_t gallop(const uint32_t *list, uint32_t count, uint32_t from, uint32_t document)
{
    uint64_t low = from, step = 1;
    while (low + step <= count && list[low + step - 1] < document) {
        low += step;
        step *= 2;
    }
    uint64_t high = low + step - 1 < count ? low + step - 1 : count;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (list[middle] < document)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

uint32_t list_and(const uint32_t *few, uint32_t few_count, const uint32_t *many, uint32_t many_count,
                  uint32_t *out)
{
    uint32_t found = 0, at = 0;
    for (uint32_t i = 0; i < few_count; i++) {
        const uint32_t document = few[i];
        at = gallop(many, many_count, at, document);
        if (at == many_count)
            break;
        if (many[at] == document)
            out[found++] = document;
    }
    return found;
}

uint32_t list_or(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count, uint32_t *out)
{
    uint32_t i = 0, j = 0, written = 0;
    while (i < a_count && j < b_count) {
        const uint32_t x = a[i], y = b[j];
        out[written++] = x < y ? x : y;
        i += x <= y;
        j += y <= x;
    }
    memcpy(out + written, a + i, (a_count - i) * sizeof *out);
    written += a_count - i;
    memcpy(out + written, b + j, (b_count - j) * sizeof *out);
    return written + b_count - j;
}
