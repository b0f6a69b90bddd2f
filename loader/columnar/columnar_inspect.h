/* columnar_inspect.h: what a columnar file holds, for `tessera inspect FILE.orc`: its writer, parts and columns. */
#ifndef TESSERA_LOADER_COLUMNAR_COLUMNAR_INSPECT_H
#define TESSERA_LOADER_COLUMNAR_COLUMNAR_INSPECT_H

#include "storage/base/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes tables, or one JSON object, to `out`. Reads the footers only. */
NODISCARD enum status columnar_inspect(const char *path, bool json, FILE *out, struct error *error);

/* ---- For the formats ---- */

/* Text of a file as JSON, which must be UTF-8; names in a file may not be. */
json_t *columnar_json_text(const char *text);

/* Prints and frees an answer; NULL: there was no memory for it. */
NODISCARD enum status columnar_json_print(json_t *root, FILE *out, struct error *error);

#endif
