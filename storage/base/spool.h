/*
 * spool.h: a file without a name, for values beyond the memory budget. Any thread writes to it and reads
 * values back by their places. It disappears when its descriptor is closed, also in a crash. It is in the
 * database's directory, because a load fails in any case if that has no room for the values.
 */
#ifndef TESSERA_STORAGE_BASE_SPOOL_H
#define TESSERA_STORAGE_BASE_SPOOL_H

#include "storage/base/status.h"

#include <stdatomic.h>
#include <stdint.h>

struct spool {
    int descriptor;           /* -1: not open */
    atomic_uint_fast64_t end; /* the callers' count of what they placed */
};

/* `why`, for example "sorting", is part of an error's sentence. */
NODISCARD enum status spool_open(struct spool *spool, const char *directory, const char *why,
                                 struct error *error);
void spool_close(struct spool *spool);

/* Writes at a place of the caller's choice. STATUS_MACHINE if the disk is full. */
NODISCARD enum status spool_put(const struct spool *spool, uint64_t at, const void *bytes, uint64_t size,
                                struct error *error);
NODISCARD enum status spool_get(const struct spool *spool, uint64_t at, void *bytes, uint64_t size,
                                struct error *error);

/* The bytes of memory that the system can give without swapping; UINT64_MAX if it does not say. */
uint64_t memory_available(void);

#endif
