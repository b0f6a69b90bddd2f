/*
 * library.h: what other parts of the tree may see behind the handles of tessera.h, which programs cannot.
 */
#ifndef TESSERA_ENGINE_LIBRARY_LIBRARY_H
#define TESSERA_ENGINE_LIBRARY_LIBRARY_H

#include "engine/library/tessera.h"
#include "storage/base/execution/execution.h"
#include "storage/database/database.h"

/* The database that the handle has opened; it belongs to the handle, until a statement changes tables through it. */
struct database *library_database(const struct tessera_database *database);

/* Begins a call of tessera.h, which ends with execution_leave. It is a part of what its thread works for, or else one of
 * those that tessera_interrupt stops. */
void library_call_begin(struct execution *call);

/* Tells a call's status and error to the program, whose `to` may be NULL; gives the status. */
enum tessera_status library_give(enum status status, const struct error *from, struct tessera_error *to);

/* The pool of threads lives as long as somebody uses it: open databases, and loads. */
void library_threads_enter(void);
void library_threads_leave(void);

#endif
