/*
 * transfer.h: how long encoded bytes take from a file to host memory, and from there to the device's.
 *
 * The file is in the folder for temporary files ($TMPDIR, or /tmp), has no name, and is written and synchronised before
 * the first of the timed reads; each of them begins when the file has been dropped from the page cache. All threads read
 * pieces of 4 MiB. A folder that is in memory has no page cache to be dropped from: its times are those of copying.
 */
#ifndef TESSERA_LAB_BENCH_TRANSFER_H
#define TESSERA_LAB_BENCH_TRANSFER_H

#include "lab/bench/decode.h"

struct transfer {
    struct speed file;
    struct speed device; /* 0 on a processor */
    bool in_memory;      /* the folder is */
};

/* STATUS_CHECK_FAILED if other bytes come back. */
NODISCARD enum status transfer_measure(struct lab *lab, const struct encoded *encoded,
                                       struct transfer *transfer, struct error *error);

/* The folder for temporary files. */
const char *transfer_folder(void);

#endif
