/* dictionary.c: binary search in a sorted dictionary; see column.h. Called once per literal of a query. */
#include "storage/column/column.h"

#include <stdlib.h>
#include <string.h>

/* memcmp order; a string is less than its continuation. */
static int compare(const char *left, uint32_t left_length, const char *right, uint32_t right_length)
{
    uint32_t shared = left_length < right_length ? left_length : right_length;
    int order = shared ? memcmp(left, right, shared) : 0;
    if (order != 0)
        return order;
    return left_length < right_length ? -1 : left_length > right_length;
}

uint32_t dictionary_lower_bound(const struct dictionary *dictionary, const char *string, uint32_t length)
{
    uint32_t low = 0, high = dictionary->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, middle_length;
        const char *candidate = dictionary_string(dictionary, middle, &middle_length);
        if (compare(candidate, middle_length, string, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t dictionary_find(const struct dictionary *dictionary, const char *string, uint32_t length)
{
    uint32_t code = dictionary_lower_bound(dictionary, string, length);
    if (code == dictionary->count)
        return -1;
    uint32_t found_length;
    const char *found = dictionary_string(dictionary, code, &found_length);
    return compare(found, found_length, string, length) == 0 ? (int64_t)code : -1;
}

struct dictionary *dictionary_new(uint32_t count, uint64_t bytes, uint64_t **starts, char **text)
{
    struct dictionary *const made = malloc(sizeof *made + ((size_t)count + 1) * sizeof **starts + bytes);
    if (!made)
        return NULL;
    *starts = (uint64_t *)(void *)(made + 1);
    *text = (char *)(*starts + count + 1);
    (*starts)[0] = 0;
    *made = (struct dictionary){.count = count, .starts = *starts, .bytes = *text};
    return made;
}

int64_t dictionary_unsorted(const struct dictionary *dictionary)
{
    for (uint32_t code = 1; code < dictionary->count; code++) {
        uint32_t left_length, right_length;
        const char *left = dictionary_string(dictionary, code - 1, &left_length);
        const char *right = dictionary_string(dictionary, code, &right_length);
        if (compare(left, left_length, right, right_length) >= 0)
            return code;
    }
    return -1;
}
