/* near_word.c: compares words by the letters to insert, delete, replace or swap with a neighbour (near_word.h). */
#include "storage/base/words/near_word.h"

#include "storage/base/words/word.h"

#include <string.h>

#define LONGEST 63u

/* Fewer letters are a part of many words. */
#define PART_BYTES 3u

static unsigned letter(char byte)
{
    return (unsigned)word_letter(byte);
}

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The edit distance, with swaps of neighbours, of words of at most LONGEST bytes. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
    unsigned rows[3][LONGEST + 1];
    for (unsigned j = 0; j <= n; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= m; i++) {
        unsigned *const row = rows[i % 3];
        const unsigned *const above = rows[(i + 2) % 3], *const above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            row[j] = least_of(above[j - 1] + (letter(a[i - 1]) != letter(b[j - 1])),
                              least_of(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
                letter(a[i - 2]) == letter(b[j - 1]))
                row[j] = least_of(row[j], above2[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

/* One is a part of the other, and nobody mistypes so much: "cust" of customer, "date" of order_date, "name_de" of name. */
static bool is_part(const char *typed, const char *word)
{
    const size_t m = strlen(typed), n = strlen(word);
    bool part = n >= PART_BYTES && 2 * n >= m && word_compare_bytes(typed, word, n) == 0;
    for (size_t i = 0; i < n && m >= PART_BYTES && !part; i++)
        part = (i == 0 || word[i - 1] == '_') && word_compare_bytes(word + i, typed, m) == 0;
    return part;
}

struct near_word near_word_begin(const char *typed)
{
    return (struct near_word){.typed = typed, .least = (unsigned)strlen(typed) / 3 + 1};
}

void near_word_try(struct near_word *near, const char *word)
{
    const size_t m = strlen(near->typed), n = strlen(word);
    if (m > LONGEST || n > LONGEST)
        return;
    const unsigned far = distance(near->typed, m, word, n);
    const bool none = !near->nearest || near->is_part;
    if (far < m && far <= near->least && (none || far < near->least)) { /* a letter is near no other letter */
        near->nearest = word;
        near->least = far;
        near->is_part = false;
    } else if (none && is_part(near->typed, word) && (!near->nearest || n < strlen(near->nearest))) {
        near->nearest = word;
        near->is_part = true;
    }
}
