/* replace.h: the rows that pass a condition, for a load that replaces them (loader/table/table_loader.h). */
#ifndef TESSERA_ENGINE_LIBRARY_REPLACE_H
#define TESSERA_ENGINE_LIBRARY_REPLACE_H

#include "engine/library/delete.h"
#include "loader/table/table_loader.h"

/* Makes `replacement` the rows of the table that pass the condition, of whose table the load asks two states. They are asked on
 * the processor, because devices keep columns of states that are open for longer. `memory`: the most bytes; 0: half of
 * what is available. The condition must outlive it; end with replacement_close. */
NODISCARD enum status replacement_open(const char *table, const struct row_condition *condition,
                                       unsigned threads, uint64_t memory,
                                       struct load_replacement *replacement, struct error *error);
void replacement_close(struct load_replacement *replacement); /* also one that is all zeros */

/* The same for `tessera load`. */
extern const struct load_conditions replace_conditions;

#endif
