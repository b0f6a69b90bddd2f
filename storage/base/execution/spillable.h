/*
 * spillable.h: memory that grows with the rows of a statement: of the account (memory_account.h), or of a file where the
 * account refuses.
 *
 * Rows that stand between two operators have at most half of the account on the heap; what operators work with, hash
 * tables and the like, has the rest. More rows are in a file without a name, one of each statement (spool.h), and mapped:
 * the system writes them out when it needs their memory. They count as spilled. Their room on the disk is taken first, so
 * that a full disk is an error here and not a signal later. An operator whose work is refused divides its rows and works
 * on the parts one after the other (engine/relational/spill/). If they cannot be divided, it says so
 * (struct execution: undivided), and its work is in the file as well.
 */
#ifndef TESSERA_STORAGE_BASE_EXECUTION_SPILLABLE_H
#define TESSERA_STORAGE_BASE_EXECUTION_SPILLABLE_H

#include "storage/base/status.h"

#include <stdint.h>

struct spill_file;

/* `pointer` is the address of a pointer of any type, which gets the memory; after a failure it is NULL. `what` is part of
 * an error's sentence: "a join". STATUS_MACHINE if there is no memory, or no room for the file. Free with
 * spillable_free. */
NODISCARD enum status spillable_rows(void *pointer, uint64_t bytes, const char *what, struct error *error);
NODISCARD enum status spillable_work(void *pointer, uint64_t bytes, const char *what, struct error *error);

/* Rows that are all zeros. */
NODISCARD enum status spillable_zeros(void *pointer, uint64_t bytes, const char *what, struct error *error);

/* Makes room for more rows in *pointer, which may be NULL. After a failure it is unchanged. */
NODISCARD enum status spillable_grow(void *pointer, uint64_t bytes, const char *what, struct error *error);

void spillable_free(void *memory); /* NULL is legal */

/* The memory is the program's from now on: it counts no more in the account of its statement, and may outlive it. */
void spillable_hand_over(void *memory);

/* For execution_leave: blocks in the file may outlive the statement. NULL is legal. */
void spill_file_leave(struct spill_file *file);

#endif
