/* bytes_parse.h: reads numbers of bytes as people write them: "4G", "1.5g", "512M", "64K", "0". Called for options. */
#ifndef TESSERA_STORAGE_BASE_BYTES_PARSE_H
#define TESSERA_STORAGE_BASE_BYTES_PARSE_H

#include "storage/base/status.h"

#include <stdint.h>

/* K, M, G and T are powers of 1024; a B or iB may follow. `what` names the option in the error, which is
 * STATUS_BAD_INPUT: no number, less than 0, 2^63 or more, or an unknown unit. */
NODISCARD enum status bytes_parse(const char *text, const char *what, uint64_t *bytes, struct error *error);

#endif
