/*
 * memory.h: allocates memory for tables, buffers and objects, or gives the error text if there is none.
 * Called rarely.
 *
 * `pointer` is the address of a pointer of any type, which gets the memory; `what` names the memory in the
 * error text. An allocation of 0 bytes succeeds. Free the memory with free().
 */
#ifndef TESSERA_STORAGE_BASE_MEMORY_H
#define TESSERA_STORAGE_BASE_MEMORY_H

#include "storage/base/status.h"

#include <stdint.h>

/* Allocate memory that is not initialised, or all zeros. After a failure *pointer is NULL. */
NODISCARD enum status memory_take(void *pointer, uint64_t bytes, const char *what, struct error *error);
NODISCARD enum status memory_zeros(void *pointer, uint64_t bytes, const char *what, struct error *error);

/* Resizes *pointer, which may be NULL. After a failure it is unchanged. */
NODISCARD enum status memory_grow(void *pointer, uint64_t bytes, const char *what, struct error *error);

#endif
