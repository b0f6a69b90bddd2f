/* test_sql_parse.c: what is a statement, how its parts bind, and every refusal of the parser, by name and place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A tree as text: (operation child ...) ---- */

static void write_tree(const struct sql_expression *node, FILE *out)
{
    static const char *const names[] = {[SQL_NEGATE] = "neg",
                                        [SQL_NOT] = "not",
                                        [SQL_ADD] = "+",
                                        [SQL_SUBTRACT] = "-",
                                        [SQL_MULTIPLY] = "*",
                                        [SQL_DIVIDE] = "/",
                                        [SQL_REMAINDER] = "%",
                                        [SQL_EQUAL] = "=",
                                        [SQL_NOT_EQUAL] = "<>",
                                        [SQL_LESS] = "<",
                                        [SQL_LESS_EQUAL] = "<=",
                                        [SQL_GREATER] = ">",
                                        [SQL_GREATER_EQUAL] = ">=",
                                        [SQL_AND] = "and",
                                        [SQL_OR] = "or",
                                        [SQL_BETWEEN] = "between",
                                        [SQL_IN] = "in",
                                        [SQL_LIKE] = "like",
                                        [SQL_IS_NULL] = "null?",
                                        [SQL_CASE] = "case",
                                        [SQL_EXTRACT] = "extract",
                                        [SQL_CAST] = "cast",
                                        [SQL_FUNCTION] = "call",
                                        [SQL_MATCHES] = "~",
                                        [SQL_IS_TRUTH] = "truth",
                                        [SQL_IS_DISTINCT] = "distinct",
                                        [SQL_CONCAT] = "||"};
    switch (node->operation) {
    case SQL_NULL:
        fputs("NULL", out);
        return;
    case SQL_TRUE:
        fputs("TRUE", out);
        return;
    case SQL_FALSE:
        fputs("FALSE", out);
        return;
    case SQL_NUMBER:
        fputs(node->text, out);
        return;
    case SQL_STRING:
        fprintf(out, "'%s'", node->text);
        return;
    case SQL_DATE:
        fprintf(out, "d'%s'", node->text);
        return;
    case SQL_TIMESTAMP:
        fprintf(out, "t'%s'", node->text);
        return;
    case SQL_INTERVAL:
        fprintf(out, "i'%s' %s", node->text, node->name);
        return;
    case SQL_PARAMETER:
        fprintf(out, "?%u", node->index);
        return;
    case SQL_COLUMN:
        fprintf(out, "%s%s%s", node->qualifier ? node->qualifier : "", node->qualifier ? "." : "",
                node->name);
        return;
    case SQL_STAR:
        fprintf(out, "%s%s*", node->qualifier ? node->qualifier : "", node->qualifier ? "." : "");
        return;
    default:
        break;
    }
    fprintf(out, "(%s%s", node->negated ? "not-" : "", names[node->operation]);
    if (node->name)
        fprintf(out, " %s%s", node->name, node->distinct ? " distinct" : "");
    for (uint32_t c = 0; c < node->child_count; c++) {
        fputc(' ', out);
        write_tree(node->children[c], out);
    }
    fputc(')', out);
}

static struct sql_statement_tree *parse(const char *text)
{
    struct sql_statement_tree *tree;
    struct error error = {0};
    size_t used;
    if (sql_parse(text, strlen(text), &tree, &used, &error) != STATUS_OK)
        fail_msg("%s: %s", text, error.text);
    return tree;
}

static void expression_is(const char *text, const char *expected)
{
    char statement[1024], *written;
    size_t bytes;
    snprintf(statement, sizeof statement, "select %s from t", text);
    struct sql_statement_tree *tree = parse(statement);
    FILE *out = open_memstream(&written, &bytes);
    write_tree(sql_tree_select(tree)->items[0].expression, out);
    fclose(out);
    assert_string_equal(written, expected);
    free(written);
    sql_tree_free(tree);
}

static void refused(const char *text, const char *sentence)
{
    struct sql_statement_tree *tree;
    struct error error = {0};
    size_t used;
    const enum status status = sql_parse(text, strlen(text), &tree, &used, &error);
    if (status != STATUS_BAD_INPUT || tree || strncmp(error.text, sentence, strlen(sentence)) != 0)
        fail_msg("status %d, %s: %.200s", (int)status, error.text, text);
}

/* ---- Expressions ---- */

static void operators_bind_as_in_sqlite(void **state)
{
    (void)state;
    expression_is("1 + 2 * 3 - 4 % 5", "(- (+ 1 (* 2 3)) (% 4 5))");
    expression_is("8 / 4 / 2", "(/ (/ 8 4) 2)");
    expression_is("(1 + 2) * -x", "(* (+ 1 2) (neg x))");
    expression_is("- - x", "x");
    expression_is("+ - + x", "(neg x)");
    expression_is("a or b and not c = d + 1", "(or a (and b (not (= c (+ d 1)))))");
    expression_is("not not a", "a");
    expression_is("not a between b and c and d", "(and (not (between a b c)) d)");
    expression_is("a and b and c or d or e", "(or (and a b c) d e)");
    expression_is("a < b = c", "(= (< a b) c)");
    expression_is("a == b", "(= a b)");
    expression_is("a != b", "(<> a b)");
    expression_is("a >= b", "(>= a b)");
}

static void tests_of_values(void **state)
{
    (void)state;
    expression_is("a not between 1 and 2 + 3", "(not-between a 1 (+ 2 3))");
    expression_is("a in (1, 'b', null)", "(in a 1 'b' NULL)");
    expression_is("a not in (1)", "(not-in a 1)");
    expression_is("a like 'x!%' escape '!'", "(like a 'x!%' '!')");
    expression_is("a not like 'x'", "(not-like a 'x')");
    expression_is("a is null", "(null? a)");
    expression_is("a is not null", "(not-null? a)");
    expression_is("a = b is null", "(null? (= a b))");
}

static void literals_and_names(void **state)
{
    (void)state;
    expression_is("12.50", "12.50");
    expression_is("1e3", "1e3");
    expression_is(".5", ".5");
    expression_is("'it''s'", "'it's'");
    expression_is("''", "''");
    expression_is("DATE '1994-01-31'", "d'1994-01-31'");
    expression_is("timestamp '1994-01-31 23:59:59'", "t'1994-01-31 23:59:59'");
    expression_is("interval '3' months", "i'3' month");
    expression_is("TRUE = False", "(= TRUE FALSE)");
    expression_is("date", "date"); /* SSB has a table of that name */
    expression_is("date.date", "date.date");
    expression_is("\"a \"\"b\"\"\".\"select\"", "a \"b\".select");
    expression_is("[a b]", "a b");
    expression_is("`a b`", "a b");
    expression_is("t.*", "t.*");
    expression_is("? + ?", "(+ ?0 ?1)");
}

static void calls(void **state)
{
    (void)state;
    expression_is("COUNT(*)", "(call count *)");
    expression_is("count(distinct a)", "(call count distinct a)");
    expression_is("f()", "(call f)");
    expression_is("Coalesce(a, b + 1, 2)", "(call coalesce a (+ b 1) 2)");
    expression_is("extract(YEAR from d)", "(extract year d)");
    expression_is("cast(a + 1 as bigint)", "(cast bigint (+ a 1))");
    expression_is("-a::double precision + b::decimal(4,1)::text",
                  "(+ (neg (cast double precision a)) (cast text (cast decimal b)))");
    expression_is("a || b + 1 || c = d", "(= (|| (|| a (+ b 1)) c) d)");
    expression_is("a is not distinct from b + 1 and c is true", "(and (not-distinct a (+ b 1)) (truth c))");
    expression_is("a ~ 'x' or b !~* 'y' or c not ilike 'z'", "(or (~ a 'x') (not-~ b 'y') (not-like c 'z'))");
    expression_is("position('a' in b || c)", "(call position 'a' (|| b c))");
    expression_is("trim(leading 'x' from a) || substring(a from 2 for 3) || left(a, 1)",
                  "(|| (|| (call ltrim a 'x') (call substring a 2 3)) (call left a 1))");
    expression_is("case when a then 1 when b then 2 else 3 end", "(case a 1 b 2 3)");
    expression_is("case a when 1 then 'x' end", "(case a 1 'x')");
    expression_is("\"count\"", "count"); /* quoted: a name */
}

/* ---- Clauses ---- */

static void clauses_are_taken_apart(void **state)
{
    (void)state;
    struct sql_statement_tree *tree = parse(
        "select a, b + 1 as \"the b\", sum(c) s from f, d as e join g on f.x = g.y left outer join h i on "
        "i.k = f.z and i.n = 2 where a > 1 group by a, 2 having sum(c) > 0 "
        "order by s desc, a asc nulls last, 2 nulls first limit 10 offset 5;");
    const struct sql_select *select = sql_tree_select(tree);
    assert_int_equal(select->explain, SQL_EXPLAIN_NONE);
    assert_false(select->distinct);
    assert_int_equal(select->item_count, 3);
    assert_null(select->items[0].alias);
    assert_string_equal(select->items[1].alias, "the b");
    assert_string_equal(select->items[1].text, "b + 1");
    assert_string_equal(select->items[2].alias, "s");
    assert_int_equal(select->source_count, 4);
    assert_string_equal(select->sources[1].table, "d");
    assert_string_equal(select->sources[1].alias, "e");
    assert_int_equal(select->sources[1].join, SQL_JOIN_NONE);
    assert_int_equal(select->sources[2].join, SQL_JOIN_INNER);
    assert_int_equal(select->sources[3].join, SQL_JOIN_LEFT);
    assert_int_equal(select->sources[3].on->operation, SQL_AND);
    assert_int_equal(select->sources[3].position.line, 1);
    assert_int_equal(select->group_count, 2);
    assert_non_null(select->having);
    assert_int_equal(select->order_count, 3);
    assert_true(select->orders[0].descending && !select->orders[0].nulls_first);
    assert_true(!select->orders[1].descending && !select->orders[1].nulls_first);
    assert_true(select->orders[2].nulls_first);
    assert_string_equal(select->limit->text, "10");
    assert_string_equal(select->offset->text, "5");
    sql_tree_free(tree);
}

static void limit_has_sqlites_forms(void **state)
{
    (void)state;
    struct sql_statement_tree *tree = parse("select a from t limit 5, 10");
    assert_string_equal(sql_tree_select(tree)->limit->text, "10");
    assert_string_equal(sql_tree_select(tree)->offset->text, "5");
    sql_tree_free(tree);
    tree = parse("select a from t where b = ? limit ? offset ?");
    assert_int_equal(sql_tree_select(tree)->parameter_count, 3);
    assert_int_equal(sql_tree_select(tree)->limit->index, 1);
    assert_int_equal(sql_tree_select(tree)->offset->index, 2);
    sql_tree_free(tree);
    refused("select a from t limit 1 + a", "line 1, column 25: LIMIT and OFFSET take whole numbers from 0");
    refused("select a from t limit count(*)",
            "line 1, column 23: LIMIT and OFFSET take whole numbers from 0");
}

static void explain_and_distinct(void **state)
{
    (void)state;
    struct sql_statement_tree *tree = parse("explain select distinct a from t");
    assert_int_equal(sql_tree_select(tree)->explain, SQL_EXPLAIN);
    assert_true(sql_tree_select(tree)->distinct);
    sql_tree_free(tree);
    tree = parse("EXPLAIN ANALYZE select all a from t");
    assert_int_equal(sql_tree_select(tree)->explain, SQL_EXPLAIN_ANALYZE);
    assert_false(sql_tree_select(tree)->distinct);
    sql_tree_free(tree);
}

static void comments_are_spaces(void **state)
{
    (void)state;
    struct sql_statement_tree *tree = parse("-- one\nselect/**/a -- two; \n, /* ; ' */ b from t -- end");
    assert_int_equal(sql_tree_select(tree)->item_count, 2);
    assert_int_equal(sql_tree_select(tree)->items[1].expression->position.line, 3);
    assert_int_equal(sql_tree_select(tree)->items[1].expression->position.column, 13);
    sql_tree_free(tree);
}

static void statements_are_taken_one_by_one(void **state)
{
    (void)state;
    static const char text[] = " ;; select a from t; select b from t";
    struct sql_statement_tree *tree;
    size_t used;
    assert_int_equal(sql_parse(text, strlen(text), &tree, &used, NULL), STATUS_OK);
    assert_int_equal(used, strlen(" ;; select a from t;"));
    sql_tree_free(tree);
    assert_int_equal(sql_parse(" -- nothing\n;", 13, &tree, &used, NULL), STATUS_OK);
    assert_null(tree);
    assert_int_equal(used, 13);
}

static void a_prompt_knows_when_a_statement_is_whole(void **state)
{
    (void)state;
    static const char *const whole[] = {"select 1;", ";", "select 1; select", "';' ;", "-- x\n;"};
    static const char *const not_yet[] = {"", "select 1", "';", "\";", "-- ;", "/* ; */", "/* ;", "[;"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_true(sql_complete(whole[i], strlen(whole[i])));
    for (size_t i = 0; i < sizeof not_yet / sizeof *not_yet; i++)
        assert_false(sql_complete(not_yet[i], strlen(not_yet[i])));
}

/* ---- Refusals ---- */

static void what_is_not_sql_is_refused_where_it_stands(void **state)
{
    (void)state;
    refused("select", "line 1, column 7: the statement ends where a value should stand");
    refused("select a,\n  from t", "line 2, column 3: 'from' stands where a value should");
    refused("select a from", "line 1, column 14: the statement ends where a table's name should stand");
    refused("select a from 1", "line 1, column 15: '1' stands where a table's name should");
    refused("select (a from t", "line 1, column 11: 'from' stands where ) should to close the parenthesis");
    refused("select a b c from t", "line 1, column 12: 'c' is not expected here");
    refused("select a from t where", "line 1, column 22: the statement ends where a value should stand");
    refused("select a from t group a", "line 1, column 23: 'a' stands where BY should behind GROUP");
    refused("select a from t order a", "line 1, column 23: 'a' stands where BY should behind ORDER");
    refused("select a from t order by a nulls", "line 1, column 33: the statement ends where LAST should");
    refused("select a from t left t2", "line 1, column 22: 't2' stands where JOIN should behind CROSS");
    refused("select case a end from t", "line 1, column 15: 'end' stands where WHEN should in CASE");
    refused("select case when a then b from t", "line 1, column 27: 'from' stands where END should");
    refused("select a between 1 or 2 from t", "line 1, column 20: 'or' stands where AND should in BETWEEN");
    refused("select a in 5 from t", "line 1, column 13: '5' stands where ( should behind IN");
    refused("select a not 5 from t",
            "line 1, column 14: NOT stands here before BETWEEN, IN, LIKE, ILIKE and NULL only");
    refused("select a is 5 from t", "line 1, column 13: IS [NOT] stands before NULL");
    refused("select extract(year d) from t", "line 1, column 21: 'd' stands where FROM should");
    refused("select cast(a int) from t", "line 1, column 15: 'int' stands where AS should");
    refused("select interval '3' from t", "line 1, column 21: INTERVAL");
    refused("select 'a from t", "line 1, column 8: ");
    refused("select \"a from t", "line 1, column 8: ");
    refused("select a /* from t", "line 1, column 10: ");
    refused("select a # b from t", "line 1, column 10: ");
    refused("hello", "line 1, column 1: no statement begins with 'hello'; queries begin with SELECT, WITH");
    refused("explain explain select a", "line 1, column 9: no statement begins with 'explain'");
}

static void what_is_not_supported_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const statements[] = {"INSERT", "UPDATE", "DELETE", "CREATE", "DROP",
                                             "ALTER",  "COPY",   "BEGIN",  "COMMIT", "PRAGMA",
                                             "ATTACH", "VACUUM", "REPLACE"};
    char text[64], sentence[64];
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        snprintf(text, sizeof text, "\n %s something", statements[i]);
        snprintf(sentence, sizeof sentence, "line 2, column 2: %s is no query; a query begins with",
                 statements[i]);
        refused(text, sentence);
    }
    refused("select a from t natural join u on t.a = u.a",
            "line 1, column 32: NATURAL JOIN has no ON and no");
    refused("select upper(a) filter (where b) from t",
            "line 1, column 17: FILTER stands after aggregates only");
    refused("select sum(a) over (rows between current row and 1 preceding) from t",
            "line 1, column 61: the frame ends before it begins");
    static const char *const operators[] = {"GLOB", "MATCH", "COLLATE"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        snprintf(text, sizeof text, "select a from t where b %s c", operators[i]);
        snprintf(sentence, sizeof sentence, "line 1, column 25: %s is not supported", operators[i]);
        refused(text, sentence);
    }
}

/* `count` times `part` between the two ends. */
static char *repeated(const char *begin, const char *part, unsigned count, const char *end)
{
    char *text = malloc(strlen(begin) + count * strlen(part) + strlen(end) + 1);
    assert_non_null(text);
    strcpy(text, begin);
    char *at = text + strlen(begin);
    for (unsigned i = 0; i < count; i++, at += strlen(part))
        strcpy(at, part);
    strcpy(at, end);
    return text;
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char *text = repeated("select ", "(", 100000, "");
    refused(text, "line 1, column 208: expressions are nested more than 200 deep");
    free(text);
    text = repeated("select a", " + a", 201, " from t");
    refused(text, "line 1, column 810: more than 200 operators follow each other; use parentheses");
    free(text);
    text = repeated("select a", " = a", 100000, " from t");
    refused(text, "line 1, column ");
    free(text);
    text = repeated("select ", "case when a then ", 100000, "");
    refused(text, "line 1, column ");
    free(text);
    text = repeated("select ", "not ", 100000, "a from t"); /* no depth, only odd */
    sql_tree_free(parse(text));
    free(text);
    text = repeated("select a from t where a = 1", " or a = 1", 100000, ""); /* one node, however many */
    struct sql_statement_tree *tree = parse(text);
    assert_int_equal(sql_tree_select(tree)->where->child_count, 100001);
    sql_tree_free(tree);
    free(text);
}

static void bytes_that_are_no_text(void **state)
{
    (void)state;
    struct sql_statement_tree *tree;
    struct error error = {0};
    size_t used;
    assert_int_equal(sql_parse("select 'a\0b' from t", 19, &tree, &used, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "zero byte"));
    expression_is("'\xff\xfe'", "'\xff\xfe'"); /* what a string holds is nobody's business here */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_in_sqlite),
        cmocka_unit_test(tests_of_values),
        cmocka_unit_test(literals_and_names),
        cmocka_unit_test(calls),
        cmocka_unit_test(clauses_are_taken_apart),
        cmocka_unit_test(limit_has_sqlites_forms),
        cmocka_unit_test(explain_and_distinct),
        cmocka_unit_test(comments_are_spaces),
        cmocka_unit_test(statements_are_taken_one_by_one),
        cmocka_unit_test(a_prompt_knows_when_a_statement_is_whole),
        cmocka_unit_test(what_is_not_sql_is_refused_where_it_stands),
        cmocka_unit_test(what_is_not_supported_is_refused_by_name),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(bytes_that_are_no_text),
    };
    return cmocka_run_group_tests_name("sql_parse", tests, NULL, NULL);
}
