/*
 * sql.h: parses a statement to a tree (ast.h), and binds a tree to a database, which gives a plan
 * (engine/plan/plan.h). This folder does not know how plans are run.
 */
#ifndef TESSERA_ENGINE_SQL_SQL_H
#define TESSERA_ENGINE_SQL_SQL_H

#include "engine/plan/plan.h"
#include "engine/sql/ast.h"

/* ---- Parsing (parse.c) ---- */

/* Parses the first statement of `length` bytes of UTF-8, with or without a closing semicolon. *used gets the
 * number of bytes up to and including the semicolon, or all. Comments (from two dashes to the end of the
 * line, and C's) count as spaces. Text that is not SQL, or SQL that Tessera does not answer:
 * STATUS_BAD_INPUT, "line L, column C: ..." naming the word. *tree is NULL, without error, if there are only
 * spaces, comments and semicolons. Free with sql_tree_free. */
NODISCARD enum status sql_parse(const char *text, size_t length, struct sql_statement_tree **tree,
                                size_t *used, struct error *error);
/* Answers a query while a statement is parsed: PIVOT without IN has columns for the values that there are. *values gets them
 * as they stand in IN (...), each with its name; the parser frees it. */
#define SQL_PIVOT_MAX 1000u /* more columns are a mistake, and more than a statement may have */
struct sql_asker {
    enum status (*ask)(void *context, const char *query, char **values, struct error *error);
    void *context;
};
/* As sql_parse, where such a PIVOT is refused. */
NODISCARD enum status sql_parse_asking(const char *text, size_t length, const struct sql_asker *asker,
                                       struct sql_statement_tree **tree, size_t *used, struct error *error);
/* Parses a condition alone, which begins at `place` of a larger text, as positions count; it becomes the WHERE of the
 * tree's SELECT. */
NODISCARD enum status sql_parse_condition(const char *text, size_t length, struct sql_position place,
                                          struct sql_statement_tree **tree, struct error *error);
/* Parses a query that the program wrote, all of whose nodes get that place of the statement, into a tree. */
NODISCARD enum status sql_parse_made(struct sql_statement_tree *tree, const char *text, size_t length,
                                     struct sql_position place, struct sql_select **select,
                                     struct error *error);
const struct sql_select *sql_tree_select(const struct sql_statement_tree *tree);
void sql_tree_free(struct sql_statement_tree *tree);
uint64_t sql_tree_bytes(const struct sql_statement_tree *tree); /* of memory; 0 of NULL */

/* An empty tree, for trees that are made from others, and zeroed memory that is freed with it; NULL if there is no
 * memory. sql_tree_append adds an item of `bytes` to a list in it, as the parser does. */
struct sql_statement_tree *sql_tree_new(void);
void *sql_tree_memory(struct sql_statement_tree *tree, size_t bytes);
NODISCARD enum status sql_tree_append(struct sql_statement_tree *tree, void *list, uint32_t *count,
                                      size_t bytes, const void *item, struct error *error);

/* True if the text has a semicolon outside quotes and comments, so a whole statement. For a prompt. */
bool sql_complete(const char *text, size_t length);

/* ---- Plans (bind.c) ---- */

/* A value for a `?`. */
struct sql_parameter {
    bool is_null;
    struct value_type type; /* VALUE_STRING: `string`; else `value`; of a NULL it may be VALUE_UNTYPED */
    int64_t value;
    const char *string;
    uint32_t length;
};

/* What another operator gave (engine/relational). SQL_IN: as many literals, ascending, each once, without NULL. SQL_LOOKUP:
 * values[v - low] is the value for v, INT64_MIN is NULL, and the last one is NULL for all v that have no other. They take
 * 8 bytes each, so there may be as many as memory allows. */
struct sql_keys {
    struct value_type type; /* VALUE_STRING: only of a SQL_LOOKUP, whose values are codes of `strings` */
    const struct column *strings; /* a stored column, whose dictionary the type has */
    bool null;                    /* SQL_IN: NULL is one of them */
    int64_t low, high;            /* SQL_LOOKUP: `low`; of `bits`: struct number_bits */
    uint64_t count;
    int64_t *values; /* NULL if there are bits */
    const uint64_t *
        bits; /* SQL_IN: a large set of whole numbers or dates, as the words of struct number_bits; or NULL */
};

/* What LIKE does with the case of letters: it matters, as the standard has it, or that of ASCII letters does not, as
 * in SQLite. */
enum sql_like { SQL_LIKE_STANDARD, SQL_LIKE_SQLITE };

/* A plan computes a string of many possible values only for the rows of its answer, and on a CPU in conditions and
 * aggregates of numbers; on a GPU neither these nor numbers that may leave 64 bits. Where more is asked, the SELECT is cut
 * in two, the second over the rows of the first. */
enum sql_cut {
    SQL_CUT_NOWHERE,
    SQL_CUT_JOINS,        /* references do not join the tables as a star: operators join them */
    SQL_CUT_BELOW_GROUPS, /* the first computes what is grouped and aggregated */
    SQL_CUT_BELOW_WHERE,  /* ... and conditions that compute */
    SQL_CUT_ABOVE_GROUPS  /* the first computes groups, aggregates and the terms of ORDER BY */
};

/* How a statement is planned. `codec` is for the fact columns: NULL for each column's own encoding, one name for all
 * columns, or COLUMN=CODEC,... ; encodings that do not exist yet are made and kept. */
struct sql_options {
    const char *codec;
    unsigned threads; /* at least 1 */
    bool on_gpu;      /* the plan is for a GPU; it decides what pays */
    enum plan_index_use index;
    enum sql_like like;
    const struct zone *zone; /* whose clock shows timestamps with time zone; NULL: UTC */
    int64_t
        now; /* the time of the statement's run, in microseconds since 1970 in UTC; the same for all its query blocks */
    enum sql_cut *cut; /* set if one plan does not answer the SELECT; NULL: nobody asks */
};

/* True if the SELECT must become two. */
static inline bool sql_cuts_select(enum sql_cut cut)
{
    return cut != SQL_CUT_NOWHERE && cut != SQL_CUT_JOINS;
}

/* A table of a star. */
struct sql_star_table {
    const struct table *table;
    const char *name; /* for EXPLAIN; not unique */
    struct sql_position position;
    bool left; /* a LEFT JOIN, on `on`; else WHERE says which combinations of rows there are */
    struct sql_expression *on;
};

/* Where a block finds its columns: in tables that declared references join to one of them, the fact. */
struct sql_star {
    struct database *database; /* NULL: of a table of rows in memory */
    uint32_t table_count;      /* 1 to SQL_SOURCES_MAX */
    const struct sql_star_table *tables;
    /* The column of SQL_INPUT `number`, and its table, from 0. */
    const struct column *(*column)(const void *context, uint32_t number, uint32_t *table);
    const void *context;
};

/* Makes a plan of a block: items, WHERE, groups, HAVING, order and limit of `select`, whose names are SQL_INPUTs. A term
 * of ORDER BY that is an item's expression, or names the same column, is that item. STATUS_BAD_INPUT, "line L, column C: ...",
 * for what a plan does not answer, and for sums and the like that the tables' values make too large. Free with plan_free; the
 * database must stay open. */
NODISCARD enum status sql_bind(const struct sql_star *star, const struct sql_select *select,
                               const struct sql_parameter *parameters, uint32_t parameter_count,
                               const struct sql_options *options, struct plan **plan, struct error *error);

#endif
