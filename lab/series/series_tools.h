/*
 * series_tools.h: gzip and bzip2 with their default settings (level 6; blocks of 900 kB), by zlib and libbz2, on one
 * thread: the conventional methods of Przymus and Kaczmarski, OTM 2012 Workshops, figure 1.
 */
#ifndef TESSERA_LAB_SERIES_SERIES_TOOLS_H
#define TESSERA_LAB_SERIES_SERIES_TOOLS_H

#include "lab/bench/decode.h"

enum series_tool { SERIES_GZIP, SERIES_BZIP2, SERIES_TOOLS };

struct series_tool_result {
    uint64_t bytes;       /* of a complete .gz or .bz2 file */
    double compress_ms;   /* of one run */
    struct speed restore; /* of decompressing, `lab.repeat` runs */
};

#define SERIES_TOOL_BYTES_MAX (UINT64_C(1) << 31) /* the libraries count them in 32 bits */

/* Compresses `bytes` bytes, 1 .. SERIES_TOOL_BYTES_MAX. STATUS_CHECK_FAILED if others come back. */
NODISCARD enum status series_tool_measure(struct lab *lab, enum series_tool tool, const void *data,
                                          uint64_t bytes, struct series_tool_result *result,
                                          struct error *error);

#endif
