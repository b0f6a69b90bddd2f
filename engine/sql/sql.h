/*
 * engine/sql/sql.h: SQL as a language: from text to a tree (engine/sql/ast.h), and from a tree to a plan
 * (engine/plan/plan.h) over a database. What runs plans is not known here.
 */
#ifndef TESSERA_ENGINE_SQL_SQL_H
#define TESSERA_ENGINE_SQL_SQL_H

#include "engine/plan/plan.h"
#include "engine/sql/ast.h"

/* ---- Parsing: engine/sql/parse.c ---- */

/* Parses one statement of `length` bytes of UTF-8, with or without a closing semicolon. *used: the bytes up
 * to and with the semicolon, or all. Comments (two dashes to the end of the line, and C's) are spaces. What
 * is not SQL, or SQL that Tessera does not answer: STATUS_BAD_INPUT, "line L, column C: ..." naming the
 * word. *tree is NULL, without error, if there was nothing but spaces, comments and semicolons. Free with
 * sql_tree_free. */
NODISCARD enum status sql_parse(const char *text, size_t length, struct sql_statement_tree **tree,
                                size_t *used, struct error *error);
const struct sql_select *sql_tree_select(const struct sql_statement_tree *tree);
void sql_tree_free(struct sql_statement_tree *tree);

/* Whether the text holds a whole statement up to a semicolon outside quotes and comments: for a prompt. */
bool sql_complete(const char *text, size_t length);

/* ---- Binding: engine/sql/bind.c ---- */

/* A value for a `?`. */
struct sql_parameter {
    bool is_null;
    struct value_type type; /* VALUE_STRING: `string`; else `value` */
    int64_t value;
    const char *string;
    uint32_t length;
};

/* What the names mean in this database, how to answer, and in which order. `codec`, for the fact columns:
 * NULL for each column's own encoding, one name for all, or COLUMN=CODEC,... ; what is missing is encoded and kept.
 * Unknown names, types that do not fit, what is not supported: STATUS_BAD_INPUT, "line L, column C: ...".
 * Free with plan_free; the database must stay open. */
NODISCARD enum status sql_bind(struct database *database, const struct sql_select *select,
                               const struct sql_parameter *parameters, uint32_t parameter_count,
                               const char *codec, unsigned threads, struct plan **plan, struct error *error);

#endif
