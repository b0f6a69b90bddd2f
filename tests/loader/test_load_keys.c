/*
 * test_load_keys.c: keys of several columns and tables that reference themselves, from files to answers: random stars,
 * whose answers are SQLite's, loaded at once, in two parts and with little memory; and what a person is told about keys
 * that are there twice, or nowhere; and keys of a table whose levels grow.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

#include "engine/run/engine.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/sql/as_sqlite.h"

/* Writes a file beside the database. */
static void file_is(const char *name, const char *text)
{
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%s", path);
    snprintf(strrchr(file, '/') + 1, 64, "%s", name);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* ---- Sentences ---- */

static const char script[] =
    "CREATE TABLE parts (k INT PRIMARY KEY, name TEXT);\n"
    "CREATE TABLE offers (part INT REFERENCES parts, firm TEXT, day DATE, price DECIMAL(8,2),\n"
    "  PRIMARY KEY (part, firm), UNIQUE (firm, day));\n"
    "CREATE TABLE items (n INT, part INT REFERENCES parts, firm TEXT, many INT,\n"
    "  FOREIGN KEY (firm, part) REFERENCES offers (firm, part) ON DELETE CASCADE);\n"
    "CREATE TABLE staff (id INT PRIMARY KEY, name TEXT NOT NULL, boss INT REFERENCES staff (id));\n";

static void files_are_good(void)
{
    file_is("star.sql", script);
    file_is("parts.csv", "1,nut\n2,bolt\n7,cog\n");
    file_is("offers.csv",
            "1,A,2024-01-01,1.50\n1,B,2024-01-01,2\n2,A,2024-01-02,3.25\n7,\"x,y\",,9\n7,A,,1\n");
    file_is("items.csv", "100,1,A,5\n101,2,A,1\n102,7,\"x,y\",4\n103,,A,2\n104,1,,3\n105,1,B,10\n");
    file_is("staff.csv", "1,Ada,3\n2,Bob,1\n3,Root,\n4,Eve,2\n5,Dan,1\n");
}
#define ALL "--force parts=parts.csv offers=offers.csv items=items.csv staff=staff.csv"

static void keys_of_several_columns_join(void **state)
{
    (void)state;
    files_are_good();
    load_ends(ALL, 0, "");
    answer_is("select n, price from items i join offers o on i.part = o.part and o.firm = i.firm order by n",
              "n,price\n100,1.50\n101,3.25\n102,9.00\n105,2.00\n");
    answer_is("select n, price from items i left join offers o on i.part = o.part and o.firm = i.firm and "
              "price > 1.50 order by n",
              "n,price\n100,\n101,3.25\n102,9.00\n103,\n104,\n105,2.00\n");
    answer_is("select name, sum(many * price) as s from items i, offers o, parts p where i.part = o.part and "
              "i.firm = o.firm and o.part = p.k group by name order by name",
              "name,s\nbolt,3.25\ncog,36.00\nnut,27.50\n");
    answer_is("select count(*) from items join offers using (part, firm) where price >= 2", "count(*)\n3\n");
    answer_is("select * from items where n = 103", "n,part,firm,many\n103,,A,2\n");
    run_shell("$T check --db $D && $T inspect --db $D items", &run);
    assert_int_equal(run.exit_code, 0);
    run_shell("$T sql --db $D '.schema items'", &run);
    assert_non_null(strstr(run.output, "FOREIGN KEY (part, firm) REFERENCES offers (part, firm)"));
    run_shell("$T sql --db $D 'select (a) from items' 2>&1; $T sql --db $D 'select \"(firm, part)\" from "
              "items' 2>&1",
              &run);
    assert_non_null(strstr(run.output, "there is no column (firm, part)"));
}

static void tables_reference_themselves(void **state)
{
    (void)state;
    files_are_good();
    load_ends(ALL, 0, "");
    answer_is(
        "select e.name, m.name as boss, g.name as above from staff e left join staff m on e.boss = m.id "
        "left join staff g on m.boss = g.id order by e.id",
        "name,boss,above\nAda,Root,\nBob,Ada,Root\nRoot,,\nEve,Bob,Ada\nDan,Ada,Root\n");
    answer_is(
        "select m.name, count(*) as n from staff e, staff m where e.boss = m.id and m.name <> 'Bob' group by "
        "m.name order by 1",
        "name,n\nAda,2\nRoot,1\n");
    answer_is("select e.name from staff e join staff m on m.id = e.boss and e.id < m.id order by 1",
              "name\nAda\n");
    file_is("more.csv", "6,Fay,7\n7,Gus,4\n");
    load_ends("--append staff=more.csv", 0, "");
    answer_is("select e.name, m.name as boss from staff e join staff m on e.boss = m.id where e.id > 4 order "
              "by e.id",
              "name,boss\nDan,Ada\nFay,Gus\nGus,Eve\n");
    file_is("more.csv", "8,Hal,9\n");
    load_ends("--append staff=more.csv", 2,
              "more.csv:1: column (boss): no row of table staff has the key (9)");
    load_ends("--append staff=more.csv --dangling null", 0, "");
    answer_is("select e.boss, m.id from staff e left join staff m on e.boss = m.id where e.id = 8",
              "boss,id\n9,\n");
    run_shell("$T check --db $D", &run);
    assert_int_equal(run.exit_code, 0);
    load_ends("--force staff=staff.csv --levels staff=name", 2, "the table references itself");
    load_ends("--force staff=staff.csv --sort-by name", 2, "is referenced");
}

static void what_is_twice_or_nowhere_is_told(void **state)
{
    (void)state;
    files_are_good();
    file_is("offers.csv", "1,A,2024-01-01,1\n1,B,2024-01-01,2\n1,A,,3\n");
    load_ends(ALL, 2,
              "offers.csv:3: table offers, column (part, firm): the key '(1, 'A')' is that "
              "of offers.csv:1 already");
    file_is("offers.csv", "1,A,2024-01-01,1\n1,B,2024-01-01,2\n2,A,2024-01-01,3\n");
    load_ends(ALL, 2,
              "offers.csv:3: table offers, column (firm, day): the value '('A', 2024-01-01)' is that of "
              "offers.csv:1 already");
    file_is("offers.csv", "1,A,,1\n,B,2024-01-01,2\n");
    load_ends(ALL, 2, "offers.csv:2: column part: '' is NULL");
    files_are_good();
    file_is("items.csv", "100,1,A,5\n101,2,B,1\n102,7,C,4\n");
    load_ends(ALL, 2,
              "items.csv:2: columns (part, firm): no row of table offers has the key (2, "
              "'B') (--dangling null stores NULL");
    load_ends(ALL " --dangling null", 0, "");
    answer_is(
        "select n, price from items i left join offers o on i.part = o.part and i.firm = o.firm order by n",
        "n,price\n100,1.50\n101,\n102,\n");
    file_is("items.csv", "100,1,A\n101\n");
    load_ends(ALL " --max-errors 2", 0, "2 rows were left out");
    file_is("items.csv", "100,1,A\n");
    load_ends(ALL, 2, "items.csv:1: the row has 3 fields");
    load_ends("--force items=items.csv", 2, "items.csv:1");
}

static void refusal(const char *text, const char *said)
{
    file_is("star.sql", text);
    load_ends("--force t=t.csv", 2, said);
}

static void scripts_that_cannot_be_are_refused(void **state)
{
    (void)state;
    file_is("t.csv", "1,2\n");
    refusal("CREATE TABLE d (a INT, b INT); CREATE TABLE t (x INT, y INT, FOREIGN KEY (x, y) REFERENCES d "
            "(a, b));",
            "table t references d (a, b), which is no primary key and not UNIQUE; say PRIMARY KEY or UNIQUE "
            "there");
    refusal("CREATE TABLE d (a INT, b TEXT, PRIMARY KEY (a, b)); CREATE TABLE t (x INT, y INT, FOREIGN KEY "
            "(x, y) "
            "REFERENCES d);",
            "the reference compares t.y with d.b, which are of different types");
    refusal(
        "CREATE TABLE d (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE t (x INT, y INT, FOREIGN KEY (x, y) "
        "REFERENCES d (a));",
        "the reference has more columns than the key that it names");
    refusal(
        "CREATE TABLE d (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE t (x INT, y INT, FOREIGN KEY (x, y) "
        "REFERENCES d (a, b, a));",
        "the reference has fewer columns than the key that it names");
    refusal(
        "CREATE TABLE d (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE t (x INT, y INT, FOREIGN KEY (x, y) "
        "REFERENCES d (a, c));",
        "the reference names d.c, and the table has no such column");
    refusal("CREATE TABLE d (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE t (x INT REFERENCES d, y INT);",
            "the table's primary key has several columns");
    refusal(
        "CREATE TABLE d (a INT PRIMARY KEY); CREATE TABLE t (x INT, y INT, FOREIGN KEY (x, y) REFERENCES d);",
        "a reference of 2 columns names table d, whose primary key has 1");
    refusal("CREATE TABLE t (x INT, y INT, PRIMARY KEY (x, y), PRIMARY KEY (y, x));", "two primary keys");
    refusal("CREATE TABLE t (x INT, y INT, UNIQUE (x, x));", "the key has a column twice");
    refusal("CREATE TABLE t (x INT, y INT REFERENCES t);",
            "table t, which is referenced, has no primary key");
    refusal("CREATE TABLE p (k INT PRIMARY KEY); CREATE TABLE d (a INT REFERENCES p, b INT, PRIMARY KEY (a, "
            "b));\n"
            "CREATE TABLE t (x INT, y INT, FOREIGN KEY (x, y) REFERENCES d);",
            "one of them references another table; let both reference it, or none");
    refusal("CREATE TABLE a (x INT, y INT, z INT, PRIMARY KEY (x, y), FOREIGN KEY (y, z) REFERENCES t);\n"
            "CREATE TABLE t (x INT, y INT, PRIMARY KEY (x, y), FOREIGN KEY (x, y) REFERENCES a);",
            "references itself through others");
}

static void a_unique_column_beside_a_key_is_referenced(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE d (k INT PRIMARY KEY, code TEXT UNIQUE, v INT);\n"
                        "CREATE TABLE t (n INT, code TEXT REFERENCES d (code), k INT REFERENCES d);");
    file_is("d.csv", "1,x,10\n2,y,20\n3,,30\n");
    file_is("t.csv", "1,y,1\n2,x,3\n3,,2\n");
    load_ends("--force d=d.csv t=t.csv", 0, "");
    answer_is(
        "select n, a.v, b.v as w from t left join d a on t.code = a.code join d b on t.k = b.k order by n",
        "n,v,w\n1,20,10\n2,10,30\n3,,20\n");
    file_is("t.csv", "1,z,1\n");
    load_ends("--force t=t.csv", 2, "t.csv:1: column (code): no row of table d has the key ('z')");
    run_shell("$T sql --db $D .schema >$D/../again.sql; cat $D/../again.sql", &run);
    assert_non_null(strstr(run.output, "UNIQUE (code)"));
    run_shell(
        "cd $D/.. && printf '1,y,1\\n' >t.csv && $T load --force --db $D --schema again.sql d=d.csv t=t.csv",
        &run);
    assert_int_equal(run.exit_code, 0);
}

/* ---- Random stars ---- */

#define PAIRS_MAX 200u
#define TEXT_MAX  24u

static const char *const types[] = {"INT", "BIGINT", "TEXT", "DATE", "DECIMAL(9,2)"};
#define TYPES (sizeof types / sizeof *types)

static uint32_t kinds[3], key_count, pair_count;
static char pairs[PAIRS_MAX][3][TEXT_MAX];
static sqlite3 *sqlite;

static void make_value(uint32_t kind, char text[TEXT_MAX])
{
    const uint32_t number = below(40);
    if (kind == 0)
        snprintf(text, TEXT_MAX, "%d", (int)number - 7);
    else if (kind == 1)
        snprintf(text, TEXT_MAX, "%lld", (long long)number * 40000000007 - 5);
    else if (kind == 2)
        snprintf(text, TEXT_MAX, number % 5 ? "%.*s" : "%.*s, %u", (int)(number % 4) + 1, "abcd", number);
    else if (kind == 3)
        snprintf(text, TEXT_MAX, "20%02u-0%u-1%u", number, 1 + number % 9, number % 10);
    else
        snprintf(text, TEXT_MAX, "%u.%02u", number, number * 13 % 100);
}

static bool is_new(uint32_t pair)
{
    for (uint32_t before = 0; before < pair; before++) {
        bool same = true;
        for (uint32_t k = 0; k < key_count; k++)
            same &= strcmp(pairs[before][k], pairs[pair][k]) == 0;
        if (same)
            return false;
    }
    return true;
}

/* A row of a file, and the same for SQLite. `quoted` has a mark for each field that is a text there. */
static void put_row(FILE *file, const char *table, const char *const *fields, uint32_t count,
                    const char *quoted)
{
    char sql[1024];
    size_t used = (size_t)snprintf(sql, sizeof sql, "insert into %s values (", table);
    for (uint32_t f = 0; f < count; f++) {
        const bool comma = fields[f] && strchr(fields[f], ',');
        fprintf(file, comma ? "%s\"%s\"" : "%s%s", f ? "," : "", fields[f] ? fields[f] : "");
        used += (size_t)snprintf(sql + used, sizeof sql - used,
                                 !fields[f]         ? "%s%s"
                                 : quoted[f] == 't' ? "%s'%s'"
                                                    : "%s%s",
                                 f ? "," : "", fields[f] ? fields[f] : "null");
    }
    fputc('\n', file);
    snprintf(sql + used, sizeof sql - used, ")");
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
}

static FILE *open_file(const char *name)
{
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%.*s%s", (int)(strlen(path) - 2), path, name);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    return out;
}

static void write_script(void)
{
    FILE *const out = open_file("star.sql");
    fputs("CREATE TABLE pairs (", out);
    for (uint32_t k = 0; k < key_count; k++)
        fprintf(out, "p%u %s, ", k, types[kinds[k]]);
    fprintf(out, "w INT, PRIMARY KEY (p0%s%s));\n", key_count > 1 ? ", p1" : "", key_count > 2 ? ", p2" : "");
    fputs("CREATE TABLE tree (id BIGINT PRIMARY KEY, up BIGINT REFERENCES tree, h INT);\n", out);
    fputs("CREATE TABLE through (id INT PRIMARY KEY", out);
    for (uint32_t k = 0; k < key_count; k++)
        fprintf(out, ", t%u %s", k, types[kinds[k]]);
    fputs(", FOREIGN KEY (t0", out);
    for (uint32_t k = 1; k < key_count; k++)
        fprintf(out, ", t%u", k);
    fputs(") REFERENCES pairs);\nCREATE TABLE facts (n INT, node BIGINT REFERENCES tree, t INT REFERENCES "
          "through",
          out);
    for (uint32_t k = 0; k < key_count; k++)
        fprintf(out, ", f%u %s", k, types[kinds[k]]);
    fputs(", FOREIGN KEY (", out); /* not in the order of the key */
    for (uint32_t k = key_count; k-- > 0;)
        fprintf(out, "f%u%s", k, k ? ", " : ") REFERENCES pairs (");
    for (uint32_t k = key_count; k-- > 0;)
        fprintf(out, "p%u%s", k, k ? ", " : "));\n");
    fclose(out);
}

static void create_in_sqlite(void)
{
    char sql[1024];
    sqlite3_close(sqlite);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    static const char *const all[] = {"pairs (", "through (id int, ", "facts (n int, node int, t int, "};
    for (uint32_t t = 0; t < 3; t++) {
        size_t used = (size_t)snprintf(sql, sizeof sql, "create table %s", all[t]);
        for (uint32_t k = 0; k < key_count; k++)
            used += (size_t)snprintf(sql + used, sizeof sql - used, "%s%c%u %s", k ? ", " : "", "ptf"[t], k,
                                     kinds[k] < 2    ? "int"
                                     : kinds[k] == 4 ? "real"
                                                     : "text");
        snprintf(sql + used, sizeof sql - used, t ? ")" : ", w int)");
        assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    assert_int_equal(sqlite3_exec(sqlite, "create table tree (id int, up int, h int)", NULL, NULL, NULL),
                     SQLITE_OK);
}

static void quote_key(char *quoted)
{
    for (uint32_t k = 0; k < key_count; k++)
        quoted[k] = kinds[k] == 2 || kinds[k] == 3 ? 't' : 'n';
}

/* Fields of a key: those of a pair, or with a NULL among them. */
static void key_fields(uint32_t pair, const char **fields)
{
    const uint32_t none = below(8);
    for (uint32_t k = 0; k < key_count; k++)
        fields[k] = k == none ? NULL : pairs[pair][k];
}

/* Writes the rows first .. end - 1 of each table. A row of `pairs` or `tree` may be referenced from there on. */
static void write_rows(const char *suffix, uint32_t first_pair, uint32_t end_pair, uint32_t first,
                       uint32_t end)
{
    char name[32], number[4][TEXT_MAX], quoted[8] = "nnnnnnn";
    const char *fields[8];
    snprintf(name, sizeof name, "pairs%s.csv", suffix);
    FILE *out = open_file(name);
    quote_key(quoted);
    for (uint32_t pair = first_pair; pair < end_pair; pair++) {
        for (uint32_t k = 0; k < key_count; k++)
            fields[k] = pairs[pair][k];
        snprintf(number[0], TEXT_MAX, "%u", below(10));
        fields[key_count] = number[0];
        quoted[key_count] = 'n';
        put_row(out, "pairs", fields, key_count + 1, quoted);
    }
    fclose(out);
    snprintf(name, sizeof name, "tree%s.csv", suffix);
    out = open_file(name);
    for (uint32_t node = first; node < end; node++) { /* up may be a later row */
        snprintf(number[0], TEXT_MAX, "%lld", node * 7000000001LL - 3);
        snprintf(number[1], TEXT_MAX, "%lld", below(end) * 7000000001LL - 3);
        snprintf(number[2], TEXT_MAX, "%u", below(20));
        fields[0] = number[0];
        fields[1] = chance(15) ? NULL : number[1];
        fields[2] = number[2];
        put_row(out, "tree", fields, 3, "nnn");
    }
    fclose(out);
    snprintf(name, sizeof name, "through%s.csv", suffix);
    out = open_file(name);
    memset(quoted, 'n', 7);
    quote_key(quoted + 1);
    for (uint32_t row = first; row < end; row++) {
        snprintf(number[0], TEXT_MAX, "%u", row);
        fields[0] = number[0];
        key_fields(below(end_pair), fields + 1);
        put_row(out, "through", fields, 1 + key_count, quoted);
    }
    fclose(out);
    snprintf(name, sizeof name, "facts%s.csv", suffix);
    out = open_file(name);
    memset(quoted, 'n', 7);
    quote_key(quoted + 3);
    for (uint32_t row = 5 * first; row < 5 * end; row++) {
        snprintf(number[0], TEXT_MAX, "%u", row);
        snprintf(number[1], TEXT_MAX, "%lld", below(end) * 7000000001LL - 3);
        snprintf(number[2], TEXT_MAX, "%u", below(end));
        fields[0] = number[0];
        fields[1] = chance(10) ? NULL : number[1];
        fields[2] = chance(10) ? NULL : number[2];
        key_fields(below(end_pair), fields + 3);
        put_row(out, "facts", fields, 3 + key_count, quoted);
    }
    fclose(out);
}

/* "f0 = p0 and f1 = p1", in any order and direction. */
static const char *joined(const char *left, const char *right)
{
    static char texts[4][400];
    static uint32_t turn;
    char *const text = texts[turn++ % 4];
    const uint32_t first = below(key_count);
    size_t used = 0;
    for (uint32_t i = 0; i < key_count; i++) {
        const uint32_t k = (first + i) % key_count;
        const bool turned = chance(50);
        used += (size_t)snprintf(text + used, 400 - used, "%s%s%u = %s%u", i ? " and " : "",
                                 turned ? right : left, k, turned ? left : right, k);
    }
    return text;
}

static void ask(struct engine *engine, struct database *database)
{
    char sql[1000];
    static const char *const kind[] = {"join", "left join"};
    for (int round = 0; round < 6; round++) {
        const char *const a = kind[below(2)], *const b = kind[below(2)], *const c = kind[below(2)];
        const uint32_t limit = below(12);
        snprintf(sql, sizeof sql, "select n, w, p0 from facts %s pairs on %s%s order by n", a,
                 joined("f", "p"), chance(50) ? "" : " where n % 3 <> 1");
        answers_as_sqlite(engine, database, sqlite, sql);
        snprintf(sql, sizeof sql,
                 "select w, count(*), count(f0), min(n), sum(n) from facts %s pairs on %s "
                 "where n < 500 or w > %u group by w",
                 a, joined("f", "p"), limit);
        answers_as_sqlite(engine, database, sqlite, sql);
        snprintf(sql, sizeof sql,
                 "select e.id, m.id, g.h from tree e %s tree m on e.up = m.id %s tree g on "
                 "g.id = m.up",
                 a, a[0] == 'l' ? "left join" : b);
        answers_as_sqlite(engine, database, sqlite, sql);
        snprintf(sql, sizeof sql,
                 "select m.h, count(*), sum(e.h) from tree e, tree m where e.up = m.id and m.h > %u "
                 "group by m.h",
                 limit);
        answers_as_sqlite(engine, database, sqlite, sql);
        snprintf(sql, sizeof sql,
                 "select x.h, y.h, count(*) from facts %s tree x on node = x.id %s tree y on "
                 "x.up = y.id group by x.h, y.h",
                 c, c[0] == 'l' ? "left join" : b);
        answers_as_sqlite(engine, database, sqlite, sql);
        snprintf(sql, sizeof sql,
                 "select n, o.w, i.w from facts %s pairs o on %s %s through on t = id %s pairs i on %s", a,
                 joined("f", "o.p"), c, c[0] == 'l' ? "left join" : b, joined("t", "i.p"));
        answers_as_sqlite(engine, database, sqlite, sql);
        snprintf(sql, sizeof sql, "select count(*), sum(w) from facts left join pairs on %s and w > %u",
                 joined("f", "p"), limit);
        answers_as_sqlite(engine, database, sqlite, sql);
    }
}

static void check_all(void)
{
    struct database *database;
    struct engine *engine;
    must(database_check(path, 2, NULL, NULL, NULL, error));
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    ask(engine, database);
    engine_close(engine);
    database_close(database);
}

static void random_stars_answer_as_sqlite(void **state)
{
    static const char *const options[] = {"--threads 1", "--threads 3 --memory 96M",
                                          "--threads 2 --dangling null", "--dimension-order file"};
    (void)state;
    random_state = 0x5eed16;
    for (uint32_t star = 0; star < 12; star++) {
        char load[400];
        key_count = 1 + below(3);
        key_count += key_count == 1;
        for (uint32_t k = 0; k < key_count; k++)
            kinds[k] = below(TYPES);
        for (pair_count = 0; pair_count < 20 + below(PAIRS_MAX - 20);) {
            for (uint32_t k = 0; k < key_count; k++)
                make_value(kinds[k], pairs[pair_count][k]);
            pair_count += is_new(pair_count);
        }
        const uint32_t rows = 30 + below(400), half = 1 + below(rows - 1),
                       half_pairs = 1 + below(pair_count - 1);
        write_script();
        create_in_sqlite();
        assert_int_equal(sqlite3_exec(sqlite, "begin", NULL, NULL, NULL), SQLITE_OK);
        const char *const option = options[below(4)];
        if (star % 2) {
            write_rows("", 0, pair_count, 0, rows);
            snprintf(load, sizeof load,
                     "--force %s pairs=pairs.csv tree=tree.csv through=through.csv facts=facts.csv", option);
            load_ends(load, 0, "");
        } else {
            write_rows("", 0, half_pairs, 0, half);
            write_rows("2", half_pairs, pair_count, half, rows);
            snprintf(load, sizeof load,
                     "--force %s pairs=pairs.csv tree=tree.csv through=through.csv facts=facts.csv", option);
            load_ends(load, 0, "");
            load_ends("--append pairs=pairs2.csv tree=tree2.csv through=through2.csv facts=facts2.csv", 0,
                      "");
        }
        check_all();
    }
    sqlite3_close(sqlite);
    sqlite = NULL;
}

/* ---- Levels ---- */

#define CITIES                                                                                             \
    "select city, count(*) as n, min(sold) as a from sales join shops on sold = shop group by city order " \
    "by 1"

/* A fifth city, after the four that there are: its level takes a bit more, and no shop moves. Keys have the bits of all
 * levels (lane-levels), so those that are there are written again. */
static void a_level_gets_a_bit_before_the_others(void **state)
{
    static const char *const codecs[] = {"lane-levels", "plain"};
    char load[256];
    (void)state;
    run_shell("cd $D/.. && printf 'CREATE TABLE shops (shop TEXT PRIMARY KEY, city TEXT);"
              "CREATE TABLE sales (sold TEXT REFERENCES shops, pieces INT);' >star.sql && "
              "for i in $(seq 0 79); do echo a$i,city $((i / 20)); done >shops.csv && "
              "for i in $(seq 0 79); do echo a$i,$i; done >sales.csv && "
              "for i in $(seq 0 19); do echo b$i,city 9; done >more.csv && "
              "for i in $(seq 0 19); do echo b$i,$i; done >sold.csv",
              &run);
    for (int c = 0; c < 2; c++)
        for (int together = 0; together < 2; together++) {
            snprintf(load, sizeof load,
                     "--force --levels shops=city --codec sold=%s shops=shops.csv sales=sales.csv",
                     codecs[c]);
            load_ends(load, 0, "");
            shell_prints("$T sql --db $D --device cpu --codec sold=lane-levels --format csv "
                         "'select count(*) from sales'",
                         "count(*)\n80\n");
            load_ends(together ? "--append shops=more.csv sales=sold.csv" : "--append shops=more.csv", 0, "");
            if (!together)
                load_ends("--append sales=sold.csv", 0, "");
            answer_is(CITIES, "city,n,a\ncity 0,20,a0\ncity 1,20,a20\ncity 2,20,a40\ncity 3,20,a60\n"
                              "city 9,20,b0\n");
            shell_prints("$T check --db $D 2>/dev/null >report && echo fine", "fine\n");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_of_several_columns_join, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_reference_themselves, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_twice_or_nowhere_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(scripts_that_cannot_be_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_unique_column_beside_a_key_is_referenced, setup, teardown),
        cmocka_unit_test_setup_teardown(random_stars_answer_as_sqlite, setup, teardown),
        cmocka_unit_test_setup_teardown(a_level_gets_a_bit_before_the_others, setup, teardown),
    };
    return cmocka_run_group_tests_name("keys of several columns", tests, NULL, NULL);
}
