/* text_format.h: recognises files that are no delimited text by their first bytes, so that nobody reads a Parquet file as
 * one odd row. The bytes are those of the unpacked file. */
#ifndef TESSERA_LOADER_TEXT_TEXT_FORMAT_H
#define TESSERA_LOADER_TEXT_TEXT_FORMAT_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* STATUS_BAD_INPUT, "PATH: is a Parquet file; ...", with what to do, if the bytes begin such a file: Parquet, Feather,
 * Arrow, UTF-16, databases, archives, spreadsheets. */
/* Whether a text begins with a JSON object, or with one in a list. */
bool text_format_is_json(const char *bytes, size_t count);

NODISCARD enum status text_format_check(const char *path, const char *bytes, size_t count,
                                        struct error *error);

#endif
