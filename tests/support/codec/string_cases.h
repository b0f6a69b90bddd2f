/* string_cases.h: sorted strings of all awkward kinds, as a dictionary. */
#ifndef TESSERA_TESTS_SUPPORT_CODEC_STRING_CASES_H
#define TESSERA_TESTS_SUPPORT_CODEC_STRING_CASES_H

#include "storage/column/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum string_kind {
    STRINGS_NUMBERED,  /* "Customer#000000001" */
    STRINGS_EMPTY_TOO, /* "", then numbers without leading zeros, sorted as text */
    STRINGS_BINARY,    /* 4 bytes each, of which any may be zero */
    STRINGS_NESTED,    /* "a", "aa", "aaa": each is the prefix of the next one */
    STRINGS_LONG,      /* 100 KB that only the last bytes tell apart */
    STRINGS_KINDS
};

static inline uint32_t string_scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return (x ^ x >> 16) * 0x45d9f3bu;
}

static inline uint32_t string_make(enum string_kind kind, uint32_t number, uint32_t count, char *text)
{
    switch (kind) {
    case STRINGS_NUMBERED:
        return (uint32_t)sprintf(text, "Customer#%09u", number * 7);
    case STRINGS_EMPTY_TOO:
        return number ? (uint32_t)sprintf(text, "%x", 0x10000000 / (count + 1) * number) : 0;
    case STRINGS_BINARY:
        number = number * 4001u + string_scramble(number) % 4001;
        for (int byte = 0; byte < 4; byte++)
            text[byte] = (char)(number >> (24 - 8 * byte));
        return 4;
    case STRINGS_NESTED:
        memset(text, 'a', number + 1);
        return number + 1;
    default:
        memset(text, 'x', 100000);
        return 100000 + (uint32_t)sprintf(text + 100000, "%06u", number);
    }
}

static int string_compare(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    uint32_t a_length, b_length;
    memcpy(&a_length, *a, 4);
    memcpy(&b_length, *b, 4);
    const int order = memcmp(*a + 4, *b + 4, a_length < b_length ? a_length : b_length);
    return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

/* `count` strings of the kind, sorted, without duplicates; strings_free frees them. */
static inline struct dictionary strings_make(enum string_kind kind, uint32_t count)
{
    char **const strings = calloc(count + 1, sizeof *strings);
    uint64_t *const starts = calloc(count + 1, sizeof *starts);
    static char text[200000];
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t length = string_make(kind, s, count, text);
        strings[s] = malloc(length + 4);
        memcpy(strings[s], &length, 4);
        memcpy(strings[s] + 4, text, length);
        bytes += length;
    }
    qsort(strings, count, sizeof *strings, string_compare);
    char *const all = malloc(bytes + 1);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t length;
        memcpy(&length, strings[s], 4);
        memcpy(all + starts[s], strings[s] + 4, length);
        starts[s + 1] = starts[s] + length;
        free(strings[s]);
    }
    free(strings);
    return (struct dictionary){.count = count, .starts = starts, .bytes = all};
}

static inline void strings_free(struct dictionary *dictionary)
{
    free((void *)dictionary->starts);
    free((void *)dictionary->bytes);
}

#endif
