/*
 * spool.h: a file without a name, for rows and values that are more than the account of memory allows
 * (memory_account.h). Any thread appends blocks and reads them back by their places, so a partition of an operator is a
 * list of places. The file disappears when its descriptor is closed, also when the process is killed.
 *
 * It is in the folder of the execution (--spill, else $TMPDIR, else /tmp). What is written is counted in the account.
 */
#ifndef TESSERA_STORAGE_BASE_EXECUTION_SPOOL_H
#define TESSERA_STORAGE_BASE_EXECUTION_SPOOL_H

#include "storage/base/status.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

struct spool {
    int descriptor; /* -1: not open */
    char folder[PATH_MAX];
    atomic_uint_fast64_t end; /* where the next block is appended */
};

/* `why`, for example "sorting", is part of an error's sentence. */
NODISCARD enum status spool_open(struct spool *spool, const char *why, struct error *error);
void spool_close(struct spool *spool);

/* Makes sure that the disk has room for `bytes`, where it can say so. */
NODISCARD enum status spool_reserve(const struct spool *spool, uint64_t bytes, const char *why,
                                    struct error *error);

/* Writes a block after all others; *at is its place. STATUS_MACHINE if the disk is full. */
NODISCARD enum status spool_append(struct spool *spool, const void *bytes, uint64_t size, uint64_t *at,
                                   struct error *error);

/* Writes at a place of the caller's choice, in a file to which nothing is appended. */
NODISCARD enum status spool_put(const struct spool *spool, uint64_t at, const void *bytes, uint64_t size,
                                struct error *error);

/* Takes `bytes` of the disk at a place where nothing was written, or all was unmapped, and maps them: they are all zeros. Both
 * are whole pages, and are not counted. STATUS_MACHINE if the disk is full. Unmapped, they have no room on it any more. */
NODISCARD enum status spool_map(const struct spool *spool, uint64_t at, uint64_t bytes, const char *why,
                                void *mapped, struct error *error);
void spool_unmap(const struct spool *spool, uint64_t at, uint64_t bytes, void *mapped);

/* Reads a block, or a part of one. */
NODISCARD enum status spool_get(const struct spool *spool, uint64_t at, void *bytes, uint64_t size,
                                struct error *error);

#endif
