/*
 * sort_words.h: sorts words of 64 bits by some of their bits, in one thread's cache.
 *
 * Digits of up to 8 bits are taken from the highest ones on, as many as tell most of `count` words apart; words that are
 * still alike are few, and sorted by insertion, or again by their next bits. Takes 5 to 10 ns a word.
 */
#ifndef TESSERA_STORAGE_BASE_SORT_SORT_WORDS_H
#define TESSERA_STORAGE_BASE_SORT_SORT_WORDS_H

#include <stdint.h>

/* Sorts by the bits low .. high - 1; words that are alike in these keep their order. `other` has room for as many. */
void sort_words(uint64_t *words, uint64_t *other, uint64_t count, unsigned low, unsigned high);

#endif
