/*
 * fuzz_tree.h: random statements that are trees of joins, subqueries, sets, groups and windows over the tables of
 * test_tree_fuzz.c, as one text for both engines: where SQLite has not what ours has (LATERAL, ALL and ANY, EXCEPT ALL),
 * it has both (fuzz_tape.h). All texts are gone with the next statement.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_TREE_H
#define TESSERA_TESTS_FUZZ_FUZZ_TREE_H

#include "tests/fuzz/fuzz_forms.h"

static const char *tree_expression(const struct tree_scope *scope, enum tree_type type, uint32_t depth);
static const char *tree_condition(const struct tree_scope *scope, uint32_t depth);
static const char *tree_query(const struct tree_scope *outer, uint32_t depth, const enum tree_type *types,
                              uint32_t count);

static const char *table_name(void)
{
    const uint32_t percent = choose(tree_is_crossed ? 50 : 100);
    return tree_tables[percent < 36   ? 0
                       : percent < 43 ? 1
                       : percent < 50 ? 2
                       : percent < 68 ? 3
                       : percent < 86 ? 4
                                      : 5];
}

/* ---- Expressions ---- */

static const char *aggregate(const struct tree_scope *scope, enum tree_type type, uint32_t depth)
{
    const char *call;
    const uint32_t kind = choose(9);
    struct tree_scope inner = *scope;
    inner.outer = NULL; /* an aggregate of columns around it would be theirs */
    const char *const other = kind == 8 ? aggregate_form(&inner, type) : NULL;
    if (other)
        return other;
    if (type == TREE_STRING)
        call = form("%s(%s)", kind & 1 ? "max" : "min", tree_expression(&inner, type, 0));
    else if (type == TREE_DOUBLE)
        call = kind < 3 ? form("avg(%s)", tree_expression(&inner, likely(50) ? TREE_DOUBLE : TREE_INTEGER, 0))
                        : form("%s(%s)",
                               kind < 6   ? "sum"
                               : kind < 7 ? "min"
                                          : "max",
                               tree_expression(&inner, type, 0));
    else if (kind < 2)
        call = "count(*)";
    else if (kind == 2)
        call = form("count(%s)", tree_expression(&inner, any_type(), 0));
    else if (kind == 3)
        call = form("count(DISTINCT %s)", tree_expression(&inner, any_type(), 0));
    else
        call = form("%s(%s)", kind < 6 ? "sum" : kind < 7 ? "min" : "max", tree_expression(&inner, type, 0));
    if (depth && likely(8))
        call = form("%s FILTER (WHERE %s)", call, tree_condition(&inner, 0));
    return call;
}

/* Items of FROM and their scope; `text` begins with FROM. */
static const char *tree_from(struct tree_scope *scope, uint32_t depth);

/* WHERE of a subquery: mostly it names columns around it. */
static const char *correlation(const struct tree_scope *scope, uint32_t depth)
{
    static const char *const comparisons[] = {
        "=", "=", "=", "=", "=", "<", ">=", "<>", "IS NOT DISTINCT FROM"};
    const char *text = "";
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 && scope->outer && likely(i ? 20 : 75); i++) {
        const enum tree_type type = any_type();
        const char *const comparison = comparisons[choose(9)], *const own = column_in(scope, type, 0);
        text = form("%s%s%s %s %s", text, count++ ? " AND " : " WHERE ", own,
                    comparison[0] == 'I' ? either(comparison, "IS") : comparison,
                    column_in(scope->outer, type, 10));
    }
    if (likely(count ? 25 : 45))
        text = form("%s%s%s", text, count ? " AND " : " WHERE ", tree_condition(scope, depth));
    return text;
}

/* A subquery that is a value: at most one row, whatever is in the tables. */
static const char *scalar_subquery(const struct tree_scope *outer, enum tree_type type, uint32_t depth)
{
    struct tree_scope *const scope = calloc(1, sizeof *scope);
    scope->outer = outer;
    const char *const from = tree_from(scope, depth), *const where = correlation(scope, depth), *text;
    const uint32_t kind = choose(10);
    const char *const value = aggregate(scope, type, depth);
    if (kind < 4)
        text = form("(SELECT %s %s%s)", value, from, where);
    else if (kind == 4 && type != TREE_STRING)
        text = form("(SELECT %s + %s %s%s)", value, tree_expression(outer, TREE_INTEGER, 0), from, where);
    else if (kind == 5 && type == TREE_INTEGER)
        text = form("(SELECT %s * 2 - count(*) %s%s)", value, from, where);
    else if (kind == 6)
        text = form("(SELECT coalesce(%s, %s) %s%s)", value, literal(type), from, where);
    else if (kind == 7)
        text = form("(SELECT %s %s%s HAVING count(*) > %u)", value, from, where, choose(3));
    else if (kind == 8) {
        const char *const key = scope->sources[0].columns[0].text; /* an integer in all sources */
        text = form("(SELECT %s %s WHERE %s = %s GROUP BY %s)", value, from, key,
                    column_in(outer, TREE_INTEGER, 0), key);
    } else
        text = form("(SELECT %s %s%s ORDER BY 1%s LIMIT 1)", column_in(scope, type, 0), from, where,
                    likely(50) ? " DESC" : "");
    free(scope);
    return text;
}

static const char *tree_expression(const struct tree_scope *scope, enum tree_type type, uint32_t depth)
{
    const uint32_t kind = choose(23);
    if (kind < 12)
        return column_in(scope, type, 8);
    if (kind == 12)
        return literal(type);
    if (kind >= 20) {
        const char *const value = value_form(scope, type);
        return value ? value : column_in(scope, type, 8);
    }
    if (kind == 13)
        return form("coalesce(%s, %s)", column_in(scope, type, 8), tree_expression(scope, type, 0));
    if (kind == 14)
        return form("CASE WHEN %s THEN %s ELSE %s END", tree_condition(scope, depth),
                    column_in(scope, type, 8), tree_expression(scope, type, 0));
    if (kind >= 18)
        return depth ? scalar_subquery(scope, type, depth - 1) : column_in(scope, type, 8);
    if (type == TREE_STRING)
        return form("%s(%s)", kind < 17 ? "upper" : "lower", column_in(scope, type, 8));
    if (kind == 15)
        return form("(%s + %s)", column_in(scope, type, 8), tree_expression(scope, type, depth));
    if (kind == 16)
        return form("(%s - %s)", column_in(scope, type, 8), column_in(scope, type, 8));
    return type == TREE_INTEGER ? form("%s %% %u", column_in(scope, type, 8), 2 + choose(5))
                                : form("abs(%s)", column_in(scope, type, 8));
}

/* ---- Conditions ---- */

static const char *comparison(void)
{
    static const char *const all[] = {"=", "=", "<", "<=", ">", ">=", "<>"};
    return all[choose(7)];
}

/* x op ALL or ANY (q): SQLite has it of the three answers that the comparison has. */
static const char *quantified(const struct tree_scope *scope, uint32_t depth)
{
    const enum tree_type type = any_type();
    const bool all = likely(50);
    const char *const x = column_in(scope, type, 8), *const op = comparison(),
                      *const query = tree_query(scope, depth, &type, 1);
    const char *const row = form("SELECT 1 FROM (%s) AS q%u WHERE", query, tree_next_alias++);
    const char *const unknown = form("EXISTS (%s (%s %s c0) IS NULL)", row, x, op);
    const char *const theirs =
        all ? form("CASE WHEN EXISTS (%s NOT (%s %s c0)) THEN 0 WHEN %s THEN NULL ELSE 1 END", row, x, op,
                   unknown)
            : form("CASE WHEN EXISTS (%s %s %s c0) THEN 1 WHEN %s THEN NULL ELSE 0 END", row, x, op, unknown);
    return either(form("%s %s %s (%s)", x, op, all ? "ALL" : "ANY", query), theirs);
}

static const char *subquery_condition(const struct tree_scope *outer, uint32_t depth)
{
    const uint32_t kind = choose(12);
    const char *const word = likely(40) ? "NOT " : "", *text;
    const enum tree_type types[2] = {any_type(), any_type()};
    struct tree_scope *const scope = calloc(1, sizeof *scope);
    scope->outer = outer;
    if (kind < 4) {
        const char *const from = tree_from(scope, depth), *const where = correlation(scope, depth);
        text = form("%sEXISTS (SELECT %s %s%s)", word, likely(20) ? column_in(scope, TREE_INTEGER, 0) : "1",
                    from, where);
    } else if (kind < 6) {
        const char *const from = tree_from(scope, depth), *const where = correlation(scope, depth);
        text = form("%s %sIN (SELECT %s %s%s)", tree_expression(outer, types[0], 0), word,
                    tree_expression(scope, types[0], 0), from, where);
    } else if (kind == 6) {
        text = form("%s %sIN (%s)", column_in(outer, types[0], 8), word, tree_query(outer, depth, types, 1));
    } else if (kind == 7) {
        /* with an index, SQLite 3.40 gives rows of a RIGHT JOIN twice */
        const char *const plain = either("", "+");
        text = form("(%s%s, %s%s) %sIN (%s)", plain, column_in(outer, types[0], 8), plain,
                    column_in(outer, types[1], 8), word, tree_query(outer, depth, types, 2));
    } else if (kind < 11) {
        text = form("%s %s %s", tree_expression(outer, types[0], 0), comparison(),
                    scalar_subquery(outer, types[0], depth));
    } else {
        text = quantified(outer, depth);
    }
    free(scope);
    return text;
}

static const char *tree_condition(const struct tree_scope *scope, uint32_t depth)
{
    const uint32_t kind = choose(23);
    const enum tree_type type = type_in(scope);
    const char *const truth = kind >= 20 ? truth_form(scope) : NULL;
    if (truth)
        return truth;
    if (kind < 7)
        return form("%s %s %s", tree_expression(scope, type, 0), comparison(),
                    tree_expression(scope, type, 0));
    if (kind < 9)
        return form("%s %s %s", column_in(scope, type, 5), comparison(), literal(type));
    if (kind == 9)
        return form("%s IS %sNULL", column_in(scope, type, 8), likely(50) ? "NOT " : "");
    if (kind == 10)
        return form("%s BETWEEN %s AND %s", column_in(scope, type, 8), literal(type),
                    tree_expression(scope, type, 0));
    if (kind == 11)
        return form("%s %sIN (%s, %s%s)", column_in(scope, type, 8), likely(30) ? "NOT " : "", literal(type),
                    literal(type), likely(20) ? ", NULL" : "");
    if (kind == 12)
        return form("(%s OR %s)", tree_condition(scope, depth), tree_condition(scope, depth));
    if (kind == 13)
        return form("(%s AND %s)", tree_condition(scope, depth), tree_condition(scope, depth));
    if (kind == 14)
        return form("NOT (%s)", tree_condition(scope, depth));
    if (kind == 15)
        return form("%s LIKE '%s'", column_in(scope, TREE_STRING, 8), likely(50) ? "a%" : "%b");
    return depth ? subquery_condition(scope, depth - 1)
                 : form("%s = %s", column_in(scope, type, 8), column_in(scope, type, 8));
}

/* ---- FROM ---- */

static void add_column(struct tree_source *source, const char *text, enum tree_type type)
{
    source->columns[source->column_count++] = (struct tree_column){text, type};
}

static struct tree_source stored_source(void)
{
    struct tree_source source = {.number = tree_next_alias++, .stored = true};
    source.from = form("%s AS t%u", table_name(), source.number);
    for (uint32_t c = 0; c < TREE_COLUMNS; c++)
        add_column(&source, form("t%u.%s", source.number, tree_names[c]), tree_types[c]);
    source.unique = source.columns[0].text;
    return source;
}

/* A table with k, and two columns under names of its own: for NATURAL JOIN. */
static struct tree_source natural_source(void)
{
    struct tree_source source = {.number = tree_next_alias++};
    const uint32_t n = source.number, c = 3 + choose(3);
    source.from =
        form("(SELECT k, n AS n%u, %s AS v%u FROM %s) AS t%u", n, tree_names[c], n, table_name(), n);
    add_column(&source, form("t%u.k", n), TREE_INTEGER);
    add_column(&source, form("t%u.n%u", n, n), TREE_INTEGER);
    add_column(&source, form("t%u.v%u", n, n), tree_types[c]);
    source.unique = source.columns[1].text;
    return source;
}

/* SQLite 3.40 puts queries of FROM into the one around them, also beside outer joins where their values are NULL then. */
static const char *kept_apart(const char *query)
{
    return form("%s%s%s", either("", "SELECT * FROM ("), query, either("", ") LIMIT -1"));
}

static struct tree_source new_source(const struct tree_scope *outer, uint32_t depth)
{
    struct tree_source source = {.number = tree_next_alias};
    const uint32_t n = source.number, kind = choose(100);
    if (kind < 70 || (kind >= 80 && depth == 0))
        return stored_source();
    tree_next_alias++;
    if (kind < 80 && tree_cte_count) {
        const struct tree_cte *const cte = &tree_ctes[choose(tree_cte_count)];
        source.from = form("%s AS t%u", cte->name, n);
        for (uint32_t c = 0; c < cte->column_count; c++)
            add_column(&source, form("t%u.c%u", n, c), cte->types[c]);
        return source;
    }
    enum tree_type types[4];
    const uint32_t count = 1 + choose(4);
    for (uint32_t c = 0; c < count; c++) {
        types[c] = c ? any_type() : TREE_INTEGER;
        add_column(&source, form("t%u.c%u", n, c), types[c]);
    }
    source.from =
        form("(%s) AS t%u", kept_apart(tree_query(outer->outer, depth ? depth - 1 : 0, types, count)), n);
    return source;
}

/* An equality along a reference between the last item and one before it, or "" if those are no tables. */
static const char *along_reference(const struct tree_scope *left, const struct tree_source *right)
{
    const struct tree_source *const other = &left->sources[choose(left->count)];
    if (!other->stored || !right->stored)
        return "";
    const bool turned = likely(30);
    return form("%s = %s", other->columns[turned ? 0 : 2].text, right->columns[turned ? 2 : 0].text);
}

/* ON between the items of a scope from `first` on, and the last of them. */
static const char *tree_on(const struct tree_scope *scope, uint32_t first, uint32_t depth)
{
    struct tree_scope left = {0}, right = {0}, all = {.outer = scope->outer};
    const char *text = "";
    for (uint32_t s = first; s < scope->count; s++) {
        struct tree_scope *const side = s + 1 == scope->count ? &right : &left;
        side->sources[side->count++] = scope->sources[s];
        all.sources[all.count++] = scope->sources[s];
    }
    const uint32_t kind = choose(20);
    enum tree_type type = kind < 15 ? TREE_INTEGER : type_in(&left);
    type = column_or_none(&right, type, 0) ? type : TREE_INTEGER;
    const char *const a = column_in(&left, type, 0), *const b = column_in(&right, type, 0);
    if (likely(30))
        text = along_reference(&left, &right.sources[0]);
    if (!*text)
        text = form("%s %s %s", a, kind < 17 ? "=" : kind < 18 ? "<" : kind < 19 ? "<>" : "=", b);
    if (likely(20))
        text = form("%s AND %s = %s", text, column_in(&left, TREE_INTEGER, 0),
                    column_in(&right, TREE_INTEGER, 0));
    if (likely(25))
        text = form("%s AND %s", text, tree_condition(&all, likely(30) ? depth : 0));
    return text;
}

/* One item between commas: *from grows, and so does the scope. */
static const char *tree_item(struct tree_scope *scope, uint32_t depth)
{
    static const char *const words[] = {"JOIN",      "JOIN",       "JOIN",      "LEFT JOIN",
                                        "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"};
    static const char *const natural[] = {"NATURAL JOIN", "NATURAL LEFT JOIN", "NATURAL RIGHT JOIN",
                                          "NATURAL FULL JOIN"};
    const uint32_t first = scope->count;
    const bool crossed = tree_is_crossed;
    /* SQLite looks for the columns of NATURAL and USING in the items before, too. */
    if (first == 0 && likely(5)) {
        scope->sources[scope->count++] = natural_source();
        scope->sources[scope->count++] = natural_source();
        return form("%s %s %s", scope->sources[first].from, natural[choose(4)],
                    scope->sources[first + 1].from);
    }
    scope->sources[scope->count++] = new_source(scope, depth);
    const char *text = scope->sources[first].from;
    while (scope->count < TREE_SOURCES_MAX - 1 && likely(scope->count - first < 2 ? 45 : 25)) {
        const char *const word = words[choose(8)];
        tree_is_crossed |= word[0] == 'C';
        const struct tree_source right = new_source(scope, depth);
        tree_is_crossed = crossed;
        const bool both_stored = scope->count == 1 && scope->sources[first].stored && right.stored;
        scope->sources[scope->count++] = right;
        if (word[0] == 'C')
            text = form("%s CROSS JOIN %s", text, right.from);
        else if (both_stored && likely(20))
            text = form("%s %s %s USING (%s)", text, word, right.from,
                        likely(30) ? "a, s" : tree_names[choose(3)]);
        else
            text = form("%s %s %s ON %s", text, word, right.from, tree_on(scope, first, depth));
    }
    return text;
}

/* A lateral aggregate, which is a subquery that is a value in SQLite, or a lateral selection, which is a join. */
static const char *lateral(struct tree_scope *scope, const char *from)
{
    struct tree_scope *const inner = calloc(1, sizeof *inner), *const beside = calloc(1, sizeof *beside);
    const struct tree_source table = stored_source();
    struct tree_source made = {.number = tree_next_alias++, .unique = ""};
    inner->sources[inner->count++] = table;
    *beside = *scope; /* an aggregate of it is this query's */
    beside->outer = NULL;
    inner->outer = beside;
    const char *const where = correlation(inner, 0);
    free(beside);
    const char *text;
    if (likely(50)) {
        const enum tree_type type = any_type();
        const char *const value = aggregate(inner, type, 0), *const query = form("SELECT %s AS c0 FROM %s%s",
                                                                                 value, table.from, where);
        add_column(&made, either(form("t%u.c0", made.number), form("(%s)", query)), type);
        text = form("%s%s", from, either(form(" CROSS JOIN LATERAL (%s) AS t%u", query, made.number), ""));
    } else {
        const char *const word = likely(50) ? "LEFT JOIN" : "JOIN", *list = "";
        for (uint32_t c = 0; c < table.column_count; c++) {
            list = form("%s%s%s AS c%u", list, c ? ", " : "", table.columns[c].text, c);
            add_column(&made, either(form("t%u.c%u", made.number, c), table.columns[c].text),
                       table.columns[c].type);
        }
        made.unique = made.columns[0].text;
        text = form(
            "%s %s %s", from, word,
            either(form("LATERAL (SELECT %s FROM %s%s) AS t%u ON true", list, table.from, where, made.number),
                   form("%s ON %s", table.from, *where ? where + strlen(" WHERE ") : "true")));
    }
    scope->sources[scope->count++] = made;
    free(inner);
    return text;
}

static const char *tree_from(struct tree_scope *scope, uint32_t depth)
{
    const bool crossed = tree_is_crossed;
    const char *text = tree_item(scope, depth);
    bool outer = strstr(text, "RIGHT") || strstr(text, "FULL");
    while (scope->count < TREE_SOURCES_MAX - 1 && likely(outer ? 4 : 12)) {
        const uint32_t before = scope->count;
        tree_is_crossed = true;
        const char *const item = tree_item(scope, depth);
        tree_is_crossed = crossed;
        const bool outer_item = strstr(item, "RIGHT") || strstr(item, "FULL");
        text =
            form(scope->count > before + 1 && (outer_item || likely(20)) ? "%s, (%s)" : "%s, %s", text, item);
        outer |= outer_item;
    }
    /* Names that SQLite's RIGHT JOIN of several items sees are not those of the standard. */
    if (!outer && scope->count < TREE_SOURCES_MAX && !strchr(text, ',') && likely(6))
        text = lateral(scope, text);
    return form("FROM %s", text);
}

/* ---- SELECT ---- */

static const char *window_call(const struct tree_scope *scope, enum tree_type type)
{
    static const char *const frames[] = {"",
                                         " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                                         " ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING",
                                         " ROWS UNBOUNDED PRECEDING",
                                         " GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                                         " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                                         " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW"};
    static const char *const ranks[] = {"rank()", "dense_rank()", "row_number()", "ntile(3)"};
    static const char *const ranges[] = {" RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING",
                                         " RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING",
                                         " RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
                                         " GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE GROUP"};
    const char *order = "", *range = "", *function;
    bool total = true;
    for (uint32_t s = 0; s < scope->count; s++)
        total &= scope->sources[s].unique != NULL;
    for (uint32_t s = 0; total && s < scope->count; s++)
        if (*scope->sources[s].unique)
            order = form("%s%s%s%s", order, *order ? ", " : " ORDER BY ", scope->sources[s].unique,
                         likely(20) ? " DESC" : "");
    if (!total || likely(30)) {
        total = false;
        const enum tree_type by = any_type();
        order = likely(70) ? form(" ORDER BY %s%s", column_in(scope, by, 0), likely(30) ? " DESC" : "") : "";
        if (*order && by != TREE_STRING && likely(40))
            range = ranges[choose(4)];
    }
    const char *const partition = likely(50) ? form("PARTITION BY %s", column_in(scope, any_type(), 0)) : "";
    const char *frame = total ? frames[choose(7)] : range;
    const uint32_t kind = choose(8);
    const char *const x = column_in(scope, type, 0);
    if (type == TREE_INTEGER && kind < 2)
        function = *order ? (frame = "", ranks[choose(total ? 4 : 2)]) : "count(*)";
    else if (total && kind == 2)
        frame = "", function = form("%s(%s, %u)", likely(50) ? "lag" : "lead", x, 1 + choose(3));
    else if (total && kind == 3)
        function = form("%s(%s)", likely(50) ? "first_value" : "last_value", x);
    else if (type == TREE_STRING || kind == 4)
        /* of a frame that leaves many equal rows behind, SQLite 3.40 forgets extremes */
        frame = *range && scope->count > 1 && !tree_is_logic ? "" : frame,
        function = form("%s(%s)", likely(50) ? "min" : "max", x);
    else if (type == TREE_DOUBLE)
        function = form("%s(%s)", likely(50) ? "avg" : "sum", x);
    else
        function = form("%s(%s)", likely(50) ? "count" : "sum", x);
    return form("%s OVER (%s%s%s)", function, partition, order, frame);
}

static const char *grouped_select(struct tree_scope *scope, const char *from, const char *where,
                                  uint32_t depth, const enum tree_type *types, uint32_t count)
{
    struct tree_scope *const groups = calloc(1, sizeof *groups); /* its columns are the group keys */
    struct tree_source *const keys = &groups->sources[0];
    const uint32_t key_count = choose(4);
    const char *list = "", *by = "", *having = "";
    groups->outer = scope->outer;
    groups->count = 1;
    for (uint32_t i = 0; i < key_count; i++) {
        const enum tree_type type = i < count ? types[i] : any_type();
        const char *const key = column_or_none(scope, type, 0);
        if (!key)
            break;
        add_column(keys, key, type);
        by = form("%s%s%s", by, i ? ", " : " GROUP BY ", key);
    }
    for (uint32_t c = 0; c < count; c++) {
        const char *value = aggregate(scope, types[c], depth);
        if (c < keys->column_count && keys->columns[c].type == types[c] && likely(60))
            value = keys->columns[c].text;
        else if (types[c] == TREE_INTEGER && likely(10))
            value = form("%s + %s", value, aggregate(scope, TREE_INTEGER, depth));
        else if (depth && keys->column_count && likely(12))
            value = scalar_subquery(groups, types[c], depth - 1);
        list = form("%s%s%s AS c%u", list, c ? ", " : "", value, c);
    }
    if (likely(30)) {
        const enum tree_type type = any_type();
        having = form(" HAVING %s %s %s", aggregate(scope, type, depth), comparison(),
                      depth && keys->column_count && likely(40) ? scalar_subquery(groups, type, depth - 1)
                                                                : literal(type));
    } else if (depth && keys->column_count && likely(10)) {
        having = form(" HAVING %s", subquery_condition(groups, depth - 1));
    }
    free(groups);
    return form("SELECT %s %s%s%s%s", list, from, where, by, having);
}

static const char *tree_select(const struct tree_scope *outer, uint32_t depth, const enum tree_type *types,
                               uint32_t count)
{
    struct tree_scope *const scope = calloc(1, sizeof *scope);
    const char *text, *list = "";
    scope->outer = outer;
    const char *const from = tree_from(scope, depth);
    const char *const where = outer ? correlation(scope, depth)
                              : likely(70)
                                  ? form(" WHERE %s%s", tree_condition(scope, depth),
                                         likely(30) ? form(" AND %s", tree_condition(scope, depth)) : "")
                                  : "";
    if (likely(30)) {
        text = grouped_select(scope, from, where, depth, types, count);
    } else {
        const bool windows = likely(outer ? 6 : 20);
        for (uint32_t c = 0; c < count; c++)
            list = form("%s%s%s AS c%u", list, c ? ", " : "",
                        windows && likely(50) ? window_call(scope, types[c])
                                              : tree_expression(scope, types[c], depth),
                        c);
        text = form("SELECT %s%s %s%s", likely(20) ? "DISTINCT " : "", list, from, where);
    }
    free(scope);
    return text;
}

/* A and B as EXCEPT ALL or INTERSECT ALL: SQLite numbers the rows that are alike. */
static const char *set_of_all(const char *a, const char *b, const char *word, uint32_t count)
{
    const char *list = "";
    for (uint32_t c = 0; c < count; c++)
        list = form("%s%sc%u", list, c ? ", " : "", c);
    const char *const numbered = form("%s, row_number() OVER (PARTITION BY %s) AS number", list, list);
    return either(form("SELECT * FROM ((%s) %s ALL (%s)) AS q%u", a, word, b, tree_next_alias++),
                  form("SELECT %s FROM (SELECT %s FROM (%s) %s SELECT %s FROM (%s))", list, numbered, a, word,
                       numbered, b));
}

static const char *tree_set(const struct tree_scope *outer, uint32_t depth, const enum tree_type *types,
                            uint32_t count)
{
    static const char *const sets[] = {"UNION ALL", "UNION", "EXCEPT", "INTERSECT"};
    const char *const first = tree_select(outer, depth, types, count);
    if (!likely(12))
        return first;
    const char *const second = tree_select(outer, depth ? depth - 1 : 0, types, count);
    const uint32_t kind = choose(6);
    if (kind ==
        0) /* SQLite 3.40 loses WHERE of one part when the other has RIGHT or FULL JOIN, unless it answers both first */
        return form("%s%s UNION ALL %s%s", either("", "SELECT * FROM ("), kept_apart(first),
                    kept_apart(second), either("", " LIMIT -1)"));
    return kind < 4 ? form("%s %s %s", first, sets[kind], second)
                    : set_of_all(first, second, kind == 4 ? "EXCEPT" : "INTERSECT", count);
}

/* An order of all columns: rows that tie are alike. */

static const char *tree_order(uint32_t count, bool limited)
{
    static const char *const directions[] = {"", "", " DESC", " NULLS LAST", " DESC NULLS FIRST"};
    const char *text = "";
    for (uint32_t c = 0; c < count; c++)
        text = form("%s%s%u%s", text, c ? ", " : " ORDER BY ", c + 1, directions[choose(5)]);
    if (limited && likely(60))
        text = form("%s LIMIT %u", text, choose(40));
    return limited && strstr(text, "LIMIT") && likely(30) ? form("%s OFFSET %u", text, choose(10)) : text;
}

/* A query within another one; it may be the first rows of an order. */
static const char *tree_query(const struct tree_scope *outer, uint32_t depth, const enum tree_type *types,
                              uint32_t count)
{
    const char *const query = tree_set(outer, depth, types, count);
    return likely(8) ? form("%s%s LIMIT %u", query, tree_order(count, false), 1 + choose(5)) : query;
}

/* ---- Statements ---- */

/* A query that names itself, over numbers of two columns of a table that others lead to. */
static const char *recursive_query(const struct tree_cte *cte)
{
    const struct tree_scope scope = {.sources = {stored_source()}, .count = 1};
    const struct tree_source *const next = &scope.sources[0];
    const char *const text = form(
        "SELECT n AS c0, k AS c1 FROM %s WHERE n < %u UNION SELECT %s, %s FROM %s JOIN %s ON %s = %s.c%u%s",
        table_name(), 1 + choose(20), next->columns[choose(3)].text, next->columns[choose(3)].text,
        next->from, cte->name, next->columns[choose(3)].text, cte->name, choose(2),
        likely(40) ? form(" WHERE %s", tree_condition(&scope, 0)) : "");
    return text;
}

/* Of new choices, or, with `length`, of those of the tape. */
static void tree_begin(uint32_t length)
{
    tape_text_used = tree_cte_count = tree_next_alias = tape_at = 0;
    tree_is_crossed = tree_is_logic = false;
    tape_length = length;
    tape_is_read = length != 0;
}

/* Makes a statement of new choices, or, with `length`, of those of the tape. */
static const char *tree_statement(uint32_t length)
{
    const char *with = "", *order = "";
    enum tree_type types[TREE_COLUMNS];
    tree_begin(length);
    while (tree_cte_count < TREE_CTES_MAX && likely(20)) {
        struct tree_cte *const cte = &tree_ctes[tree_cte_count];
        const bool recursive = likely(10);
        const uint32_t count = recursive ? 2 : 1 + choose(4);
        for (uint32_t c = 0; c < count; c++)
            cte->types[c] = c && !recursive ? any_type() : TREE_INTEGER;
        cte->name = form("w%u", tree_cte_count);
        cte->column_count = count;
        with = form("%s%s %s AS (%s)", with, tree_cte_count ? "," : "WITH RECURSIVE", cte->name,
                    recursive ? recursive_query(cte)
                              : kept_apart(tree_query(NULL, 1 + choose(2), cte->types, count)));
        tree_cte_count++;
    }
    const uint32_t count = 1 + choose(5);
    for (uint32_t c = 0; c < count; c++)
        types[c] = any_type();
    const char *const query = tree_set(NULL, choose(TREE_DEPTH + 1), types, count);
    if (likely(40))
        order = tree_order(count, true);
    tape_length = tape_at;
    /* Rows that tie are alike, as the order is that of all columns; SQLite's text of a set is a SELECT. */
    const bool wrapped = *order && strstr(query, " ALL (");
    return form("%s%s%s%s", with, *with ? " " : "",
                wrapped ? form("SELECT * FROM (%s) AS q%u", query, tree_next_alias) : query, order);
}

#endif
