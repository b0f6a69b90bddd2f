/* string_pieces.h: makes a dictionary from strings in any order. */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_PIECES_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_PIECES_H

#include "engine/plan/expression.h"
#include "storage/base/sort/sort_strings.h"

/* Makes the dictionary of pieces, which may have duplicates and are reordered; codes[piece.number] is the code of each.
 * The caller frees it. */
NODISCARD enum status dictionary_of_pieces(struct piece *pieces, uint64_t count, unsigned threads,
                                           int64_t *codes, struct dictionary **dictionary,
                                           struct error *error);

/* Makes the dictionary of the strings of two. (*codes)[c] is the new code of the first one's code c, then that of the
 * second one's. The caller frees both. */
NODISCARD enum status dictionaries_merge(const struct dictionary *a, const struct dictionary *b,
                                         unsigned threads, int64_t **codes, struct dictionary **made,
                                         struct error *error);

/* The same as dictionary_of_pieces; the dictionary belongs to the list. */
NODISCARD enum status expression_dictionary_of_pieces(struct expression_list *list, struct piece *pieces,
                                                      uint64_t count, int64_t *codes,
                                                      const struct dictionary **dictionary,
                                                      struct error *error);

#endif
