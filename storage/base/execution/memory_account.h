/*
 * memory_account.h: how much memory statements or a load may take, and how much they have.
 *
 * Whoever allocates what grows with the rows (an answer, a table of groups, a join, a sort, rows that a load holds) asks
 * the account of its execution first. If it refuses, rows are kept in files (spillable.h, spool.h) where that is possible;
 * else the statement fails with a sentence that says how much it wanted. What does not grow with the rows is
 * not counted: plans, buffers of threads, mapped files.
 *
 * A charge is what one structure has of an account. It belongs to the structure, moves with it, and is dropped when it
 * is freed. The account must outlive it: an engine's account lives as long as the engine.
 */
#ifndef TESSERA_STORAGE_BASE_EXECUTION_MEMORY_ACCOUNT_H
#define TESSERA_STORAGE_BASE_EXECUTION_MEMORY_ACCOUNT_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Any thread uses it. `limit` is set when it is made, the rest is 0. */
struct memory_account {
    uint64_t limit; /* bytes */
    _Atomic uint64_t used;
    _Atomic uint64_t most;    /* that `used` has been since memory_account_begin */
    _Atomic uint64_t spilled; /* bytes that were written to files instead */
    _Atomic uint64_t refused; /* how often bytes were refused: then who asked may spill */
};

/* Valid if zero-initialised. */
struct memory_charge {
    struct memory_account *account; /* NULL: nothing was counted, or there is no account to ask */
    uint64_t bytes;
};

void memory_account_begin(struct memory_account *account);

/* Asks the account of the current execution for `bytes` more, so that at most `most` are in use. False: nothing is charged. */
bool memory_charge_try(struct memory_charge *charge, uint64_t bytes, uint64_t most);

/* Asks the account of the current execution for `bytes` more. STATUS_MACHINE with a sentence if it has not as many; then
 * nothing is charged. `what` is part of the sentence: "a join". */
NODISCARD enum status memory_charge_add(struct memory_charge *charge, uint64_t bytes, const char *what,
                                        struct error *error);

/* The charge becomes `bytes`, as memory_charge_add; less is never refused. */
NODISCARD enum status memory_charge_set(struct memory_charge *charge, uint64_t bytes, const char *what,
                                        struct error *error);

/* Gives all bytes back. */
void memory_charge_drop(struct memory_charge *charge);

/* The bytes of memory that the system can give this process without swapping: what is free, and within the limits of
 * its control groups (a container's). UINT64_MAX if it does not say. `root` is "", or a folder instead of /, for tests. */
uint64_t memory_available(const char *root);

#endif
