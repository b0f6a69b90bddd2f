/*
 * fact_data.h: opens a fact column for queries, in a given encoding. Stored values that kernels use as
 * indices without a test are checked here.
 */
#ifndef TESSERA_ENGINE_PLAN_FACT_DATA_H
#define TESSERA_ENGINE_PLAN_FACT_DATA_H

#include "storage/database/database.h"

struct fact_data {
    struct column_data *data;
    bool nullable;                  /* some segment has a validity bitmap */
    uint32_t width_low, width_high; /* of all chunks */
};

/* Opens the column in the encoding that `codec` names, as in sql_bind (engine/sql/sql.h); a missing encoding
 * is made. Checks all positions of a foreign key and all codes of a string column: one that no row of the referenced
 * table has, or outside the dictionary, is STATUS_BAD_INPUT, naming segment and tile. `data` belongs to the
 * database. */
NODISCARD enum status fact_data_open(struct database *database, const struct column *column,
                                     const char *codec, unsigned threads, struct fact_data *opened,
                                     struct error *error);

#endif
