/*
 * summary.c: binds SUMMARIZE (bind.h), which tells of each column of a table or query what DuckDB tells. It becomes the union
 * of one SELECT for each column, so that each is one scan of that column alone:
 *
 *     SUMMARIZE t      SELECT 'k' AS column_name, 'INTEGER' AS column_type, CAST(min(k) AS VARCHAR) AS min, ... FROM t
 *                      UNION ALL SELECT 'v', ... FROM t
 *
 * A query is one of WITH, which is answered once.
 */
#include "engine/logical/bind/bind.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of the query of WITH, which nobody writes. */
#define QUERY_NAME "#summary"

static void write_text(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', out);
        putc(*text, out);
    }
    putc('\'', out);
}

/* The type of a column; a stored one may have fewer bits or digits. */
static void write_type(FILE *out, const struct logical_node *node, uint32_t c, struct value_type type)
{
    static const char *const names[] = {
        [VALUE_INTEGER] = "BIGINT",  [VALUE_DATE] = "DATE",      [VALUE_TIMESTAMP] = "TIMESTAMP",
        [VALUE_BOOLEAN] = "BOOLEAN", [VALUE_STRING] = "VARCHAR", [VALUE_DOUBLE] = "DOUBLE"};
    const struct column *stored =
        node->kind == LOGICAL_SCAN ? &node->scan.table->columns[node->scan.stored[c]] : NULL;
    if (stored && stored->references)
        stored = stored->references;
    if (value_is_decimal(type))
        fprintf(out, "'DECIMAL(%u,%u)'", stored ? stored->schema.precision : 18, type.scale);
    else
        write_text(out, stored && stored->schema.type == TYPE_INT32 ? "INTEGER" : names[type.kind]);
}

/* A text of an aggregate of the column, or NULL. */
static void write_value(FILE *out, const char *begin, const char *column, const char *end, const char *name)
{
    if (begin)
        fprintf(out, ", CAST(%s%s%s AS VARCHAR) AS %s", begin, column, end, name);
    else
        fprintf(out, ", CAST(NULL AS VARCHAR) AS %s", name);
}

/* The sketch of different values is a scan of its own: with another sketch beside it there would be a group for each pair
 * of their cells. */
static void write_select(FILE *out, const char *name, const char *column, const char *from,
                         const struct logical_node *node, uint32_t c, struct value_type type)
{
    const bool number = type.kind == VALUE_INTEGER || type.kind == VALUE_DOUBLE;
    const char *const quantile =
        number || type.kind == VALUE_DATE || type.kind == VALUE_TIMESTAMP ? "approx_quantile(" : NULL;
    fputs("SELECT ", out);
    write_text(out, name);
    fputs(" AS column_name, ", out);
    write_type(out, node, c, type);
    fputs(" AS column_type", out);
    write_value(out, "min(", column, ")", "min");
    write_value(out, "max(", column, ")", "max");
    fprintf(out, ", (SELECT approx_count_distinct(%s) FROM %s) AS approx_unique", column, from);
    write_value(out, number ? "avg(" : NULL, column, ")", "avg");
    write_value(out, number ? "stddev_samp(" : NULL, column, ")", "std");
    write_value(out, quantile, column, ", 0.25)", "q25");
    write_value(out, quantile, column, ", 0.5)", "q50");
    write_value(out, quantile, column, ", 0.75)", "q75");
    fprintf(out,
            ", count(*) AS count, CAST(100.0 * (count(*) - count(%s)) / count(*) AS DECIMAL(9,2)) AS "
            "null_percentage FROM %s",
            column, from);
}

/* The name of a column in quotes; "" becomes no name. */
static char *quoted_name(const char *name)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = text_stream(&text, &bytes);
    if (!out)
        return NULL;
    sql_name_write(out, name, true);
    return fclose(out) == 0 ? text : NULL;
}

/* Writes the union. Columns of a query are named by their number. */
static bool write_union(FILE *out, const struct bind_state *state, const struct sql_source *source,
                        const struct logical_node *node, const char **names)
{
    char *const from = quoted_name(source->table ? source->table : QUERY_NAME);
    bool whole = from;
    for (uint32_t c = 0; whole && c < node->column_count; c++) {
        char number[16];
        snprintf(number, sizeof number, "c%u", c);
        char *const column = quoted_name(source->table ? names[c] : number);
        whole = column;
        if (c)
            fputs(" UNION ALL ", out);
        if (whole)
            write_select(out, names[c], column, from, node, c, state->tree->columns[node->columns[c]].type);
        free(column);
    }
    free(from);
    return whole;
}

/* Parses what is written of the columns. */
static enum status make_union(const struct bind_state *state, const struct sql_source *source,
                              const struct logical_node *node, const char **names, struct sql_select **select)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream(&text, &bytes);
    const bool whole = out && write_union(out, state, source, node, names);
    enum status status = STATUS_OK;
    if (!out || fclose(out) != 0 || !whole)
        status = error_out_of_memory(state->error, bytes, "SUMMARIZE");
    if (status == STATUS_OK)
        status = sql_parse_made(state->arena, text, bytes, source->position, select, state->error);
    free(text);
    return status;
}

/* SELECT * FROM the source, whose columns are those to be told of. */
static enum status bind_columns(struct bind_state *state, const struct sql_source *source,
                                const struct bind_named *named, struct logical_node **node,
                                const char ***names)
{
    struct sql_select *all;
    struct sql_item star = {.text = "*"};
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *all, &all, state->error));
    all->position = source->position;
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_STAR, source->position, &star.expression, state->error));
    RETURN_IF_ERROR(
        sql_tree_append(state->arena, &all->items, &all->item_count, sizeof star, &star, state->error));
    RETURN_IF_ERROR(sql_tree_append(state->arena, &all->sources, &all->source_count, sizeof *source, source,
                                    state->error));
    return bind_query(state, all, named, NULL, node, names);
}

/* Names the columns of the query of WITH by their numbers, so that they differ. */
static enum status number_columns(const struct bind_state *state, uint32_t count, struct sql_with *with)
{
    with->column_count = count;
    RETURN_IF_ERROR(
        sql_tree_take(state->arena, (count + 1) * sizeof *with->columns, &with->columns, state->error));
    for (uint32_t c = 0; c < count; c++) {
        char *name;
        RETURN_IF_ERROR(sql_tree_take(state->arena, 16, &name, state->error));
        snprintf(name, 16, "c%u", c);
        with->columns[c] = name;
    }
    return STATUS_OK;
}

enum status bind_summary(struct bind_state *state, const struct sql_select *select,
                         const struct bind_named *named, struct logical_node **node, const char ***names)
{
    const struct sql_source *const source = &select->sources[0];
    struct sql_select *made;
    struct sql_with *with;
    struct bind_named *query;
    RETURN_IF_ERROR(bind_columns(state, source, named, node, names));
    const struct logical_node *columns = *node;
    while (columns->kind == LOGICAL_PROJECT || columns->kind == LOGICAL_FILTER)
        columns = columns->inputs[0];
    if (!source->table || columns->kind != LOGICAL_SCAN)
        columns = *node;
    RETURN_IF_ERROR(make_union(state, source, columns, *names, &made));
    if (source->table)
        return bind_query(state, made, named, NULL, node, names);
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *with, &with, state->error));
    *with = (struct sql_with){.name = QUERY_NAME, .query = source->query, .position = source->position};
    RETURN_IF_ERROR(number_columns(state, (*node)->column_count, with));
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *query, &query, state->error));
    *query = (struct bind_named){.with = with, .before = named};
    return bind_query(state, made, query, NULL, node, names);
}
