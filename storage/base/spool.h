/*
 * spool.h: a file without a name for values that memory shall not hold: written by any thread, read back by their
 * places, gone with the descriptor, whatever happens. In the database's directory, because there is room for the
 * values there or the load fails anyway.
 */
#ifndef TESSERA_STORAGE_BASE_SPOOL_H
#define TESSERA_STORAGE_BASE_SPOOL_H

#include "storage/base/status.h"

#include <stdatomic.h>
#include <stdint.h>

struct spool {
    int descriptor;           /* -1: not open */
    atomic_uint_fast64_t end; /* behind what spool_append wrote */
};

/* `why`, "sorting" say, goes into the sentence of an error. */
NODISCARD enum status spool_open(struct spool *spool, const char *directory, const char *why,
                                 struct error *error);
void spool_close(struct spool *spool);

/* At a place of the caller's choice, or behind everything that was appended. A full disk: STATUS_MACHINE. */
NODISCARD enum status spool_put(const struct spool *spool, uint64_t at, const void *bytes, uint64_t size,
                                struct error *error);
NODISCARD enum status spool_append(struct spool *spool, const void *bytes, uint64_t size, uint64_t *at,
                                   struct error *error);
NODISCARD enum status spool_get(const struct spool *spool, uint64_t at, void *bytes, uint64_t size,
                                struct error *error);

/* Memory that the system can give without taking it from anyone, in bytes; UINT64_MAX where it does not say. */
uint64_t memory_available(void);

#endif
