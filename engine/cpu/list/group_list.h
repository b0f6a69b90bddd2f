/*
 * group_list.h: rows with so many groups that no table of them fits a cache, and no row is likely to find its group there.
 * They are not looked for: each row is a word (row_words.h), and is put aside in one of GROUP_PARTS parts by ranges of groups'
 * numbers (group_parts.h). The words of a part are then added up in states that are in the second-level cache
 * (merge_list.c). A row is written once and read twice, in 8 bytes, from front to back.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_LIST_H
#define TESSERA_ENGINE_CPU_GROUP_LIST_H

#include "engine/cpu/group_hash.h"
#include "engine/cpu/row_vector.h"
#include "engine/plan/grouping/row_words.h"

/* Finds whether a plan's rows are worth listing, of which a table would have entries of `entry`: *words, which fit then, and
 * the layout of the parts of words. */
bool group_list_suits(const struct plan *plan, const struct group_layout *entry, struct row_words *words,
                      struct group_layout *parts);

/* Appends `count` rows, at most VECTOR_ROWS, with these numbers of their groups. */
NODISCARD enum status group_list_add(const struct plan *plan, const struct row_words *words,
                                     struct group_parts *parts, uint32_t count, const uint64_t *numbers,
                                     const struct row_vector *arguments, struct error *error);

#endif
