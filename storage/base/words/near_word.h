/*
 * near_word.h: what a mistyped word may mean: "did you mean count?". Words of at most 63 bytes are compared; their case does
 * not matter. If none is mistyped so, the shortest is meant of which the word is the begin, or that of a part after an
 * underscore ("date" of order_date), or which begins the word.
 *
 *     struct near_word near = near_word_begin("coutn");
 *     for each word that there is: near_word_try(&near, word);
 *     if (near.nearest) ...
 */
#ifndef TESSERA_STORAGE_BASE_WORDS_NEAR_WORD_H
#define TESSERA_STORAGE_BASE_WORDS_NEAR_WORD_H

#include <stdbool.h>

struct near_word {
    const char *typed, *nearest; /* NULL: no word is near enough to be meant */
    unsigned least;              /* its distance, or the greatest that is a typing error */
    bool is_part;                /* `nearest` is not mistyped: one of them is a part of the other */
};

struct near_word near_word_begin(const char *typed);
void near_word_try(struct near_word *near, const char *word);

#endif
