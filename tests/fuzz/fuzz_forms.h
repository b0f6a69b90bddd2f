/*
 * fuzz_forms.h: functions, predicates and aggregates in the random statements of fuzz_tree.h, each as ours has it and as SQLite does.
 * $1 and $2 are columns of the types that the form takes: i a whole number, x a double, s a string. Where SQLite has no
 * such thing, `theirs` is NULL: then it is for pairs of statements that are ours alone (fuzz_tree_logic.h).
 *
 * The tables have no times: DAY is a date, and MOMENT a timestamp, that a whole number makes.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_FORMS_H
#define TESSERA_TESTS_FUZZ_FUZZ_FORMS_H

#include "tests/fuzz/fuzz_tree_names.h"

struct tree_form {
    const char *takes, *ours, *theirs; /* "=": the same text */
};

#define DAY                    "(DATE '2000-01-01' + $1 % 1000)"
#define OF_DAY(format, change) "strftime('" format "', '2000-01-01', ($1 % 1000) || ' days'" change ")"
#define DAY_NUMBER(format)     "CAST(" OF_DAY(format, "") " AS INTEGER)"
#define MOMENT                 "timezone('UTC', to_timestamp($1 * 1000))"
#define MOMENT_NUMBER(format)  "CAST(strftime('" format "', $1 * 1000, 'unixepoch') AS INTEGER)"
#define THURSDAY               ", '-3 days', 'weekday 4'" /* of the week */

static const struct tree_form integer_forms[] = {
    {"i", "abs(-$1)", "="},
    {"i", "sign($1 - 3)", "="},
    {"i", "- $1", "="},
    {"ii", "mod($1, $2)", "($1 % $2)"},
    {"ii", "$1 // $2", "($1 / $2)"},
    {"ii", "greatest($1, $2)", "coalesce(max($1, $2), $1, $2)"},
    {"ii", "least($1, $2)", "coalesce(min($1, $2), $1, $2)"},
    {"ii", "xor($1, $2)", "(($1 | $2) - ($1 & $2))"},
    {"ii", "($1 & $2)", "="},
    {"ii", "($1 | $2)", "="},
    {"i", "(~$1)", "="},
    {"i", "($1 << 2)", "="},
    {"i", "($1 >> 1)", "="},
    {"i", "bit_count($1)", NULL},
    {"ii", "gcd($1, $2)", NULL},
    {"i", "greatest_common_divisor($1, 12)", NULL},
    {"i", "lcm($1, 6)", NULL},
    {"i", "least_common_multiple($1, 4)", NULL},
    {"ii", "ifnull($1, $2)", "="},
    {"ii", "nvl($1, $2)", "ifnull($1, $2)"},
    {"i", "nullif($1, 3)", "="},
    {"i", "hash($1) % 100", NULL},
    {"s", "hash($1) % 100", NULL},
    {"x", "hash($1) % 100", NULL},
    {"ii", "if($1 > $2, $1, 7)", "iif($1 > $2, $1, 7)"},
    {"ii", "iif($1 > $2, $1, $2)", "="},
    {"ii", "CASE $1 WHEN 3 THEN $2 WHEN 4 THEN 5 END", "="},
    {"s", "length($1)", "="},
    {"s", "len($1)", "length($1)"},
    {"s", "char_length($1)", "length($1)"},
    {"s", "character_length($1)", "length($1)"},
    {"s", "octet_length($1)", "length(CAST($1 AS BLOB))"},
    {"s", "strlen($1)", "length(CAST($1 AS BLOB))"},
    {"s", "ascii($1)", "CASE $1 WHEN '' THEN 0 ELSE unicode($1) END"},
    {"s", "unicode($1)", "CASE $1 WHEN '' THEN -1 ELSE unicode($1) END"},
    {"s", "ord($1)", "CASE $1 WHEN '' THEN -1 ELSE unicode($1) END"},
    {"ss", "levenshtein($1, $2)", NULL},
    {"s", "strpos($1, 'b')", "instr($1, 'b')"},
    {"ss", "instr($1, $2)", "="},
    {"s", "position('b' IN $1)", "instr($1, 'b')"},
    {"x", "CAST(floor($1) AS INTEGER)", "="},
    {"x", "ceiling($1)::BIGINT", "CAST(ceil($1) AS INTEGER)"},
    {"s", "try_cast($1 AS INTEGER)", NULL},
    {"i", "CAST($1 AS VARCHAR)::INTEGER", "CAST(CAST($1 AS TEXT) AS INTEGER)"},
    {"i", "EXTRACT(year FROM " DAY ")", DAY_NUMBER("%Y")},
    {"i", "year(" DAY ")", DAY_NUMBER("%Y")},
    {"i", "quarter(" DAY ")", "((" DAY_NUMBER("%m") " + 2) / 3)"},
    {"i", "month(" DAY ")", DAY_NUMBER("%m")},
    {"i", "week(" DAY ")", "((CAST(" OF_DAY("%j", THURSDAY) " AS INTEGER) - 1) / 7 + 1)"},
    {"i", "weekofyear(" DAY ")", "((CAST(" OF_DAY("%j", THURSDAY) " AS INTEGER) - 1) / 7 + 1)"},
    {"i", "day(" DAY ")", DAY_NUMBER("%d")},
    {"i", "dayofmonth(" DAY ")", DAY_NUMBER("%d")},
    {"i", "dayofweek(" DAY ")", DAY_NUMBER("%w")},
    {"i", "weekday(" DAY ")", DAY_NUMBER("%w")},
    {"i", "isodow(" DAY ")", "((" DAY_NUMBER("%w") " + 6) % 7 + 1)"},
    {"i", "dayofyear(" DAY ")", DAY_NUMBER("%j")},
    {"i", "isoyear(" DAY ")", "CAST(" OF_DAY("%Y", THURSDAY) " AS INTEGER)"},
    {"i", "yearweek(" DAY ")",
     "(CAST(" OF_DAY("%Y", THURSDAY) " AS INTEGER) * 100 + (CAST(" OF_DAY(
         "%j", THURSDAY) " AS INTEGER) - 1) / 7 + 1)"},
    {"i", "decade(" DAY ")", DAY_NUMBER("%Y") " / 10"},
    {"i", "century(" DAY ")", "(" DAY_NUMBER("%Y") " + 99) / 100"},
    {"i", "millennium(" DAY ")", "(" DAY_NUMBER("%Y") " + 999) / 1000"},
    {"i", "date_part('month', " DAY ")", DAY_NUMBER("%m")},
    {"i", "datepart('day', " DAY ")", DAY_NUMBER("%d")},
    {"i", "date_diff('day', DATE '1999-12-30', " DAY ")", "($1 % 1000 + 2)"},
    {"i", "datediff('day', " DAY ", DATE '2000-01-01')", "(- ($1 % 1000))"},
    {"i", "(" DAY " - DATE '1999-12-31')", "($1 % 1000 + 1)"},
    {"i", "day(last_day(" DAY "))",
     "CAST(" OF_DAY("%d", ", 'start of month', '+1 month', '-1 day'") " AS INTEGER)"},
    {"i", "dayofyear(date_trunc('month', " DAY "))",
     "CAST(" OF_DAY("%j", ", 'start of month'") " AS INTEGER)"},
    {"i", "dayofyear(make_date(2001, 1 + abs($1) % 12, 5))",
     "CAST(strftime('%j', '2001-01-05', (abs($1) % 12) || ' months') AS INTEGER)"},
    {"i", "day(" DAY " + INTERVAL 40 DAY)", "CAST(" OF_DAY("%d", ", '+40 days'") " AS INTEGER)"},
    {"i", "month(" DAY " - 2 * INTERVAL '1 day')", "CAST(" OF_DAY("%m", ", '-2 days'") " AS INTEGER)"},
    {"i", "day(strptime('2000-01-0' || CAST(1 + abs($1) % 9 AS VARCHAR), '%Y-%m-%d'))", "(1 + abs($1) % 9)"},
    {"i", "month(try_strptime('2000-0' || CAST(1 + abs($1) % 9 AS VARCHAR) || '-07', '%Y-%m-%d'))",
     "(1 + abs($1) % 9)"},
    {"i", "hour(" MOMENT ")", MOMENT_NUMBER("%H")},
    {"i", "minute(" MOMENT ")", MOMENT_NUMBER("%M")},
    {"i", "EXTRACT(second FROM " MOMENT ")", MOMENT_NUMBER("%S")},
    {"i", "second(to_timestamp($1 * 1000) AT TIME ZONE 'UTC')", MOMENT_NUMBER("%S")},
    {"i", "millisecond(" MOMENT ")", MOMENT_NUMBER("%S") " * 1000"},
    {"i", "microsecond(" MOMENT ")", MOMENT_NUMBER("%S") " * 1000000"},
    {"i", "CAST(epoch(" MOMENT ") AS BIGINT)", "($1 * 1000)"},
    {"i", "epoch_ms(" MOMENT ")", "($1 * 1000000)"},
    {"i", "epoch_us(" MOMENT ") / 1000", "($1 * 1000000)"},
    {"i", "day(date(" MOMENT "))", MOMENT_NUMBER("%d")},
};

static const struct tree_form double_forms[] = {
    {"x", "round($1)", "="},
    {"x", "floor($1)", "="},
    {"x", "ceil($1)", "="},
    {"x", "trunc($1)", "="},
    {"x", "abs($1)", "="},
    {"x", "sqrt($1)", "="},
    {"x", "exp($1 / 8.0)", "="},
    {"x", "ln($1)", "="},
    {"x", "log($1)", "="},
    {"x", "log(2, $1)", "="},
    {"x", "log10($1)", "="},
    {"x", "log2($1)", "="},
    {"x", "cbrt($1)", NULL},
    {"x", "degrees($1)", "="},
    {"x", "radians($1)", "="},
    {"x", "sin($1)", "="},
    {"x", "cos($1)", "="},
    {"x", "tan($1)", "="},
    {"x", "asin($1 / 40.0)", "="},
    {"x", "acos($1 / 40.0)", "="},
    {"x", "atan($1)", "="},
    {"xx", "atan2($1, $2)", "="},
    {"x", "($1 * pi())", "="},
    {"x", "power($1, 2)", "="},
    {"x", "pow($1, 3)", "="},
    {"i", "CAST($1 AS DOUBLE)", "CAST($1 AS REAL)"},
    {"i", "($1 / 4e0)", "="},
    {"xx", "($1 * $2)", "="},
    {"xx", "greatest($1, $2)", "coalesce(max($1, $2), $1, $2)"},
    {"x", "nullif($1, 0.5)", "="},
    {"x", "hash($1) / 3e0", NULL},
};

static const struct tree_form string_forms[] = {
    {"s", "ucase($1)", "upper($1)"},
    {"s", "lcase($1)", "lower($1)"},
    {"s", "initcap($1)", NULL},
    {"s", "left($1, 1)", "substr($1, 1, 1)"},
    {"s", "right($1, 1)", "substr($1, -1)"},
    {"s", "substr($1, 2)", "="},
    {"s", "substring($1, 1, 1)", "substr($1, 1, 1)"},
    {"s", "substring($1 FROM 2 FOR 1)", "substr($1, 2, 1)"},
    {"s", "replace($1, 'b', 'xy')", "="},
    {"s", "translate($1, 'ab', 'xy')", "replace(replace($1, 'a', 'x'), 'b', 'y')"},
    {"i", "chr(97 + abs($1) % 20)", "CASE WHEN $1 IS NOT NULL THEN char(97 + abs($1) % 20) END"},
    {"s", "split_part($1, 'b', 1)",
     "CASE instr($1, 'b') WHEN 0 THEN $1 ELSE substr($1, 1, instr($1, 'b') - 1) END"},
    {"s", "lpad($1, 4, '-')",
     "CASE WHEN length($1) >= 4 THEN substr($1, 1, 4) ELSE substr('----', 1, 4 - length($1)) || $1 END"},
    {"s", "rpad($1, 3, '+')",
     "CASE WHEN length($1) >= 3 THEN substr($1, 1, 3) ELSE $1 || substr('+++', 1, 3 - length($1)) END"},
    {"s", "trim($1, 'a')", "="},
    {"s", "ltrim($1, 'a')", "="},
    {"s", "rtrim($1, 'b')", "="},
    {"s", "trim(BOTH 'b' FROM $1)", "trim($1, 'b')"},
    {"s", "repeat($1, 2)", "($1 || $1)"},
    {"s", "reverse($1)", NULL},
    {"ss", "($1 || $2)", "="},
    {"si", "concat($1, '+', $2)", "(coalesce($1, '') || '+' || coalesce($2, ''))"},
    {"ss", "concat_ws('-', $1, $2)",
     "CASE WHEN $1 IS NULL THEN coalesce($2, '') WHEN $2 IS NULL THEN $1 ELSE $1 || '-' || $2 END"},
    {"s", "regexp_extract($1, 'b.*')",
     "CASE instr($1, 'b') WHEN 0 THEN '' ELSE substr($1, instr($1, 'b')) END"},
    {"s", "regexp_replace($1, 'b', '+')",
     "CASE instr($1, 'b') WHEN 0 THEN $1 ELSE substr($1, 1, instr($1, 'b') - 1) || '+' || substr($1, "
     "instr($1, 'b') + 1) "
     "END"},
    {"s", "('{\"k\":\"' || $1 || '\"}') ->> 'k'", "json_extract('{\"k\":\"' || $1 || '\"}', '$.k')"},
    {"s", "json_extract_string('[\"' || $1 || '\"]', 0)", "json_extract('[\"' || $1 || '\"]', '$[0]')"},
    {"s", "json_extract('[\"' || $1 || '\"]', 0)", "('[\"' || $1 || '\"]') -> 0"},
    {"s", "('{\"k\":[\"' || $1 || '\"]}') -> 'k'", "="},
    {"i", "typeof($1)", NULL},
    {"x", "pg_typeof($1)", NULL},
    {"i", "CAST($1 AS VARCHAR)", "CAST($1 AS TEXT)"},
    {"i", "dayname(" DAY ")",
     "CASE " OF_DAY(
         "%w",
         "") " WHEN '0' THEN 'Sunday' WHEN '1' THEN 'Monday' WHEN '2' THEN 'Tuesday' WHEN '3' THEN "
             "'Wednesday' WHEN '4' THEN 'Thursday' WHEN '5' THEN 'Friday' WHEN '6' THEN 'Saturday' END"},
    {"i", "substr(monthname(" DAY "), 1, 3)",
     "substr('JanFebMarAprMayJunJulAugSepOctNovDec', 3 * " DAY_NUMBER("%m") " - 2, 3)"},
    {"i", "strftime(" DAY ", '%Y-%j')", OF_DAY("%Y-%j", "")},
    {"i", "to_char(" DAY ", 'YYYY-MM-DD')", OF_DAY("%Y-%m-%d", "")},
    {"i", "CAST(" DAY " AS VARCHAR)", OF_DAY("%Y-%m-%d", "")},
    {"i", "CAST(" MOMENT " AS VARCHAR)", "strftime('%Y-%m-%d %H:%M:%S', $1 * 1000, 'unixepoch')"},
    {"ss", "greatest($1, $2)", "coalesce(max($1, $2), $1, $2)"},
    {"ss", "nullif($1, $2)", "="},
    {"s", "CASE $1 WHEN 'a' THEN 'x' ELSE $1 END", "="},
};

static const struct tree_form truth_forms[] = {
    {"x", "isnan($1)", "$1 <> $1"},
    {"x", "isinf($1)", "$1 <> $1"},
    {"x", "isfinite($1)", "$1 = $1"},
    {"s", "starts_with($1, 'a')", "substr($1, 1, 1) = 'a'"},
    {"s", "prefix($1, 'ab')", "substr($1, 1, 2) = 'ab'"},
    {"s", "ends_with($1, 'b')", "substr($1, -1) = 'b'"},
    {"s", "suffix($1, 'B')", "substr($1, -1) = 'B'"},
    {"s", "contains($1, 'b')", "instr($1, 'b') > 0"},
    {"s", "$1 ILIKE 'A%'", "lower($1) LIKE 'a%'"},
    {"s", "$1 NOT LIKE '_b'", "="},
    {"s", "$1 LIKE 'a!%' ESCAPE '!'", "="},
    {"s", "$1 ~ 'b'", "instr($1, 'b') > 0"},
    {"s", "$1 !~ 'b'", "instr($1, 'b') = 0"},
    {"s", "$1 ~* 'B$'", "lower($1) LIKE '%b'"},
    {"s", "$1 REGEXP '^a'", "$1 LIKE 'a%'"},
    {"s", "regexp_matches($1, 'z|cb')", "(instr($1, 'z') > 0 OR instr($1, 'cb') > 0)"},
    {"s", "json_valid($1)", "CASE WHEN $1 IS NOT NULL THEN json_valid($1) END"},
    {"i", "($1 > 3) IS TRUE", "="},
    {"i", "($1 > 3) IS NOT FALSE", "="},
    {"i", "($1 > 3) IS UNKNOWN", "$1 IS NULL"},
    {"ss", "$1 IS DISTINCT FROM $2", "="},
    {"ii", "$1 IS NOT DISTINCT FROM $2", "="},
    {"x", "$1 ISNULL", "="},
    {"i", "$1 NOTNULL", "="},
    {"i", "$1 NOT BETWEEN 2 AND 5", "="},
    {"i", "CAST($1 % 2 AS BOOLEAN)", "($1 % 2) <> 0"},
    {"i", "CAST($1 AS DECIMAL(12, 2)) >= 2.50", "$1 >= 2.5"},
    {"i", "($1 > 3) = TRUE", "="},
    {"i", "($1 > 3) <> FALSE", "="},
    {"i", "($1 = 3 OR TRUE)", "="},
    {"ii", "($1, $2) = (3, 4)", "="},
    {"ii", "($1, $2) <> (3, $1)", "="},
    {"ii", "($1, $2) IN ((1, 2), (3, 4))", "($1, $2) IN (VALUES (1, 2), (3, 4))"},
    {"i", "$1 = ANY (ARRAY[1, 2, 3])", "$1 IN (1, 2, 3)"},
    {"i", "$1 <> ALL (ARRAY[1, 2, 3])", "$1 NOT IN (1, 2, 3)"},
    {"i", DAY " > DATE '2000-01-05'", "$1 % 1000 > 4"},
    {"i", DAY " BETWEEN '2000-01-03' AND DATE '2000-01-07'", "$1 % 1000 BETWEEN 2 AND 6"},
    {"i", MOMENT " >= TIMESTAMP '1970-01-01 01:00:00'", "$1 * 1000 >= 3600"},
    /* In ON before a FULL JOIN, SQLite answers a constant wrongly. */
    {"i", "now() > TIMESTAMP '2020-01-01 00:00:00'", "($1 IS NULL OR $1 IS NOT NULL)"},
    {"i", "today() > DATE '2020-01-01'", "($1 IS NULL OR $1 IS NOT NULL)"},
    {"i", "CAST(" MOMENT " AS DATE) IN (DATE '1970-01-01', DATE '1970-01-02')",
     "$1 * 1000 BETWEEN 0 AND 172799"},
};

static const struct tree_form integer_aggregates[] = {
    {"i", "count_if($1 > 3)", "count(CASE WHEN $1 > 3 THEN 1 END)"},
    {"s", "countif($1 = 'a')", "count(CASE WHEN $1 = 'a' THEN 1 END)"},
    {"i", "any_value($1)", "min($1)"},
    {"i", "sum(DISTINCT $1)", "="},
    {"i", "bit_and($1)", NULL},
    {"i", "bit_or($1)", NULL},
    {"i", "bit_xor($1)", NULL},
    {"s", "approx_count_distinct($1)", NULL},
    {"i", "approx_quantile($1, 0.5)", NULL},
    {"ix", "arg_min($1, $2)", NULL},
    {"is", "max_by($1, $2)", NULL},
    {"i", "mode($1)", NULL},
    {"i", "quantile($1, 0.4)", NULL},
    {"i", "quantile_disc($1, 0.7)", NULL},
    {"i", "percentile_disc(0.2) WITHIN GROUP (ORDER BY $1)", NULL},
};

static const struct tree_form double_aggregates[] = {
    {"x", "mean($1)", "avg($1)"},
    {"i", "avg(DISTINCT $1)", "="},
    {"x", "stddev($1)", NULL},
    {"i", "stddev_samp($1)", NULL},
    {"x", "stddev_pop($1)", NULL},
    {"x", "variance($1)", NULL},
    {"x", "var_samp($1)", NULL},
    {"i", "var_pop($1)", NULL},
    {"xi", "covar_pop($1, $2)", NULL},
    {"xx", "covar_samp($1, $2)", NULL},
    {"xi", "corr($1, $2)", NULL},
    {"xi", "max_by($1, $2)", NULL},
    {"x", "median($1)", NULL},
    {"x", "quantile_cont($1, 0.3)", NULL},
    {"i", "percentile_cont(0.6) WITHIN GROUP (ORDER BY $1 DESC)", NULL},
};

static const struct tree_form string_aggregates[] = {
    {"s", "any_value($1)", "min($1)"},
    {"si", "arg_max($1, $2)", NULL},
    {"sx", "min_by($1, $2)", NULL},
    {"s", "mode($1)", NULL},
    {"s", "string_agg($1, ',' ORDER BY $1)", NULL},
    {"si", "group_concat($1, '+' ORDER BY $2, $1)", NULL},
    {"s", "listagg($1, '') WITHIN GROUP (ORDER BY $1 DESC)", NULL},
    {"i", "CAST(bool_and($1 > 3) AS VARCHAR)", NULL},
    {"i", "CAST(every($1 < 9) AS VARCHAR)", NULL},
    {"s", "CAST(bool_or($1 = 'a') AS VARCHAR)", NULL},
};

/* The form's text with its columns in it. */
static const char *form_filled(const char *text, const char *const *columns)
{
    const char *out = "";
    for (const char *part = text; *part;) {
        const size_t length = strcspn(part, "$"), skipped = part[length] ? 2 : 0;
        /* $.k and $[0] are paths of JSON */
        const bool column = skipped && (part[length + 1] == '1' || part[length + 1] == '2');
        out = form("%s%.*s%s", out, (int)(length + (column ? 0 : skipped)), part,
                   column ? columns[part[length + 1] - '1'] : "");
        part += length + skipped;
    }
    return out;
}

/* One of the forms, if the scope has its columns; else NULL. */
static const char *form_of(const struct tree_form *forms, size_t count, const struct tree_scope *scope)
{
    const struct tree_form *const chosen = &forms[choose((uint32_t)count)];
    const char *columns[2] = {"", ""};
    for (size_t i = 0; chosen->takes[i]; i++) {
        const char letter = chosen->takes[i];
        columns[i] = column_or_none(scope,
                                    letter == 'i'   ? TREE_INTEGER
                                    : letter == 'x' ? TREE_DOUBLE
                                                    : TREE_STRING,
                                    8);
        if (!columns[i])
            return NULL;
    }
    if (!chosen->theirs && !tree_is_logic)
        return NULL;
    const char *const ours = form_filled(chosen->ours, columns);
    if (!chosen->theirs || strcmp(chosen->theirs, "=") == 0)
        return ours;
    return either(ours, form_filled(chosen->theirs, columns));
}

#define FORM_OF(forms, scope) form_of(forms, sizeof(forms) / sizeof *(forms), scope)

static const char *value_form(const struct tree_scope *scope, enum tree_type type)
{
    return type == TREE_INTEGER  ? FORM_OF(integer_forms, scope)
           : type == TREE_DOUBLE ? FORM_OF(double_forms, scope)
                                 : FORM_OF(string_forms, scope);
}

static const char *aggregate_form(const struct tree_scope *scope, enum tree_type type)
{
    return type == TREE_INTEGER  ? FORM_OF(integer_aggregates, scope)
           : type == TREE_DOUBLE ? FORM_OF(double_aggregates, scope)
                                 : FORM_OF(string_aggregates, scope);
}

static const char *truth_form(const struct tree_scope *scope)
{
    return FORM_OF(truth_forms, scope);
}

#endif
