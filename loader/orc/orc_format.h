/* orc_format.h: ORC files as a format of columnar files (loader/columnar/columnar_file.h). */
#ifndef TESSERA_LOADER_ORC_ORC_FORMAT_H
#define TESSERA_LOADER_ORC_ORC_FORMAT_H

#include "loader/orc/orc_file.h"

extern const struct columnar_format orc_format;

/* Reads the footers only (orc_inspect.c). */
NODISCARD enum status orc_inspect(const struct columnar_file *file, bool json, FILE *out,
                                  struct error *error);

#endif
