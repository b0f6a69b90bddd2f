/* orc_inspect.h: what an ORC file holds, for `tessera inspect FILE.orc`: its writer, stripes, columns and streams. */
#ifndef TESSERA_LOADER_ORC_ORC_INSPECT_H
#define TESSERA_LOADER_ORC_ORC_INSPECT_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes tables, or one JSON object, to `out`. Reads the footers only. */
NODISCARD enum status orc_inspect(const char *path, bool json, FILE *out, struct error *error);

#endif
