/*
 * fact_data.h: a fact column opened for queries, in the encoding that was asked for, and its stored values
 * checked where kernels index by them without asking.
 */
#ifndef TESSERA_ENGINE_PLAN_FACT_DATA_H
#define TESSERA_ENGINE_PLAN_FACT_DATA_H

#include "storage/database/database.h"

struct fact_data {
    struct column_data *data;
    bool nullable;                  /* some segment has a validity bitmap */
    uint32_t width_low, width_high; /* of all chunks */
};

/* Opens the column in the encoding that `codec` says (engine/sql/sql.h: sql_bind), which is made if it is
 * missing. A foreign key's row positions and a string's codes are all looked at: one beyond the referenced table or
 * the dictionary is STATUS_BAD_INPUT, naming segment and tile. `data` is the database's. */
NODISCARD enum status fact_data_open(struct database *database, const struct column *column,
                                     const char *codec, unsigned threads, struct fact_data *opened,
                                     struct error *error);

#endif
