/* inspect_index.h: what `tessera inspect` says of a column's bitmap index. The catalogue has it; no file is read. */
#ifndef TESSERA_ENGINE_PROGRAM_INSPECT_INDEX_H
#define TESSERA_ENGINE_PROGRAM_INSPECT_INDEX_H

#include "storage/column/column.h"

#include <jansson.h>

/* Prints one line, of a column with an index. */
void inspect_index_print(const struct column *column);

/* The same as an object, or NULL without memory. */
json_t *inspect_index_json(const struct column *column);

#endif
