/* ipc_write.h: writes an answer as an Arrow file or stream, in batches of rows that are made on threads. */
#ifndef TESSERA_ENGINE_LIBRARY_IPC_IPC_WRITE_H
#define TESSERA_ENGINE_LIBRARY_IPC_IPC_WRITE_H

#include "engine/answer/rowset.h"
#include "engine/library/ipc/ipc_messages.h"

struct ipc_style {
    bool stream; /* messages alone, without what a file has around them */
    enum ipc_codec codec;
};

/* Writes the answer to `out` from its beginning to its end, on `threads` threads (0: all), each of which needs the memory
 * of a batch: 65,536 rows, or fewer of long strings. Types are those of arrow_export.h; all columns may be NULL, and names
 * that are there twice become a, a_1. The bytes are the same on any number of threads.
 *
 * STATUS_MACHINE if a write fails or memory is out, STATUS_INTERRUPTED on Ctrl-C. */
NODISCARD enum status rowset_write_arrow(const struct rowset *rows, const struct ipc_style *style,
                                         unsigned threads, FILE *out, struct error *error);

#endif
