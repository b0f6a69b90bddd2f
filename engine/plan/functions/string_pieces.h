/* string_pieces.h: makes a dictionary from strings in any order (expression_string.c). */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_PIECES_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_PIECES_H

#include "engine/plan/expression.h"

struct piece {
    const char *text;
    uint32_t length;
    uint32_t number;
};

/* The pieces may have duplicates, and are reordered; codes[piece.number] is the code of each. The dictionary
 * belongs to the list. */
NODISCARD enum status expression_dictionary_of_pieces(struct expression_list *list, struct piece *pieces,
                                                      uint64_t count, int64_t *codes,
                                                      const struct dictionary **dictionary,
                                                      struct error *error);

#endif
