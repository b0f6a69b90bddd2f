/* test_function_strings.c: functions of strings over a star of five sales (sql_star.h), with the answers of DuckDB. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void strings_are_put_together(void **state)
{
    (void)state;
    answers("select shop || '-' || note from sales order by day, shop",
            "\nA-plain\nA-100%\nB-Mixed\nB-a_b\n");
    answers("select concat(shop, '-', note, pieces) from sales order by day, shop",
            "C--2\nA-plain3\nA-100%1\nB-Mixed\nB-a_b10\n");
    answers("select 'a' || 1 || 2.50 || date '2024-01-31' || true || null, 'a' || 1.5, 1 || 2 from regions "
            "limit 1",
            ",a1.5,12\n");
    answers("select shop || pieces as t, count(*) from sales group by t order by t",
            ",1\nA1,1\nA3,1\nB10,1\nC-2,1\n");
    answers(
        "select lpad(note, 7, '*'), rpad(note, 3, 'xy'), repeat(shop, 3), reverse(note) from sales order by "
        "day, shop",
        ",,CCC,\n**plain,pla,AAA,nialp\n***100%,100,AAA,%001\n**Mixed,Mix,BBB,dexiM\n****a_b,a_b,BBB,b_a\n");
}

static void parts_of_strings(void **state)
{
    (void)state;
    answers("select left(note, 2), right(note, 2), left(note, -1), right(note, -1), left(note, 0) from sales "
            "order by day, shop",
            ",,,,\npl,in,plai,lain,\"\"\n10,0%,100,00%,\"\"\nMi,ed,Mixe,ixed,\"\"\na_,_b,a_,_b,\"\"\n");
    answers("select split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b,c', ',', 4), "
            "split_part('abc', ',', 1) from regions limit 1",
            "b,c,\"\",abc\n");
    answers("select substring(note from 2 for 2), substr(note, 3), trim(both 'p' from note), ltrim(note, "
            "'pl'), rtrim('x  ') from sales where online order by day",
            "la,ain,lain,ain,x\nix,xed,Mixed,Mixed,x\n_b,b,a_b,a_b,x\n");
    answers("select replace(note, 'i', '__'), replace(note, '', 'x'), replace('aaa', 'aa', 'b') from sales "
            "where note > 'a' order by 1",
            "a_b,a_b,ba\npla__n,plain,ba\n");
    answers("select position('a' in note), strpos(note, '%'), instr(note, ''), position('ö' in 'größe') from "
            "sales order by day, shop",
            ",,,3\n3,0,1,3\n0,4,1,3\n0,0,1,3\n1,0,1,3\n");
}

static void tests_of_strings(void **state)
{
    (void)state;
    answers("select starts_with(note, 'p'), contains(note, 'a'), ends_with(note, note), count(*) from sales "
            "group by 1, 2, 3 order by 1, 2",
            ",,,1\nfalse,false,true,2\nfalse,true,true,1\ntrue,true,true,1\n");
    answers("select note from sales where contains(note, lower(shop)) order by 1", "a_b\nplain\n");
    answers("select count(*) from sales where starts_with(note, 'M') or ends_with(note, 'n')", "2\n");
}

static void letters_of_all_scripts_have_upper_case(void **state)
{
    (void)state;
    answers("select lower('İst'), upper('ᾳ ᾀ'), 'İst' ilike 'IST', 'İst' ilike '_st' from regions limit 1",
            "ist,ᾼ ᾈ,true,true\n");
    answers("select upper('straße Łódź Αθήνα éà'), lower('ÅÑ ÇŁ ΑΘΉΝΑ'), upper('ÿ') from regions limit 1",
            "STRAẞE ŁÓDŹ ΑΘΉΝΑ ÉÀ,åñ çł αθήνα,Ÿ\n");
    answers("select 'ÉCOLE' ilike 'éc%', 'école' ilike '%É%', 'ÉCOLE' like 'éc%', 'abc' ilike 'A_C' from "
            "regions limit 1",
            "true,true,false,true\n");
}

static void case_matters_to_like(void **state)
{
    (void)state;
    answers("select note from sales where note like 'm%'", "");
    answers("select note from sales where note like 'M%'", "Mixed\n");
    answers("select note from sales where note ilike 'm%'", "Mixed\n");
    answers("select note from sales where note not ilike 'm%' order by 1", "100%\na_b\nplain\n");
}

static void regular_expressions(void **state)
{
    (void)state;
    answers("select note from sales where note ~ '^[a-z]+$'", "plain\n");
    answers("select note from sales where note ~* '^m' or note !~ '[[:alnum:]]$' order by 1",
            "100%\nMixed\n");
    answers("select regexp_matches('ab12', '\\d{2}$'), regexp_matches('a.b', '^[\\w.]+$'), 'Ab' regexp "
            "'(?i)^a(?:b|c)$', 'x-y' ~ '[\\-]' from regions limit 1",
            "true,true,true,true\n");
    answers("select regexp_replace('a1b22', '\\d+', '<\\0>'), regexp_replace('a1b22', '\\d+', '#', 'g'), "
            "regexp_replace('abc', '(b)(c)', '\\2\\1') from regions limit 1",
            "a<1>b22,a#b#,acb\n");
    answers("select regexp_extract('me@foo.org', '(\\w+)@([\\w.]+)', 2), regexp_extract('none', '\\d+'), "
            "regexp_replace('äöü', '', '.', 'g') from regions limit 1",
            "foo.org,\"\",.ä.ö.ü.\n");
    answers("select 'größe' ~ '^.{5}$' from regions limit 1", "true\n");
    answers("select note, note ~ 'a(_|in)b?', note ~ 'xa*|l', note ~ '[^]a]x?b*', note ~ 'é?a' from sales "
            "order by 1",
            ",,,,\n100%,false,false,true,false\nMixed,false,true,true,false\na_b,true,false,true,true\n"
            "plain,true,true,true,true\n");
    refused("select note ~ '(' from sales",
            "line 1, column 13: the regular expression '(' is wrong at byte 2: missing closing parenthesis");
}

/* A path of JSON has as many steps as JSON can be deep. */
static void paths_have_an_end(void **state)
{
    static char question[400000], steps[300100];
    (void)state;
    for (size_t count = 500, length = 0; count <= 100000; count += 99500) {
        for (; length < 3 * count; length += 3)
            memcpy(steps + length, "[0]", 4);
        snprintf(question, sizeof question, "select '[[5]]' ->> '$%s' as x, '[[5]]' ->> '$[0][#-1]' as y",
                 steps);
        if (count == 500)
            answers(question, ",5\n");
        else
            refused(question, "line 1, column 20: a path has at most 500 steps");
    }
}

static void what_is_refused_of_strings(void **state)
{
    (void)state;
    answers("select left(note, pieces) from sales where note is not null and pieces between 1 and 3",
            "pla\n1\n");
    answers("select substring(note from position(\'_\' in note) + 1), left(note, length(note) - 2) from "
            "sales order by day, shop",
            ",\nplain,pla\n100%,10\nMixed,Mix\nb,a\n");
    refused("select pieces like '1' from sales",
            "line 1, column 15: LIKE needs a string on its left, not a number; CAST it to VARCHAR");
    refused("select regexp_replace(note, 'a', 'b', 'z') from sales",
            "line 1, column 8: the options of regexp_replace are 'i' and 'g', not 'z'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings_are_put_together),
                                       cmocka_unit_test(parts_of_strings),
                                       cmocka_unit_test(tests_of_strings),
                                       cmocka_unit_test(letters_of_all_scripts_have_upper_case),
                                       cmocka_unit_test(case_matters_to_like),
                                       cmocka_unit_test(regular_expressions),
                                       cmocka_unit_test(what_is_refused_of_strings),
                                       cmocka_unit_test(paths_have_an_end)};
    return cmocka_run_group_tests(tests, star_open, star_close);
}
