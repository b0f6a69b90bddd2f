/*
 * query.h: answers a statement of several levels: WITH, subqueries, UNION and the like, window functions.
 *
 * A level is a SELECT. If it asks stored tables, it is planned and run compressed on the engine's devices like a
 * statement of its own. Its answer is a table in memory that the next level asks, joined to other answers and to the
 * columns that are needed of stored tables, on the CPU. Subqueries that are values become constants and lists of
 * the level around them, before that is planned.
 *
 *     query.c     levels one after the other; WITH, UNION and the like
 *     subquery.c  subqueries that are values: scalars, IN, EXISTS
 *     correlation.c  subqueries that name a key of the level around them
 *     windows.c   a level with window functions becomes one below and one above them
 *     sources.c   what a level asks: the columns of its tables and answers
 *     names.c     its names and conditions
 *     units.c     which stored tables are answered together, and their answers
 *     joins.c     which sides are joined in which order, and the level over them
 *     pairs.c     the join of two sides
 *     tables.c    the tables in memory that a level, or a key of a join, is bound to
 *     tree.c      trees that are made from a statement's tree
 */
#ifndef TESSERA_ENGINE_LIBRARY_QUERY_QUERY_H
#define TESSERA_ENGINE_LIBRARY_QUERY_QUERY_H

#include "engine/explain/explain.h"
#include "engine/sql/sql.h"

struct query_task {
    struct engine *engine;
    struct engine **own; /* the engine for answers in memory, opened at the first use; the caller closes it */
    struct database *database;
    const char *codec; /* as in sql_bind */
    enum plan_index_use index;
    enum sql_like like;
    enum sql_explain explain;
    bool staged;
    int64_t now;                             /* struct sql_options */
    const struct explain_observer *observer; /* struct sql_settings */
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
    const struct sql_select *select;
};

/* Answers the statement, or explains it: EXPLAIN answers all levels but the last, because an answer's size and values
 * decide the next plan; EXPLAIN ANALYZE all, each several times. Free `rows` with rowset_free. `timing` gets the sums over all levels. */
NODISCARD enum status query_answer(const struct query_task *task, struct rowset *rows,
                                   struct run_timing *timing, struct error *error);

#endif
