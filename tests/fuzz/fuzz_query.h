/*
 * fuzz_query.h: random queries over a random star, of terms (fuzz_term.h), and their answers beside SQLite's.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_QUERY_H
#define TESSERA_TESTS_FUZZ_FUZZ_QUERY_H

#include "storage/base/clock.h"
#include "tests/fuzz/fuzz_aggregates.h"
#include "tests/fuzz/fuzz_term.h"
#include "tests/support/gpu/query_compile.h"

#include <math.h>

/* "cpu", "cuda", or "compile": answered on the CPU, and each query's kernels compiled for a GPU. */
static const char *fuzz_device;

/* ---- Queries ---- */

#define PARTS 6u

struct join {
    const char *text; /* table and alias */
    const char *on[2];
};

struct query {
    const char *main, *join_word; /* "JOIN", "LEFT JOIN", or NULL: commas, and ON belongs to WHERE */
    struct join joins[SCOPE_MAX];
    struct term where[PARTS], groups[PARTS], aggregates[PARTS], having;
    uint32_t join_count, where_count, group_count, aggregate_count;
    bool aggregated, has_having, distinct, parameters;
    bool rollup;               /* GROUP BY ROLLUP (all groups, which differ) */
    bool staged;               /* struct sql_settings */
    enum plan_index_use index; /* the same */
    uint32_t order[2 * PARTS]; /* outputs, each once */
    uint8_t direction[2 * PARTS], manner[2 * PARTS];
    int limit, offset;
};

/* Joins along every reference of a table that is in scope, each with a chance, and on from there. */
static inline void make_joins(struct query *query, struct scope *scope)
{
    for (uint32_t t = 0; t < scope->count; t++) {
        const struct fuzz_table *table = scope->in[t].table;
        for (uint32_t c = 0; c < table->column_count && query->join_count < 7; c++) {
            const int target = table->columns[c].references;
            if (target < 0 || !chance(50))
                continue;
            const struct fuzz_table *to = &fuzz_tables[target];
            const char *const alias = form("j%u", query->join_count),
                              *const left = form("%s.%s", scope->in[t].alias, table->columns[c].name),
                              *const right = form("%s.%s", alias, to->columns[0].name);
            struct join *join = &query->joins[query->join_count++];
            join->text = form("%s %s", to->name, alias);
            join->on[0] = join->on[1] =
                chance(50) ? form("%s = %s", left, right) : form("%s = %s", right, left);
            scope->in[scope->count].alias = alias;
            scope->in[scope->count++].table = to;
            if (query->join_word && query->join_word[0] == 'L' && chance(30)) {
                const struct scope alone = {1, {{alias, to}}};
                const struct term condition = truth_term(chance(70) ? &alone : scope, 1);
                join->on[0] = form("%s AND %s", join->on[0], condition.ours);
                join->on[1] = form("%s AND %s", join->on[1], condition.sqlites);
            }
        }
    }
}

static inline struct term simple_aggregate(const struct scope *scope)
{
    static const char *const names[] = {"sum", "sum", "avg", "min", "max", "count", "count(DISTINCT"};
    const uint32_t which = below(8);
    if (which == 7)
        return (struct term){.kind = NUMBER, .ours = "count(*)", .sqlites = "count(*)"};
    struct term value = which < 3 ? number_term(scope, 2) : any_term(scope, 1);
    if (which < 3 && chance(30) && !real_term(scope, &value))
        value = number_term(scope, 1);
    struct term term = value;
    const char *const name = names[which], *const open = which == 6 ? " " : "(";
    term.ours = form("%s%s%s)", name, open, value.ours);
    term.sqlites = form("%s%s%s)", name, open, value.sqlites);
    term.inner[0] = term.inner[1] = NULL;
    if (which >= 5)
        term.scale = 0, term.kind = NUMBER;
    if (which == 2 && value.kind == NUMBER)
        term.scale = (uint8_t)(SCALE_DOUBLE + value.scale);
    return term;
}

static inline struct term aggregate_term(const struct scope *scope)
{
    const struct term term = chance(80)   ? simple_aggregate(scope)
                             : chance(40) ? spread_term(scope)
                             : chance(60) ? values_term(scope)
                                          : truth_aggregate(scope);
    return chance(15) ? filtered(scope, term) : term;
}

/* An aggregate, or an expression over some. */
static inline struct term output_term(const struct scope *scope)
{
    struct term a = aggregate_term(scope), b;
    if (a.kind != NUMBER || a.scale >= SCALE_DOUBLE || chance(75))
        return a;
    const struct term first = a;
    b = chance(50) ? number_constant() : aggregate_term(scope);
    if (b.kind != NUMBER || b.scale >= SCALE_DOUBLE)
        return a;
    if (chance(30) && !a.scale && !b.scale)
        return quotient(a, b);
    rescale_both(&a, &b);
    struct term term =
        chance(50) ? PAIR(NUMBER, a.scale, "%s + %s", a, b) : PAIR(NUMBER, a.scale, "%s - %s", a, b);
    term.inner[0] = first.scale == term.scale ? keep(first) : NULL;
    return term;
}

/* A lone number in GROUP BY or ORDER BY is a place in the select list. */
static inline struct term group_term(const struct scope *scope, uint32_t depth)
{
    for (;;) {
        const struct term term = any_term(scope, depth);
        if (strspn(term.sqlites, "-(0123456789.) ") != strlen(term.sqlites))
            return term;
    }
}

static inline void make_having(struct query *query, const struct scope *scope)
{
    struct term value = aggregate_term(scope), bound = number_constant();
    if (value.kind != NUMBER || value.scale >= SCALE_DOUBLE)
        return;
    rescale_both(&value, &bound);
    query->has_having = true;
    query->having =
        chance(70) ? PAIR(TRUTH, 0, "%s > %s", value, bound) : PAIR(TRUTH, 0, "NOT %s <= %s", value, bound);
}

static inline void make_query(struct query *query)
{
    static const char *const words_of_joins[] = {NULL, "JOIN", "LEFT JOIN"};
    const struct fuzz_table *main =
        &fuzz_tables[chance(80) ? fuzz_dimension_count + below(fuzz_table_count - fuzz_dimension_count)
                                : below(fuzz_dimension_count)];
    struct scope scope = {1, {{"f", main}}};
    text_used = constant_count = 0;
    *query = (struct query){.limit = -1, .join_word = words_of_joins[below(3)], .parameters = chance(30)};
    query->main = main->name;
    make_joins(query, &scope);
    for (uint32_t i = below(chance(50) ? 2 : 4); i > 0; i--)
        query->where[query->where_count++] = truth_term(&scope, 2);
    query->aggregated = chance(80);
    query->group_count = query->aggregated ? below(4) : 1 + below(4);
    query->distinct = !query->aggregated && chance(30);
    if (query->aggregated)
        query->aggregate_count = query->group_count && chance(10) ? 0 : 1 + below(3);
    for (uint32_t g = 0; g < query->group_count; g++)
        query->groups[g] = group_term(&scope, query->aggregated ? 1 : 2);
    for (uint32_t a = 0; a < query->aggregate_count; a++)
        query->aggregates[a] = output_term(&scope);
    if (query->aggregate_count && chance(25))
        make_having(query, &scope);
    query->rollup = query->group_count && query->aggregate_count && chance(15);
    for (uint32_t g = 1; g < query->group_count; g++)
        for (uint32_t h = 0; h < g; h++)
            query->rollup &= strcmp(query->groups[g].ours, query->groups[h].ours) != 0;
    for (uint32_t o = 0; o < 2 * PARTS; o++) {
        const uint32_t other = below(o + 1);
        query->order[o] = query->order[other];
        query->order[other] = o;
        query->direction[o] = (uint8_t)below(6);
        query->manner[o] = (uint8_t)below(3);
    }
    if (chance(30)) {
        query->limit = (int)below(50);
        query->offset = chance(30) ? (int)below(20) : 0;
    }
    query->staged = chance(20);
    query->index = fuzz_indexed ? (enum plan_index_use)below(3) : PLAN_INDEX_AUTO;
}

static inline const struct term *output_of(const struct query *query, uint32_t o)
{
    return o < query->group_count ? &query->groups[o] : &query->aggregates[o - query->group_count];
}

/* Up to HAVING. Only the first `kept` groups are grouped by, and the others are NULL. */
static inline const char *write_core(const struct query *query, bool ours, uint32_t kept)
{
    const uint32_t outputs = query->group_count + query->aggregate_count;
    const bool rollup = ours && query->rollup;
    const char *text = query->distinct ? "SELECT DISTINCT " : "SELECT ", *between = " WHERE ";
#define SIDE(term) (ours ? (term).ours : (term).sqlites)
    for (uint32_t o = 0; o < outputs; o++)
        text = form("%s%s%s AS c%u", text, o ? ", " : "",
                    o >= kept && o < query->group_count ? "NULL" : SIDE(*output_of(query, o)), o);
    text = form("%s FROM %s f", text, query->main);
    for (uint32_t j = 0; j < query->join_count; j++)
        text = query->join_word ? form("%s %s %s ON %s", text, query->join_word, query->joins[j].text,
                                       query->joins[j].on[!ours])
                                : form("%s, %s", text, query->joins[j].text);
    for (uint32_t j = 0; !query->join_word && j < query->join_count; j++, between = " AND ")
        text = form("%s%s%s", text, between, query->joins[j].on[0]);
    for (uint32_t w = 0; w < query->where_count; w++, between = " AND ")
        text = form("%s%s%s", text, between, SIDE(query->where[w]));
    for (uint32_t g = 0; query->aggregated && g < kept; g++)
        text = form("%s%s%s", text,
                    g        ? ", "
                    : rollup ? " GROUP BY ROLLUP ("
                             : " GROUP BY ",
                    query->manner[g] == 0 ? form("%u", g + 1) : SIDE(query->groups[g]));
    if (rollup)
        text = form("%s)", text);
    return query->has_having ? form("%s HAVING %s", text, SIDE(query->having)) : text;
#undef SIDE
}

/* Ours still with numbers for constants. SQLite has no ROLLUP: it is asked for each set of groups. */
static inline const char *write_query(const struct query *query, bool ours)
{
    static const char *const directions[] = {"", "", " DESC", " ASC", " NULLS LAST", " DESC NULLS FIRST"};
    const uint32_t outputs = query->group_count + query->aggregate_count;
    const char *text = write_core(query, ours, query->group_count), *between = " ORDER BY ";
    for (uint32_t kept = query->group_count; !ours && query->rollup && kept-- > 0;)
        text = form("%s UNION ALL %s", text, write_core(query, false, kept));
    /* Floating-point ones last, sums behind groups: their ties are not SQLite's. */
    for (uint32_t i = 0; i < 6 * PARTS; i++) {
        const uint32_t o = query->order[i % (2 * PARTS)];
        if (o >= outputs)
            continue;
        const uint32_t turn = output_of(query, o)->scale < SCALE_DOUBLE ? 0 : o < query->group_count ? 1 : 2;
        if (turn != i / (2 * PARTS))
            continue;
        text = form("%s%s%s%s", text, between,
                    query->manner[o] == 0 || query->rollup ? form("%u", o + 1)
                    : query->manner[o] == 1                ? form("c%u", o)
                    : ours                                 ? output_of(query, o)->ours
                                                           : output_of(query, o)->sqlites,
                    directions[query->direction[o]]);
        between = ", ";
    }
    if (query->limit >= 0)
        text = form("%s LIMIT %d OFFSET %d", text, query->limit, query->offset);
    return text;
}

/* Constants as literals, or as parameters that `values` takes in their order. */
static inline const char *place_constants(const char *text, bool parameters, struct sql_parameter *values,
                                          uint32_t *count)
{
    char *const out = texts + text_used;
    size_t used = 0;
    *count = 0;
    for (const char *c = text; *c; c++) {
        if (*c != '\x01') {
            out[used++] = *c;
            continue;
        }
        char *end;
        const unsigned long number = strtoul(c + 1, &end, 10);
        if (parameters && *count < CONSTANTS_MAX)
            values[(*count)++] = constants[number].value;
        used += (size_t)sprintf(out + used, "%s", parameters ? "?" : constants[number].literal);
        c = end; /* the \x02 */
    }
    out[used] = '\0';
    text_used += used + 1;
    assert_true(text_used < sizeof texts);
    return out;
}

/* ---- Comparing ---- */

enum verdict { SAME, REFUSED, DIFFERENT };

static char difference[3000];

static inline bool same_value(const struct rowset_column *column, uint64_t row, const struct term *term,
                              sqlite3_stmt *statement, int place)
{
    const int type = sqlite3_column_type(statement, place);
    const bool null = column->nulls && column->nulls[row];
    char buffer[ROWSET_TEXT_BYTES];
    uint32_t length;
    if (null || type == SQLITE_NULL)
        return null && type == SQLITE_NULL;
    if (column->type.kind == VALUE_STRING) {
        const char *text = rowset_text(column, row, buffer, &length);
        return (int)length == sqlite3_column_bytes(statement, place) &&
               memcmp(text, sqlite3_column_text(statement, place), length) == 0;
    }
    if (column->type.kind == VALUE_DOUBLE) {
        const double number = double_of_key(column->values[row]);
        const double expected =
            sqlite3_column_double(statement, place) / (double)unit(term->scale - SCALE_DOUBLE);
        return number == expected || fabs(number - expected) <= 1e-9 * (fabs(expected) + 1);
    }
    return column->values[row] == sqlite3_column_int64(statement, place) &&
           (column->type.kind != VALUE_INTEGER || column->type.scale == term->scale);
}

static inline bool documented_refusal(const char *text)
{
    if (getenv("TESSERA_TEST_MEMORY") && strstr(text, "; allow more (--memory)"))
        return true;
    static const char *const reasons[] = {"64 bits",
                                          "2^4032",
                                          "18 digits",
                                          "digits behind the point",
                                          "5 million years",
                                          "use a codec with random access",
                                          "span less than 2^63",
                                          "a join of answers has more than"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(text, reasons[i]))
            return true;
    return false;
}

/* Column c of the answer has the type types[c]. */
static inline enum verdict compare_rows(const struct term *const *types, const struct rowset *rows,
                                        sqlite3_stmt *statement)
{
    uint64_t row = 0;
    int step;
    for (; (step = sqlite3_step(statement)) == SQLITE_ROW; row++) {
        if (row >= rows->rows) {
            snprintf(difference, sizeof difference, "SQLite has more than our %llu rows",
                     (unsigned long long)rows->rows);
            return DIFFERENT;
        }
        for (uint32_t c = 0; c < rows->column_count; c++) {
            if (same_value(&rows->columns[c], row, types[c], statement, (int)c))
                continue;
            char buffer[ROWSET_TEXT_BYTES];
            uint32_t length;
            const char *text = rowset_text(&rows->columns[c], row, buffer, &length);
            snprintf(difference, sizeof difference, "row %llu, column %u: %.*s, SQLite says %s",
                     (unsigned long long)row, c, text ? (int)length : 4, text ? text : "NULL",
                     (const char *)sqlite3_column_text(statement, (int)c));
            return DIFFERENT;
        }
    }
    if (step != SQLITE_DONE)
        return REFUSED; /* SQLite's sum overflowed */
    if (row != rows->rows) {
        snprintf(difference, sizeof difference, "%llu rows, SQLite has %llu", (unsigned long long)rows->rows,
                 (unsigned long long)row);
        return DIFFERENT;
    }
    return SAME;
}

/* Our text and SQLite's, for whoever wants to see them. */
static const char *ours, *theirs;

static uint64_t with_rows; /* answers that were not empty */

static inline bool ask_sqlite(sqlite3 *sqlite, sqlite3_stmt **expected)
{
    if (sqlite3_prepare_v2(sqlite, theirs, -1, expected, NULL) == SQLITE_OK)
        return true;
    snprintf(difference, sizeof difference, "SQLite does not take it: %s", sqlite3_errmsg(sqlite));
    return false;
}

/* Judges our answer, or our refusal, and frees both. */
static inline enum verdict judge(enum status status, const struct error *told,
                                 const struct term *const *types, struct rowset *rows, sqlite3_stmt *expected)
{
    enum verdict verdict = DIFFERENT;
    with_rows += status == STATUS_OK && rows->rows > 0;
    if (status == STATUS_OK)
        verdict = compare_rows(types, rows, expected);
    else if (documented_refusal(told->text))
        verdict = REFUSED;
    else
        snprintf(difference, sizeof difference, "refused: %s", told->text);
    rowset_free(rows);
    sqlite3_finalize(expected);
    return verdict;
}

/* PROGRAM SECONDS SEED DEVICE, all of which may be missing; a seed of 0 is taken from the clock. */
static inline void fuzz_arguments(int argc, char **argv, double *seconds, uint64_t *seed)
{
    *seconds = argc > 1 ? atof(argv[1]) : 0;
    *seed = argc > 2 ? strtoull(argv[2], NULL, 10) : *seed;
    *seed = *seed ? *seed : (uint64_t)clock_ns();
    fuzz_device = argc > 3 ? argv[3] : test_device();
    print_message("seed %llu\n", (unsigned long long)*seed);
}

static inline enum status answer(struct engine *engine, struct database *database, const struct query *query,
                                 const char *codec, struct rowset *rows, struct error *error)
{
    static struct sql_parameter values[CONSTANTS_MAX];
    struct sql_statement *statement = NULL;
    uint32_t count;
    size_t used;
    ours = place_constants(write_query(query, true), query->parameters, values, &count);
    enum status status = sql_prepare(engine, database, ours, strlen(ours), codec, &statement, &used, error);
    if (status == STATUS_OK)
        sql_statement_set(statement, (struct sql_settings){.staged = query->staged, .index = query->index});
    for (uint32_t p = 0; status == STATUS_OK && p < count; p++)
        status = sql_parameter_set(statement, p, &values[p], error);
    if (status == STATUS_OK)
        status = sql_run(statement, rows, NULL, error);
    if (status == STATUS_OK && strcmp(fuzz_device, "compile") == 0)
        status = compile_statement(database, ours, values, count, codec, compile_sm_90, error);
    sql_statement_free(statement);
    return status;
}

static inline enum verdict try_query(struct engine *engine, struct database *database, sqlite3 *sqlite,
                                     const struct query *query, const char *codec)
{
    const struct term *types[3 * PARTS];
    sqlite3_stmt *expected = NULL;
    struct error error = {0};
    struct rowset rows = {0};
    theirs = write_query(query, false);
    if (!ask_sqlite(sqlite, &expected))
        return DIFFERENT;
    for (uint32_t o = 0; o < query->group_count + query->aggregate_count; o++)
        types[o] = output_of(query, o);
    const enum status status = answer(engine, database, query, codec, &rows, &error);
    return judge(status, &error, types, &rows, expected);
}

#endif
