/* list_loops.h: the loops over words of rows (group_list.h), for each instruction set (isa.h). A row takes 0.2 to 1 ns. */
#ifndef TESSERA_ENGINE_CPU_LIST_LOOPS_H
#define TESSERA_ENGINE_CPU_LIST_LOOPS_H

#include "storage/base/isa.h"

#include <stdint.h>

/* Adds the codes of an argument to `count` words: those of `narrow`, or of `values` if that is NULL, less `low`, which fit
 * `mask`; 0 where `nulls`, which may be NULL, has a 1. */
typedef void list_words_loop(const int32_t *narrow, const int64_t *values, const uint8_t *nulls, uint64_t low,
                             uint64_t mask, uint32_t shift, uint32_t count, uint64_t *words);
extern list_words_loop list_words_baseline, list_words_avx2, list_words_avx512;

/* Gives the values of these codes. */
typedef void list_values_loop(const uint64_t *words, uint32_t shift, uint64_t mask, uint64_t low,
                              uint32_t count, int64_t *values);
extern list_values_loop list_values_baseline, list_values_avx2, list_values_avx512;

/* Marks the numbers of the words, which are at `shift` and fit `mask` (number_ranks.h). */
typedef void list_mark_loop(const uint64_t *words, uint64_t count, uint32_t shift, uint64_t mask,
                            uint64_t *marks);
extern list_mark_loop list_mark_baseline, list_mark_avx2, list_mark_avx512;

/* Gives `first` and the ranks of these numbers, which are marked. */
typedef void list_ranks_loop(const uint64_t *words, uint32_t count, uint32_t shift, uint64_t mask,
                             const uint64_t *marks, uint64_t first, uint64_t *at);
extern list_ranks_loop list_ranks_baseline, list_ranks_avx2, list_ranks_avx512;

#endif
