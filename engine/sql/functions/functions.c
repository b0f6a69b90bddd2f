/* functions.c: binds scalar functions by their form and name (functions.h). */
#include "engine/sql/functions/functions.h"

#include "engine/sql/aggregates/aggregate_names.h"
#include "storage/base/words/near_word.h"

#include <stdio.h>

/* ---- Nearest names ---- */

/* Names of other systems, and of windows without OVER, with what is written here. */
static const char *other_system(const char *name)
{
    static const char *const pairs[][2] = {
        {"isnull", "coalesce"},
        {"iff", "CASE WHEN"},
        {"if", "CASE WHEN"},
        {"decode", "CASE"},
        {"getdate", "current_date"},
        {"dateadd", "date + INTERVAL"},
        {"date_add", "date + INTERVAL"},
        {"to_date", "CAST(x AS DATE), or strptime(x, '%d.%m.%Y')::DATE"},
        {"str_to_date", "strptime"},
        {"parse_date", "strptime"},
        {"parse_timestamp", "strptime"},
        {"date_format", "strftime"},
        {"to_number", "CAST"},
        {"char", "chr"},
        {"bit_length", "8 * octet_length(s)"},
        {"from_unixtime", "to_timestamp"},
        {"unix_timestamp", "epoch"},
        {"bit_shift_left", "a << b"},
        {"md5", "hash"},
        {"regexp_like", "regexp_matches"},
        {"regexp_substr", "regexp_extract"},
        {"convert", "CAST"},
        {"charindex", "position"},
        {"glob", "LIKE or regexp_matches"},
        {"row_number", "row_number() OVER (ORDER BY x)"},
        {"rank", "rank() OVER (ORDER BY x)"},
        {"dense_rank", "dense_rank() OVER (ORDER BY x)"},
        {"ntile", "ntile(n) OVER (ORDER BY x)"},
        {"lag", "lag(x) OVER (ORDER BY y)"},
        {"lead", "lead(x) OVER (ORDER BY y)"},
        {"first_value", "first_value(x) OVER (ORDER BY y), or arg_min(x, y)"},
        {"first", "any_value(x), or arg_min(x, y)"},
        {"last", "arg_max(x, y)"},
        {"list", "string_agg(x, ',')"},
        {"array_agg", "string_agg(x, ',')"},
        {"last_value", "last_value(x) OVER (...), or arg_max(x, y)"}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        if (strcmp(name, pairs[p][0]) == 0)
            return pairs[p][1];
    return NULL;
}

const char *functions_near(const char *name)
{
    struct near_word near = near_word_begin(name);
    for (size_t i = 0; function_name(i); i++)
        near_word_try(&near, function_name(i));
    for (size_t i = 0; aggregate_name(i); i++)
        near_word_try(&near, aggregate_name(i));
    return near.nearest;
}

static enum status refuse_unknown(struct binder *binder, const struct sql_expression *ast)
{
    const char *const here = other_system(ast->name);
    if (strncmp(ast->name, "json", 4) == 0)
        return bind_refuse(binder, ast->position,
                           "there is no function %s; s ->> 'name' and json_extract_string(s, '$.name[0]') "
                           "take a value out of JSON, "
                           "s -> 'name' and json_extract a part of it, and json_valid(s) tests it",
                           ast->name);
    if (strncmp(ast->name, "list_", 5) == 0 || strncmp(ast->name, "array_", 6) == 0 ||
        strcmp(ast->name, "unnest") == 0)
        return bind_refuse(binder, ast->position, "there is no function %s: values are no lists here",
                           ast->name);
    const char *const near = functions_near(ast->name);
    if (here)
        return bind_refuse(binder, ast->position, "there is no function %s; write %s", ast->name, here);
    if (near)
        return bind_refuse(binder, ast->position, "there is no function %s; did you mean %s?", ast->name,
                           near);
    return bind_refuse(
        binder, ast->position,
        "there is no function %s; there are sum, count, avg, round, coalesce, substr, replace, "
        "date_trunc, extract and others: docs/sql.md, Functions",
        ast->name);
}

/* ---- Binding ---- */

#define BIND_ROW(...)                               bind_row_function,
#define BIND_TEXT(...)                              bind_text_function,
#define BIND_FORMULA(names, least, most, bind, ...) bind_##bind,

static function_bind *const binds[] = {FUNCTIONS(BIND_ROW, BIND_TEXT, BIND_FORMULA)};

enum status functions_bind(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                           uint32_t *node)
{
    size_t place;
    const struct function *const function = function_find(ast->name, &place);
    struct bound_call call = {.ast = ast, .function = function, .level = level, .count = ast->child_count};
    if (!function)
        return refuse_unknown(binder, ast);
    const uint32_t least = function->least, most = function->most;
    if (call.count < least || call.count > most) {
        char takes[64];
        snprintf(takes, sizeof takes, least == most ? "%u" : "%u to %u", least, most);
        return bind_refuse(binder, ast->position, "%s takes %s value%s, not %u", ast->name, takes,
                           most == 1 ? "" : "s", call.count);
    }
    for (uint32_t v = 0; v < call.count; v++)
        RETURN_IF_ERROR(bind_expression(binder, ast->children[v], level, &call.values[v]));
    return bind_placed(binder, ast->position, binds[place](binder, &call, node));
}
