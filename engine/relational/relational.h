/* relational.h: shared by the files that answer a tree of operators (execute.h). */
#ifndef TESSERA_ENGINE_RELATIONAL_RELATIONAL_H
#define TESSERA_ENGINE_RELATIONAL_RELATIONAL_H

#include "engine/answer/relation/relation.h"
#include "engine/relational/execute.h"
#include "engine/sql/tree/tree.h"

/* ---- Results (result.c) ---- */

/* Rows of a plan or an operator. Results that join it, or name its columns anew, share it. */
struct answer {
    uint32_t references;
    struct rowset rows;
};

/* Row r of a result has row places[r] of the answer, or row r if `places` is NULL. */
struct result_part {
    struct answer *answer;
    uint64_t *places;
    struct memory_charge charge; /* of the places */
};

struct result_column {
    uint32_t number; /* the column's in the tree */
    uint32_t part, at;
};

/* The rows that an operator gives. Valid if zero-initialised: no rows, no columns. */
struct result {
    uint64_t rows;
    uint32_t part_count, column_count;
    struct result_part *parts;
    struct result_column *columns;
};

struct relational;

void result_free(struct result *result);
/* Makes a result of a rowset, which it takes over, also after a failure; numbers[c] is that of column c. */
NODISCARD enum status result_of_rows(struct relational *run, struct rowset *rows, const uint32_t *numbers,
                                     struct result *result);
/* Names an answer's columns: numbers[i] is what `from` has as from_numbers[i]. Shares the answers. */
NODISCARD enum status result_renamed(struct relational *run, const struct result *from, uint32_t count,
                                     const uint32_t *from_numbers, const uint32_t *numbers,
                                     struct result *result);
/* Finds a column; NULL: there is none. *places is that of its part. */
const struct rowset_column *result_column(const struct result *result, uint32_t number,
                                          const uint64_t **places);
/* Copies a column in the order of the rows. Free with relation_column_free. */
NODISCARD enum status result_gather(struct relational *run, const struct result *result, uint32_t number,
                                    struct rowset_column *column);
/* Adds a column whose values are in the order of the rows, and takes it over. */
NODISCARD enum status result_add(struct relational *run, struct result *result, uint32_t number,
                                 struct rowset_column *column);
/* The rows become places[0 .. count - 1] of them; RELATION_NO_ROW: a row of NULLs. */
NODISCARD enum status result_select(struct relational *run, struct result *result, const uint64_t *places,
                                    uint64_t count);
/* Forgets the columns that are not of the set, and frees them if nobody else has them. */
void result_trim(struct result *result, const struct logical_set *needed);
/* *left becomes the pairs of rows of both; *right is used up. */
NODISCARD enum status result_pair(struct relational *run, struct result *left, struct result *right,
                                  const uint64_t *lefts, const uint64_t *rights, uint64_t count);
/* Makes a rowset of these columns, in this order, and uses the result up. */
NODISCARD enum status result_rows(struct relational *run, struct result *result, const uint32_t *numbers,
                                  uint32_t count, struct rowset *rows);

/* ---- The run of a tree ---- */

/* A query that is named several times. */
struct shared_result {
    bool done;     /* of the step of a recursive query: its working rows are in `result` */
    uint32_t left; /* references that have not read it */
    struct result result;
};

struct column_use; /* region.h */

struct relational {
    const struct relational_task *task;
    const struct logical_tree *tree;
    struct sql_statement_tree *arena; /* of trees that are made */
    struct sql_parameter *parameters; /* the statement's, and then values of subqueries */
    uint32_t parameter_count;
    struct shared_result *shared;
    struct column_use *uses; /* of each column of the tree, in the region that is being answered */
    uint32_t next_column;    /* a number that no column of the tree has */
    struct dictionary **dictionaries;
    uint32_t dictionary_count;
    char *text; /* of EXPLAIN */
    size_t text_bytes;
    uint32_t level;
    uint32_t repeats; /* recursive queries whose step is being answered: it asks for shared queries again */
    struct run_timing timing;
    bool many_texts; /* the last plan was refused, because it makes texts of too many values */
    bool no_star;    /* the last plan was refused, because references do not join its tables as a star */
    struct error *error;
};

/* STATUS_BAD_INPUT, "line L, column C: ..." */
enum status relational_refuse(const struct relational *run, struct sql_position position, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));
NODISCARD enum status relational_memory(struct relational *run, size_t bytes, void *memory);

/* Answers an operator. The result has, of its columns, those that are needed, and perhaps others. `last`: it is the whole
 * statement, whose last plan EXPLAIN does not run. */
NODISCARD enum status relational_node(struct relational *run, const struct logical_node *node,
                                      const struct logical_set *needed, bool last, struct result *result);
/* An empty set with room for all columns of the tree. */
NODISCARD enum status relational_set(struct relational *run, struct logical_set *set);

/* ---- plans.c ---- */

/* Plans a SELECT over the tables of a database, and runs it, unless it is the last one that EXPLAIN explains: then `rows`
 * stays empty. */
NODISCARD enum status relational_plan(struct relational *run, struct database *database,
                                      const struct sql_select *select, bool last, struct rowset *rows);
/* Hands the rowset's dictionaries to the run, which keeps them until it is answered. */
NODISCARD enum status relational_keep(struct relational *run, struct rowset *rows);
/* Adds a line to EXPLAIN's text, at the current level. */
NODISCARD enum status relational_line(struct relational *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Trees that are made (trees.c) ---- */

NODISCARD enum status relational_name(struct relational *run, const char *format, uint32_t number,
                                      const char **name);
NODISCARD enum status relational_literal(struct relational *run, struct sql_position position,
                                         enum sql_operation operation, const char *text,
                                         struct sql_expression **node);
/* A node for a value that is known, of the column's type also if it is NULL; `row` RELATION_NO_ROW: NULL. */
NODISCARD enum status relational_value(struct relational *run, struct sql_position position,
                                       const struct rowset_column *column, uint64_t row,
                                       struct sql_expression **node);
NODISCARD enum status relational_and(struct relational *run, struct sql_expression **all,
                                     struct sql_expression *condition);
NODISCARD enum status relational_item(struct relational *run, struct sql_select *select,
                                      struct sql_expression *expression, uint32_t number);

/* ---- Rows in memory (memory.c) ---- */

/* Answers a SELECT whose expressions name columns of a result (SQL_INPUT). Item i is the column numbers[i]. */
NODISCARD enum status relational_select(struct relational *run, const struct result *from,
                                        struct sql_select *select, const uint32_t *numbers, bool last,
                                        struct result *result);
/* The same of a SELECT that makes texts of more values than a plan does (texts.c). */
NODISCARD enum status relational_select_texts(struct relational *run, const struct result *from,
                                              struct sql_select *select, const uint32_t *numbers, bool last,
                                              struct result *result);
/* Computes an expression for each row of a result. Free the column with relation_column_free. */
NODISCARD enum status relational_compute(struct relational *run, const struct result *from,
                                         struct sql_expression *expression, struct rowset_column *column);

/* ---- The operators ---- */

NODISCARD enum status relational_block(struct relational *run, const struct logical_node *node,
                                       const struct logical_set *needed, bool last, struct result *result);
NODISCARD enum status relational_values(struct relational *run, const struct logical_node *node,
                                        struct result *result);
NODISCARD enum status relational_combine(struct relational *run, const struct logical_node *node,
                                         const struct logical_set *needed, struct result *result);
NODISCARD enum status relational_recursive(struct relational *run, const struct logical_node *node,
                                           struct result *result);
NODISCARD enum status relational_working(struct relational *run, const struct logical_node *node,
                                         struct result *result);
NODISCARD enum status relational_windows(struct relational *run, const struct logical_node *node,
                                         const struct logical_set *needed, struct result *result);

#endif
