/*
 * execution.h: what one statement, load or check runs in: the request to stop, its account of memory, the folder
 * where rows are kept that are more than memory, and its streams on devices.
 *
 * Invariant: the current execution of a thread is the one that it works for. Whoever begins work enters an execution on
 * its thread, and parallel_for sets that of its caller for each item on the threads of the pool. So a function deep
 * below asks for it without an argument, and nothing of a statement is global: two statements on two threads have
 * executions of their own.
 *
 * Executions are parts of each other: the shell's statements are parts of the program's execution, which Ctrl-C stops,
 * and the devices of a statement are parts of the statement. A part is stopped as soon as what it is a part of is.
 */
#ifndef TESSERA_STORAGE_BASE_EXECUTION_EXECUTION_H
#define TESSERA_STORAGE_BASE_EXECUTION_EXECUTION_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_account;
struct spill_file;

/* A stream of a device and its pool of memory, which a statement has from its first use of the device until it ends, so that
 * statements that run at the same time do not wait for each other. The device's module has it in a structure of its own. */
struct execution_stream {
    const void *device;
    void (*leave)(struct execution_stream *stream); /* gives it back to the device */
    struct execution_stream *next;                  /* of the execution */
};

/* On the stack of whoever begins the work, or where others find it to stop it. Zero-initialise it, with `outer` if it is
 * a part. */
struct execution {
    struct execution *outer; /* it is a part of this one, which lives longer; or NULL */
    _Atomic bool stopped;
    struct memory_account *memory;    /* NULL: that of `outer` */
    const char *spill;                /* a folder; NULL: that of `outer` */
    struct spill_file *file;          /* of spillable.c; only of one that has `memory` */
    struct execution_stream *streams; /* one a device; only of one that has `memory` */
    _Atomic uint64_t items,
        done;                 /* of the outermost loop that runs in it and its parts (parallel.h); 0: none */
    bool undivided;           /* its rows cannot be divided any more (spillable.h) */
    bool transient;           /* the files that it writes go before it ends: they need not reach the disk */
    struct execution *before; /* of its thread; between enter and leave */
};

/* Make it the current execution of this thread, and the one before it again. Each thread that enters an execution has
 * one of its own. */
void execution_enter(struct execution *execution);
void execution_leave(struct execution *execution);

/* The one that the current execution is a part of, and that is a part of none; NULL: this thread works for none. */
struct execution *execution_outermost(void);

struct execution *execution_current(void); /* NULL: this thread works for none, and cannot be stopped */

/* The account of the current execution, or of the nearest one that it is a part of and that has one; NULL: nothing is
 * counted (memory_account.h). */
struct memory_account *execution_memory(void);

/* The one that this account is of. */
struct execution *execution_of_memory(void);

/* The stream that the execution of the account has of a device, or NULL. Each device has one thread of a statement at a
 * time; threads of several devices may call at once. */
struct execution_stream *execution_find_stream(const void *device);
/* Gives it a stream, until execution_leave. */
void execution_add_stream(struct execution_stream *stream);

/* The folder of the current execution in the same way, or $TMPDIR, or /tmp. */
const char *execution_spill(void);

/* Whether the current execution, or one that it is a part of, cannot divide its rows. */
bool execution_undivided(void);

/* Whether it is transient, likewise. */
bool execution_transient(void);

/* For the threads of a pool: makes `execution` the current one, and returns the one before. */
struct execution *execution_switch(struct execution *execution);

/* Asks the work to stop at its next step, or takes the request back. Any thread and any signal handler may do so. */
void execution_stop(struct execution *execution);
void execution_resume(struct execution *execution);

/* Whether the current execution, or one that it is a part of, was asked to stop. */
bool cancel_requested(void);

/* STATUS_INTERRUPTED with its sentence if so, else STATUS_OK. Long work calls it between its steps. */
NODISCARD enum status cancel_check(struct error *error);

#endif
