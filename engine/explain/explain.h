/*
 * explain.h: what EXPLAIN tells, as one tree of operators with named fields. It is filled once, and printed as text, as JSON
 * and on the page of a report.
 *
 *     explain_tree_new -> explain_new, explain_under, explain_number, explain_words ... -> explain_rows
 *
 * Fields that operators share; EXPLAIN alone has the estimates, EXPLAIN ANALYZE also what was:
 *
 *     estimated_rows   that it was expected to give when it was planned
 *     rows             that it gave
 *     bytes            of a scan, what it read of encoded columns; of operators in memory, the rows that they gave
 *     ms               its own time, without its inputs'
 *     device           where it ran
 *     memory_bytes     the most that it had of the statement's account of memory, with its inputs
 *     spilled_bytes    what it wrote to files instead
 *
 * All functions take NULL for a tree or a node, and then do nothing: who runs a statement calls them whether it is explained
 * or not. Missing memory is remembered, and explain_rows fails.
 */
#ifndef TESSERA_ENGINE_EXPLAIN_EXPLAIN_H
#define TESSERA_ENGINE_EXPLAIN_EXPLAIN_H

#include "engine/answer/rowset.h"
#include "engine/run/engine.h"

/* How a number is shown to people. In JSON a number is in bytes, milliseconds, parts of 1, bytes a second. */
enum explain_unit {
    EXPLAIN_TEXT,
    EXPLAIN_COUNT,
    EXPLAIN_BYTES,
    EXPLAIN_MS,
    EXPLAIN_SHARE,
    EXPLAIN_RATE,
    EXPLAIN_NUMBER
};

struct explain_field {
    const char *name;
    enum explain_unit unit;
    double number;
    char *text;
    struct explain_field *next;
};

struct explain_node {
    const char *operator;
    struct explain_tree *tree;
    struct explain_field *fields;
    struct explain_node *above, *first,
        *next; /* `first` and those after it: its inputs, or the parts of a plan */
};

struct explain_tree; /* owns its nodes and their texts */

NODISCARD enum status explain_tree_new(struct explain_tree **tree, struct error *error);
void explain_tree_free(struct explain_tree *tree);
/* NULL: none was set, or memory was missing. */
struct explain_node *explain_root(const struct explain_tree *tree);

/* The node of the whole statement. */
void explain_set_root(struct explain_node *node);

/* Makes a node that is under none; `operator` and names of fields are constants. */
struct explain_node *explain_new(struct explain_tree *tree, const char *operator);
/* Puts a node under another one, as its last, and takes it from where it was. */
void explain_under(struct explain_node *parent, struct explain_node *node);
/* Makes a node under another one. */
struct explain_node *explain_part(struct explain_node *parent, const char *operator);
/* Sets a field, also one that was set before. */
void explain_number(struct explain_node *node, const char *name, enum explain_unit unit, double number);
static inline void explain_count(struct explain_node *node, const char *name, double count)
{
    explain_number(node, name, EXPLAIN_COUNT, count);
}
static inline void explain_bytes(struct explain_node *node, const char *name, double bytes)
{
    explain_number(node, name, EXPLAIN_BYTES, bytes);
}
static inline void explain_ms(struct explain_node *node, const char *name, double ms)
{
    explain_number(node, name, EXPLAIN_MS, ms);
}
static inline void explain_share(struct explain_node *node, const char *name, double share)
{
    explain_number(node, name, EXPLAIN_SHARE, share);
}
void explain_words(struct explain_node *node, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets a field to the text of a stream that text_stream opened, which it closes; NULL is missing memory. */
struct explain_writer {
    FILE *out; /* NULL: write nothing */
    char *text;
    size_t bytes;
};
bool explain_write_begin(struct explain_node *node, struct explain_writer *writer);
void explain_write_end(struct explain_node *node, const char *name, struct explain_writer *writer);

/* NULL: the node has no such field. */
const struct explain_field *explain_find(const struct explain_node *node, const char *name);
/* 0: the node has no such field. */
double explain_value(const struct explain_node *node, const char *name);

/* ---- Printing ---- */

/* As text, with a line or two for each node and branches before them (explain_text.c); the caller frees it. */
NODISCARD enum status explain_text(const struct explain_node *root, char **text, struct error *error);

/* Gives the tree as an answer of one column "plan": text, a row for each line; or JSON, in one row. */
NODISCARD enum status explain_rows(const struct explain_tree *tree, bool json, struct rowset *rows,
                                   struct error *error);

/* ---- Plans ---- */

/* A plan, and the figures of its runs. */
struct explained {
    const struct plan *plan;
    const struct engine *engine;
    const struct prepared_plan *prepared; /* of an analysed run */
    const struct scan_counts *counts;     /* NULL: the plan was not run */
    const struct run_timing *timing;      /* of an analysed run: medians */
    double read_ceiling;                  /* bytes a second that the devices read at most; 0: not known */
};

/* Fills the node of a plan over one row of no columns: it reads nothing. The node may be NULL. */
void explain_constants(struct explain_node *node);
/* Tells where the time of a statement's first run went, from its text to its rows, under its root. */
void explain_statement(struct explain_node *root, const struct run_timing *timing);

/* Fills a node "plan": its columns, joins and steps, and the figures of an analysed run (explain_plan.c). */
void explain_plan(struct explain_node *node, const struct explained *explained);

/* The rows that a plan is expected to give. */
double explain_expected_rows(const struct plan *plan);

/* Runs a plan again, after a first run whose times are *timing: a few times for medians, which *timing gets, and once to
 * count; and fills the node. The plan was prepared as `timed`. */
NODISCARD enum status explain_analyse(struct explain_node *node, struct engine *engine,
                                      const struct plan *plan, struct prepared_plan *prepared,
                                      struct run_timing *timing, struct error *error);

/* Is told the tree of a statement that EXPLAIN ANALYZE has run. */
struct explain_observer {
    enum status (*analysed)(void *context, const struct explain_node *root, struct error *error);
    void *context;
};

#endif
