/* file.h: paths of files. */
#ifndef TESSERA_STORAGE_BASE_FILE_H
#define TESSERA_STORAGE_BASE_FILE_H

#include "storage/base/status.h"

/* A path, to be freed. */
NODISCARD enum status path_format(char **path, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
