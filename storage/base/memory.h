/*
 * memory.h: memory, or the sentence that there is none. For tables, buffers and objects; called rarely.
 *
 * `pointer` is the address of a pointer to any type, which gets the memory; `what` names it for a person. Memory of
 * 0 bytes is memory, too. All of it is freed by free().
 */
#ifndef TESSERA_STORAGE_BASE_MEMORY_H
#define TESSERA_STORAGE_BASE_MEMORY_H

#include "storage/base/status.h"

#include <stdint.h>

/* Not initialised, and all zeros; *pointer is NULL after a failure. */
NODISCARD enum status memory_take(void *pointer, uint64_t bytes, const char *what, struct error *error);
NODISCARD enum status memory_zeros(void *pointer, uint64_t bytes, const char *what, struct error *error);

/* Makes *pointer (which may be NULL) larger or smaller; it stays what it was after a failure. */
NODISCARD enum status memory_grow(void *pointer, uint64_t bytes, const char *what, struct error *error);

#endif
