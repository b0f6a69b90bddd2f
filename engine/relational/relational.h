/* relational.h: shared by the files that answer a tree of operators (execute.h). */
#ifndef TESSERA_ENGINE_RELATIONAL_RELATIONAL_H
#define TESSERA_ENGINE_RELATIONAL_RELATIONAL_H

#include "engine/relational/rows/relation.h"
#include "engine/relational/execute.h"
#include "engine/sql/tree/tree.h"
#include "storage/base/execution/memory_account.h"

/* ---- Results (result.c) ---- */

/* Rows of a plan or an operator. Results that join it, or name its columns anew, share it. */
struct answer {
    uint32_t references;
    struct rowset rows;
};

/* Row r of a result has row places[r] of the answer, or row r if `places` is NULL. */
struct result_part {
    struct answer *answer;
    uint64_t *places; /* spillable */
};

struct result_column {
    uint32_t number; /* the column's in the tree */
    uint32_t part, at;
};

/* The rows that an operator gives. Valid if zero-initialised: no rows, no columns. EXPLAIN runs nothing: the rows are then
 * those that are expected, and there are no columns. */
struct result {
    uint64_t rows;
    struct explain_node *explained; /* the operator; or NULL */
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
/* The same rows once more. */
NODISCARD enum status result_shared(struct relational *run, const struct result *from, struct result *result);
/* Finds a column; NULL: there is none. *places is that of its part. */
const struct rowset_column *result_column(const struct result *result, uint32_t number,
                                          const uint64_t **places);
/* Gives strings that are views codes, in which operators have them; frees the result after a failure. */
NODISCARD enum status result_code(struct relational *run, struct result *result);
/* Copies a column in the order of the rows. Free with rowset_column_free. */
NODISCARD enum status result_gather(struct relational *run, const struct result *result, uint32_t number,
                                    struct rowset_column *column);
/* Adds a column whose values are in the order of the rows, and takes it over. */
NODISCARD enum status result_add(struct relational *run, struct result *result, uint32_t number,
                                 struct rowset_column *column);
/* The rows become places[0 .. count - 1] of them; RELATION_NO_ROW: a row of NULLs. */
NODISCARD enum status result_select(struct relational *run, struct result *result, const uint64_t *places,
                                    uint64_t count);
/* Copies rows places[0 .. count - 1] of all columns; RELATION_NO_ROW: a row of NULLs. */
NODISCARD enum status result_copied(struct relational *run, const struct result *from, const uint64_t *places,
                                    uint64_t count, struct result *result);
/* Forgets the columns that are not of the set, and frees them if nobody else has them. */
void result_trim(struct result *result, const struct logical_set *needed);
/* *left becomes the pairs of rows of both; *right is used up. */
NODISCARD enum status result_pair(struct relational *run, struct result *left, struct result *right,
                                  const uint64_t *lefts, const uint64_t *rights, uint64_t count);
/* Puts the columns of *right, which has as many rows and is used up, beside those of *left. */
NODISCARD enum status result_beside(struct relational *run, struct result *left, struct result *right);
/* Makes a rowset of these columns, in this order, and uses the result up. */
NODISCARD enum status result_rows(struct relational *run, struct result *result, const uint32_t *numbers,
                                  uint32_t count, struct rowset *rows);

/* ---- The run of a tree ---- */

/* A query that is named several times. */
struct shared_result {
    bool done;     /* of the step of a recursive query: its working rows are in `result` */
    uint32_t left; /* references that have not read it */
    struct explain_node *explained;
    struct result result;
};

struct column_use; /* region.h */

/* Gets the plan of the root, which is not run (relational_star). */
struct kept_plan {
    const struct sql_options *options;
    struct plan *plan;
};

struct totals; /* blocks/totals.h */
struct taken;  /* device/taken.h */

/* The values of one column of an operator, of which nothing else is asked: a GPU that has them as groups gives a bitmap. */
struct key_set {
    const struct logical_node *node;
    uint32_t number;
    bool done; /* they are here, and the operator's result is a number of rows alone */
    struct sql_keys keys;
};

/* A window whose rows are wanted only where this column is 1: it may leave the others out. */
struct wanted_first {
    const struct logical_node *node; /* or NULL */
    uint32_t column;
};

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
    struct explain_tree *explained; /* gets the operators; NULL: nothing is explained */
    bool dry;                       /* EXPLAIN: operators are explained and not run */
    double *values; /* of each column of the tree, the different values that it may have; 0: not known */
    struct memory_charge
        lists;    /* of keys, which are in the arena, but for bitmaps and values of dimensions: */
    void **owned; /* from malloc, freed when the run ends */
    uint32_t owned_count;
    uint32_t divisions; /* how often the rows that are worked on were divided (spill/spill.h) */
    uint32_t repeats;   /* recursive queries whose step is being answered: it asks for shared queries again */
    struct run_timing timing;
    double analysis_ms;     /* that EXPLAIN ANALYZE took for plans that it ran again */
    struct kept_plan *kept; /* or NULL */
    struct totals *
        totals; /* what is asked of an operator's groups, or NULL; and, while that is planned, of the next plan: */
    struct totals *totals_of_plan;
    struct taken
        *taken; /* an operator that may leave its rows on the GPU, or NULL; and, likewise, the next plan: */
    struct taken *taken_of_plan;
    struct key_set *keys; /* wanted of an operator's rows, or NULL; and, likewise, of the next plan's: */
    struct key_set *keys_of_plan;
    struct wanted_first first; /* what is asked of a window's rows */
    enum sql_cut cut;          /* why the last plan was refused, if not for the statement */
    struct error *error;
};

/* STATUS_BAD_INPUT, "line L, column C: ..." */
enum status relational_refuse(const struct relational *run, struct sql_position position, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));
NODISCARD enum status relational_memory(struct relational *run, size_t bytes, void *memory);

/* Answers an operator. The result has, of its columns, those that are needed, and perhaps others. */
NODISCARD enum status relational_node(struct relational *run, const struct logical_node *node,
                                      const struct logical_set *needed, struct result *result);
/* An empty set with room for all columns of the tree. */
NODISCARD enum status relational_set(struct relational *run, struct logical_set *set);

/* ---- plans.c ---- */

/* Makes a plan of a SELECT over a star, and finds whether it was refused because it is no star, or must be two. */
NODISCARD enum status relational_bind(struct relational *run, const struct sql_star *star,
                                      const struct sql_select *select, struct sql_options options,
                                      struct plan **plan);
/* Plans a SELECT over a star, and runs it. A table that is resident is asked of the engine's device. Item i is the column numbers[i]. */
NODISCARD enum status relational_plan(struct relational *run, const struct sql_star *star,
                                      const struct sql_select *select, const uint32_t *numbers,
                                      struct result *result);
/* What processes but the first do of a tree: their share of each plan over stored tables (distribute.h). */
NODISCARD enum status relational_follow(struct relational *run);
/* The engine for rows in memory: the statement's own if that is one CPU, else another one. */
NODISCARD enum status relational_engine(struct relational *run, struct engine **engine);
/* Hands the rowset's dictionaries to the run, which keeps them until it is answered. */
NODISCARD enum status relational_keep(struct relational *run, struct rowset *rows);

/* ---- EXPLAIN (operator.c) ---- */

/* An operator while it runs: its time and memory are those between begin and end. */
struct operator
{
    struct explain_node *node; /* NULL: nothing is explained */
    double begin_ms;
    uint64_t most, spilled; /* of the account, before it */
};
/* Begins an operator over these inputs, of which any may be NULL. */
void operator_begin(struct relational *run, const char *name, const struct result *first,
                    const struct result *second, struct operator* operator);
/* Ends it: the result is its, and was expected to have so many rows. */
void operator_end(struct relational *run, struct operator* operator, double expected, struct result *result);
/* The result of an operator that is not run. */
void operator_dry(struct operator* operator, double expected, struct result *result);
/* The scan of the result's plan, or the operator if it is another one; or NULL. */
struct explain_node *operator_scan(const struct result *result);
/* Sets a field to an expression, with the columns' names. */
void operator_words(struct relational *run, struct explain_node *node, const char *name,
                    struct sql_expression *const *list, uint32_t count);

/* ---- Estimates (estimate.c) ---- */

/* Fills run->values from the statistics of stored tables. */
NODISCARD enum status estimate_columns(struct relational *run);
/* The different values that an expression has in so many rows, at most. */
double estimate_values(const struct relational *run, const struct sql_expression *expression, double rows);
/* The share of rows for which a condition is expected to be true; NULL: all. */
double estimate_share(const struct relational *run, const struct sql_expression *condition);
/* Counts the rows that a SELECT of count(*) over stored tables gives, of a large table on some tiles (count.c). */
NODISCARD enum status estimate_count(struct relational *run, const struct sql_star *star,
                                     const struct sql_select *select, double *rows);
bool estimate_is_aggregated(const struct sql_select *select);
/* The rows of a SELECT over so many rows. */
double estimate_select(const struct relational *run, const struct sql_select *select, double rows);

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
/* The values of a result's column, as they come, and whether NULL is one. Free keys->values with spillable_free. */
NODISCARD enum status relational_keys(struct relational *run, const struct result *result, uint32_t number,
                                      struct sql_keys *keys);
/* Makes a list, keys->values, instead of a bitmap, which is not freed. */
NODISCARD enum status relational_list_bits(struct relational *run, struct sql_keys *keys);
/* More keys are a bitmap from here to the plan's test, if they are no further apart than so in the mean: a list of them has a
 * fourth of its bytes, but is copied several times, and is searched or joined for each row. */
#define RELATIONAL_LIST_KEYS  (UINT64_C(1) << 16)
#define RELATIONAL_KEYS_APART UINT64_C(256)
/* Makes a bitmap of keys->count values, which keys->values need not be, if they are many and near each other, and are asked of
 * `key`; *made tells. keys->count are then the different ones. */
NODISCARD enum status relational_bits_of_keys(struct relational *run, const struct sql_expression *key,
                                              const int64_t *values, struct sql_keys *keys, bool *made);
/* Sorts a list of keys, which are asked of `key`, and leaves each once; many that are near become a bitmap. Free keys->values
 * after a failure, too. */
NODISCARD enum status relational_each_key_once(struct relational *run, const struct sql_expression *key,
                                               struct sql_keys *keys);
/* The run owns the memory then, which is from malloc, after a failure, too. */
NODISCARD enum status relational_own(struct relational *run, void *memory);
/* The keys become a bitmap, which the run owns then, after a failure, too. */
NODISCARD enum status relational_take_bits(struct relational *run, struct sql_keys *keys,
                                           const struct number_bits *bits);
/* Its different values except NULL, ascending, if they lie near each other; else there is no list. Free keys->values. */
NODISCARD enum status relational_few_keys(struct relational *run, const struct result *result,
                                          uint32_t number, struct sql_keys *keys, bool *few);
/* True if the list of these keys (relational_in) is a set of numbers, and not a node for each. */
bool relational_is_set(const struct relational *run, const struct sql_expression *key,
                       const struct sql_keys *keys);
/* Whether the account has memory for the list, which is charged; else what asks joins instead. */
bool relational_list_fits(struct relational *run, const struct sql_expression *key,
                          const struct sql_keys *keys);
/* key IN (keys), which must be sorted, and are copied, but for a bitmap; FALSE if there are none. */
NODISCARD enum status relational_in(struct relational *run, struct sql_expression *key,
                                    const struct sql_keys *keys, struct sql_expression **in);
NODISCARD enum status relational_and(struct relational *run, struct sql_expression **all,
                                     struct sql_expression *condition);
/* The rows of a node that pass a condition over its columns. */
NODISCARD enum status relational_filter(struct relational *run, const struct logical_node *node,
                                        struct sql_expression *condition, struct logical_node **filter);
NODISCARD enum status relational_item(struct relational *run, struct sql_select *select,
                                      struct sql_expression *expression, uint32_t number);

/* ---- A SELECT in two (cut.c) ---- */

/* Copies a SELECT and its lists, but not its expressions. */
NODISCARD enum status relational_copy_select(struct relational *run, const struct sql_select *from,
                                             struct sql_select **copy);
/* Makes two SELECTs of one whose plan was refused so: *second, which then names the columns numbers[] that are the items
 * of *first. */
NODISCARD enum status relational_cut(struct relational *run, enum sql_cut where, struct sql_select *second,
                                     struct sql_select **first, uint32_t **numbers);

/* ---- Rows in memory (memory.c) ---- */

/* Answers a SELECT whose expressions name columns of a result (SQL_INPUT). Item i is the column numbers[i]. Strings that
 * it computes row by row are views (result_code). */
NODISCARD enum status relational_select(struct relational *run, const struct result *from,
                                        struct sql_select *select, const uint32_t *numbers,
                                        struct result *result);
/* The same of the second SELECT of two, over the rows of the first, which are used up. */
NODISCARD enum status relational_second(struct relational *run, struct result *rows,
                                        struct sql_select *select, const uint32_t *numbers,
                                        struct result *result);
/* Computes an expression for each row of a result. Free the column with rowset_column_free. */
NODISCARD enum status relational_compute(struct relational *run, const struct result *from,
                                         struct sql_expression *expression, struct rowset_column *column);

/* ---- The operators ---- */

NODISCARD enum status relational_block(struct relational *run, const struct logical_node *node,
                                       const struct logical_set *needed, struct result *result);
/* Gives the root's plan to run->kept, if one scan of stored tables answers it. */
NODISCARD enum status relational_star_block(struct relational *run, const struct logical_node *node,
                                            const struct logical_set *needed);
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
