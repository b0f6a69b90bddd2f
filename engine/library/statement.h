/*
 * statement.h: SQL statements over a database: prepared once, and run any number of times with other
 * parameters, on the CPU or a GPU. All queries use it; tessera.h is the interface for other programs.
 */
#ifndef TESSERA_ENGINE_LIBRARY_STATEMENT_H
#define TESSERA_ENGINE_LIBRARY_STATEMENT_H

#include "engine/explain/explain.h"
#include "engine/sql/sql.h"

struct sql_statement;

/* Parses the first statement of `text`. *used is as in sql_parse, `codec` as in sql_bind. *statement is NULL
 * if the text has no statement. Engine and database must stay open. */
NODISCARD enum status sql_prepare(struct engine *engine, struct database *database, const char *text,
                                  size_t length, const char *codec, struct sql_statement **statement,
                                  size_t *used, struct error *error);
/* The same of a query that is asked while another statement is parsed. Nothing asks in it: PIVOT in PIVOT would ask twice as
 * often with each level. */
NODISCARD enum status sql_prepare_asked(struct engine *engine, struct database *database, const char *text,
                                        const char *codec, struct sql_statement **statement,
                                        struct error *error);
void sql_statement_free(struct sql_statement *statement);
uint32_t sql_parameter_count(const struct sql_statement *statement);

/* Sets parameter `index` (from 0); strings are copied. All are NULL at first. A value that it has already costs no new
 * plan. */
NODISCARD enum status sql_parameter_set(struct sql_statement *statement, uint32_t index,
                                        const struct sql_parameter *value, struct error *error);

/* Settings of a statement, which take effect with its next plan. `kernel`: a hand-written kernel that must
 * answer it (plan_use_kernel), or NULL. `timed`: filter_ms and scan_ms are measured, for which a GPU runs
 * twice. `staged`: columns are decoded into scratch memory first. `index`: whether bitmap indexes decide conditions.
 * `explain`: what a statement without EXPLAIN does.
 * `like`: whether the case of letters matters to LIKE.
 * `zone`: whose clock shows timestamps with time zone; NULL: UTC.
 * `observer`: is told what EXPLAIN ANALYZE has measured; or NULL. */
struct sql_settings {
    const struct hand_kernel *kernel;
    bool timed, staged;
    enum plan_index_use index;
    enum sql_explain explain;
    enum sql_like like;
    const struct zone *zone;
    const struct explain_observer *observer;
};
void sql_statement_set(struct sql_statement *statement, struct sql_settings settings);

/* What the statement does, as it is written or as it was set. */
enum sql_explain sql_statement_explains(const struct sql_statement *statement);

/* Plans the statement, runs it, and fills `rows` (rowset_free) and `timing`, which may be NULL. It is planned
 * again only if a parameter was set, a run failed, or it names the current time. EXPLAIN gives its text. */
NODISCARD enum status sql_run(struct sql_statement *statement, struct rowset *rows, struct run_timing *timing,
                              struct error *error);

/* Binds a statement that is not run: its answer has so many columns; and one of them. */
struct sql_answer_column {
    const char *name; /* it lives until the statement is bound again, or freed */
    struct value_type type;
    bool nullable;
};
NODISCARD enum status sql_answer_bind(struct sql_statement *statement, uint32_t *columns,
                                      struct error *error);
struct sql_answer_column sql_answer_column(const struct sql_statement *statement, uint32_t column);

/* After a run: the stored column whose values a column of the answer has, and the table of which it has rows, each at most
 * once; or NULL (logical_origin, logical_rows_of). */
const struct column *sql_origin(const struct sql_statement *statement, uint32_t column);
const struct table *sql_rows_of(const struct sql_statement *statement);

/* ---- Statements that are kept between uses, for statement_cache.h ---- */

/* Whether the statement was prepared from this text, with this codec and these settings (but for the observer). */
bool sql_statement_is(const struct sql_statement *statement, const char *text, size_t length,
                      const char *codec, struct sql_settings settings);

/* Whether it is worth keeping: its last run succeeded, and it is no EXPLAIN. */
bool sql_statement_is_ready(const struct sql_statement *statement);

/* What it has of memory, until it runs again. */
uint64_t sql_statement_bytes(const struct sql_statement *statement);

/* Begins another use: parameters that are not set in it are NULL. */
void sql_statement_reuse(struct sql_statement *statement);

/* ---- The steps of sql_run one by one, for callers that run many statements ---- */

/* Plans the statement if it is not planned. *plan belongs to the statement and is valid until it is planned
 * again. */
NODISCARD enum status sql_plan(struct sql_statement *statement, const struct plan **plan,
                               struct error *error);

/* Plans `count` statements of one engine and compiles their kernels in parallel (engine_compile). */
NODISCARD enum status sql_compile(struct sql_statement *const *statements, uint32_t count, bool counting,
                                  struct progress *progress, struct error *error);

/* The numbers of the rows that a statement without LIMIT gives of that table alone, ascending; free() them. *found is false
 * if no single plan gives them; then nothing was run. */
NODISCARD enum status sql_rows(struct sql_statement *statement, const struct table *table, uint64_t **rows,
                               uint64_t *count, bool *found, struct error *error);

/* Runs the statement without making an answer, for measurements. */
NODISCARD enum status sql_measure(struct sql_statement *statement, struct run_timing *timing,
                                  struct error *error);

/* Runs the statement again and counts, as in struct device_operations. Call it after a successful run. */
NODISCARD enum status sql_count(struct sql_statement *statement, bool steps, struct scan_counts *counts,
                                struct error *error);

#endif
