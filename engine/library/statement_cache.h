/*
 * statement_cache.h: keeps statements that have run, with their plans and what their device has of them, so that the same
 * text is not parsed, planned, compiled and loaded again.
 *
 *     sql_cache_take -> sql_cache_run -> sql_cache_give
 *
 * A statement is found again by its text, its codec and its settings. Engine and database are those of the cache, and a
 * database that is open never changes, so a plan stays right as long as the cache lives. Whoever takes a statement has it
 * alone: two threads that ask for one text have two statements, and a plan in use is never changed. The cache is bounded in
 * bytes of the host and of the device; the statements that were used least recently leave it.
 */
#ifndef TESSERA_ENGINE_LIBRARY_STATEMENT_CACHE_H
#define TESSERA_ENGINE_LIBRARY_STATEMENT_CACHE_H

#include "engine/library/statement.h"

struct sql_cache;

/* `most`: the most bytes that idle statements have, "64M"; "0": none is kept; NULL: a 32nd of the memory of statements, and
 * at least 64M: the look-ups of a plan grow with the tables. STATUS_BAD_INPUT if it cannot be
 * read. Engine and database must outlive the cache. Statements of several processes that answer together are not kept:
 * planning them is work of all. */
NODISCARD enum status sql_cache_open(struct engine *engine, struct database *database, const char *most,
                                     struct sql_cache **cache, struct error *error);

/* Frees all that was given back; NULL is legal. */
void sql_cache_close(struct sql_cache *cache);

/* sql_prepare and sql_statement_set, or a statement that was given back. Its parameters are NULL as at first, but setting
 * one to the value that it had costs no new plan. Any thread may call it. */
NODISCARD enum status sql_cache_take(struct sql_cache *cache, const char *text, size_t length,
                                     const char *codec, struct sql_settings settings,
                                     struct sql_statement **statement, size_t *used, struct error *error);

/* sql_run. What idle statements have of the memory of statements, or of a GPU's, they give back before this one has too
 * little. */
NODISCARD enum status sql_cache_run(struct sql_cache *cache, struct sql_statement *statement,
                                    struct rowset *rows, struct run_timing *timing, struct error *error);

/* Ends the use of a statement: it is kept, or freed. NULL is legal. */
void sql_cache_give(struct sql_cache *cache, struct sql_statement *statement);

struct sql_cache_counts {
    uint64_t found, prepared;   /* calls of sql_cache_take that found a statement, and that did not */
    uint64_t statements, bytes; /* that are kept now */
    uint64_t most;              /* the bytes that may be kept */
};
struct sql_cache_counts sql_cache_counts(struct sql_cache *cache);

#endif
