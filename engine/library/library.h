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

#endif
