/* functions.c: the names of scalar functions (functions.h). */
#include "engine/sql/functions/functions.h"

#include "engine/sql/aggregates/aggregate_names.h"
#include "storage/base/words/near_word.h"

#include <stdio.h>

static const struct {
    const char *name;
    uint32_t least, most; /* values */
    function_bind *bind;
    int argument;
} functions[] = {
    {"round", 1, 2, bind_round, ROUND_NEAREST},
    {"floor", 1, 1, bind_round, ROUND_DOWN},
    {"ceil", 1, 1, bind_round, ROUND_UP},
    {"ceiling", 1, 1, bind_round, ROUND_UP},
    {"trunc", 1, 2, bind_round, ROUND_CUT},
    {"mod", 2, 2, bind_mod, 0},
    {"power", 2, 2, bind_power, 0},
    {"pow", 2, 2, bind_power, 0},
    {"sqrt", 1, 1, bind_real_function, CALL_SQRT},
    {"exp", 1, 1, bind_real_function, CALL_EXP},
    {"ln", 1, 1, bind_real_function, CALL_LN},
    {"log", 1, 1, bind_real_function, CALL_LOG10},
    {"log10", 1, 1, bind_real_function, CALL_LOG10},
    {"log2", 1, 1, bind_real_function, CALL_LOG2},
    {"pi", 0, 0, bind_pi, 0},
    {"sign", 1, 1, bind_sign, 0},
    {"greatest", 1, FUNCTION_VALUES_MAX, bind_extreme, true},
    {"least", 1, FUNCTION_VALUES_MAX, bind_extreme, false},
    {"concat", 1, FUNCTION_VALUES_MAX, bind_concat, 0},
    {"left", 2, 2, bind_string_call, STRINGS_LEFT},
    {"right", 2, 2, bind_string_call, STRINGS_RIGHT},
    {"substr", 2, 3, bind_string_call, STRINGS_SUBSTR},
    {"substring", 2, 3, bind_string_call, STRINGS_SUBSTR},
    {"isnan", 1, 1, bind_special, 0},
    {"isinf", 1, 1, bind_special, 1},
    {"isfinite", 1, 1, bind_special, 2},
    {"replace", 3, 3, bind_string_call, STRINGS_REPLACE},
    {"strpos", 2, 2, bind_string_call, STRINGS_POSITION},
    {"instr", 2, 2, bind_string_call, STRINGS_POSITION},
    {"split_part", 3, 3, bind_string_call, STRINGS_SPLIT_PART},
    {"starts_with", 2, 2, bind_string_call, STRINGS_STARTS_WITH},
    {"ends_with", 2, 2, bind_string_call, STRINGS_ENDS_WITH},
    {"contains", 2, 2, bind_string_call, STRINGS_CONTAINS},
    {"lpad", 2, 3, bind_string_call, STRINGS_LPAD},
    {"rpad", 2, 3, bind_string_call, STRINGS_RPAD},
    {"trim", 1, 2, bind_string_call, STRINGS_TRIM},
    {"ltrim", 1, 2, bind_string_call, STRINGS_LTRIM},
    {"rtrim", 1, 2, bind_string_call, STRINGS_RTRIM},
    {"repeat", 2, 2, bind_string_call, STRINGS_REPEAT},
    {"reverse", 1, 1, bind_string_call, STRINGS_REVERSE},
    {"octet_length", 1, 1, bind_string_call, STRINGS_BYTES},
    {"position", 2, 2, bind_position, 0},
    {"regexp_matches", 2, 3, bind_regular, 0},
    {"regexp_extract", 2, 3, bind_regular, 1},
    {"regexp_replace", 3, 4, bind_regular, 2},
    {"date_trunc", 2, 2, bind_date_trunc, 0},
    {"date_part", 2, 2, bind_date_part, 0},
    {"datepart", 2, 2, bind_date_part, 0},
    {"date_diff", 3, 3, bind_date_diff, 0},
    {"datediff", 3, 3, bind_date_diff, 0},
    {"last_day", 1, 1, bind_last_day, 0},
    {"make_date", 3, 3, bind_make_date, 0},
    {"strftime", 2, 2, bind_strftime, 0},
    {"monthname", 1, 1, bind_time_name, CALENDAR_MONTH},
    {"dayname", 1, 1, bind_time_name, CALENDAR_DAY},
    {"today", 0, 0, bind_now, true},
    {"now", 0, 0, bind_now, false},
    {"year", 1, 1, bind_time_field, 0},
    {"quarter", 1, 1, bind_time_field, 0},
    {"month", 1, 1, bind_time_field, 0},
    {"week", 1, 1, bind_time_field, 0},
    {"weekofyear", 1, 1, bind_time_field, 0},
    {"day", 1, 1, bind_time_field, 0},
    {"dayofmonth", 1, 1, bind_time_field, 0},
    {"dayofweek", 1, 1, bind_time_field, 0},
    {"weekday", 1, 1, bind_time_field, 0},
    {"isodow", 1, 1, bind_time_field, 0},
    {"dayofyear", 1, 1, bind_time_field, 0},
    {"isoyear", 1, 1, bind_time_field, 0},
    {"hour", 1, 1, bind_time_field, 0},
    {"minute", 1, 1, bind_time_field, 0},
    {"second", 1, 1, bind_time_field, 0},
    {"epoch", 1, 1, bind_time_field, 0},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

/* Those that other files bind, beside aggregates. */
static const char *const others[] = {"abs",   "coalesce", "ifnull", "nullif",  "upper",
                                     "lower", "length",   "cast",   "extract", "try_cast"};

/* ---- Nearest names ---- */

const char *function_name(size_t index)
{
    const size_t all = FUNCTIONS + sizeof others / sizeof *others;
    return index < FUNCTIONS ? functions[index].name : index < all ? others[index - FUNCTIONS] : NULL;
}

/* Names of other systems, and of windows without OVER, with what is written here. */
static const char *other_system(const char *name)
{
    static const char *const pairs[][2] = {
        {"nvl", "coalesce"},
        {"isnull", "coalesce"},
        {"iff", "CASE WHEN"},
        {"if", "CASE WHEN"},
        {"decode", "CASE"},
        {"len", "length"},
        {"char_length", "length"},
        {"character_length", "length"},
        {"getdate", "current_date"},
        {"now", "current_timestamp"},
        {"dateadd", "date + INTERVAL"},
        {"date_add", "date + INTERVAL"},
        {"to_date", "CAST(x AS DATE)"},
        {"to_char", "strftime"},
        {"date_format", "strftime"},
        {"to_number", "CAST"},
        {"convert", "CAST"},
        {"charindex", "position"},
        {"ucase", "upper"},
        {"lcase", "lower"},
        {"glob", "LIKE or regexp_matches"},
        {"row_number", "row_number() OVER (ORDER BY x)"},
        {"rank", "rank() OVER (ORDER BY x)"},
        {"dense_rank", "dense_rank() OVER (ORDER BY x)"},
        {"ntile", "ntile(n) OVER (ORDER BY x)"},
        {"lag", "lag(x) OVER (ORDER BY y)"},
        {"lead", "lead(x) OVER (ORDER BY y)"},
        {"first_value", "first_value(x) OVER (ORDER BY y), or arg_min(x, y)"},
        {"last_value", "last_value(x) OVER (...), or arg_max(x, y)"}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        if (strcmp(name, pairs[p][0]) == 0)
            return pairs[p][1];
    return NULL;
}

enum status functions_refuse_unknown(struct binder *binder, const struct sql_expression *ast)
{
    const char *const here = other_system(ast->name);
    if (strncmp(ast->name, "json", 4) == 0)
        return bind_refuse(
            binder, ast->position,
            "there is no function %s: JSON within strings is not read; load its fields as columns, or "
            "take one out by regexp_extract(s, '\"key\": *\"([^\"]*)\"', 1)",
            ast->name);
    if (strncmp(ast->name, "list_", 5) == 0 || strncmp(ast->name, "array_", 6) == 0 ||
        strcmp(ast->name, "unnest") == 0)
        return bind_refuse(binder, ast->position, "there is no function %s: values are no lists here",
                           ast->name);
    struct near_word near = near_word_begin(ast->name);
    if (here)
        return bind_refuse(binder, ast->position, "there is no function %s; write %s", ast->name, here);
    for (size_t i = 0; function_name(i); i++)
        near_word_try(&near, function_name(i));
    for (size_t i = 0; aggregate_name(i); i++)
        near_word_try(&near, aggregate_name(i));
    if (near.nearest)
        return bind_refuse(binder, ast->position, "there is no function %s; did you mean %s?", ast->name,
                           near.nearest);
    return bind_refuse(
        binder, ast->position,
        "there is no function %s; there are sum, count, avg, round, coalesce, substr, replace, "
        "date_trunc, extract and others: docs/sql.md, Functions",
        ast->name);
}

/* ---- Binding ---- */

enum status functions_bind(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                           bool *found, uint32_t *node)
{
    struct bound_call call = {.ast = ast, .count = ast->child_count};
    size_t f = 0;
    while (f < FUNCTIONS && strcmp(functions[f].name, ast->name) != 0)
        f++;
    *found = f < FUNCTIONS;
    if (!*found)
        return STATUS_OK;
    const uint32_t least = functions[f].least, most = functions[f].most;
    if (call.count < least || call.count > most) {
        char takes[64];
        snprintf(takes, sizeof takes, least == most ? "%u" : "%u to %u", least, most);
        return bind_refuse(binder, ast->position, "%s takes %s value%s, not %u", ast->name, takes,
                           most == 1 ? "" : "s", call.count);
    }
    for (uint32_t v = 0; v < call.count; v++)
        RETURN_IF_ERROR(bind_expression(binder, ast->children[v], level, &call.values[v]));
    call.argument = functions[f].argument;
    if (functions[f].bind == bind_string_call || functions[f].bind == bind_concat)
        bind_allow_late(binder, ast, level);
    return bind_placed(binder, ast->position, functions[f].bind(binder, &call, node));
}
