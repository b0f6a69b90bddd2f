/*
 * test_faults.c: the operations that users run, with every call of a kind failing in turn (tests/support/faults.h).
 *
 * Without TESSERA_FAULTS a sample of the calls of each campaign is tried. All calls of one operation:
 *
 *     TESSERA_FAULTS=all test_faults 'append*'
 *
 * With TESSERA_FAULTS_ROWS=300000 the sales are so many, those of three segments, and 40 random calls are enough:
 *
 *     TESSERA_FAULTS_ROWS=300000 TESSERA_FAULTS=random:40 test_faults '*_kill*'
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/faults/campaigns.h"

/* ---- The operations: a star schema of two tables, small enough that a run takes some 10 ms ---- */

#define LOAD "$T load --db $D --schema star.sql "

/* One load; and so many that the sales have several segments, if they are many. */
#define ONE "shops=shops.csv sales=$SALES"
#define FIRST_AS(with)                                                           \
    LOAD with " shops=shops.csv sales=sales.csv && for part in $PARTS; do " LOAD \
              "--append sales=$part || exit 1; done"
#define FIRST     FIRST_AS("")
#define CLUSTERED FIRST_AS("--cluster-by shop,note:3")
#define ASK       "$T sql --device cpu --threads 2 --db $D --format csv "
#define JOIN      " FROM sales JOIN shops ON shop = shops.k "
#define STATE                                 \
    "$T check --db $D > checked 2>&1 && " ASK \
    "'SELECT count(*), sum(paid), count(note), count(DISTINCT city)" JOIN "'"

/* With the segments, codecs, indexes and clusters. */
#define FORM STATE " && $T inspect --db $D --format json | grep -v -e catalogue -e total"

/* What those ask who had it open before. */
#define ASKED "SELECT count(*), sum(paid), count(note), count(DISTINCT city), max(day), sum(id)" JOIN

/* Rows of a dimension, which may be deleted. */
#define SHOPS "SELECT count(*), sum(k), max(name), (SELECT count(*)" JOIN ") FROM shops"

static const struct named_operation operations[] = {
    {"load", {.prepare = "", .run = LOAD ONE, .observe = STATE, .output_may_vary = true}},
    {"append",
     {.prepare = FIRST,
      .run = LOAD "--append sales=more.csv",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"force",
     {.prepare = FIRST,
      .run = LOAD "--force shops=shops.csv sales=more.csv",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"encode",
     {.prepare = FIRST,
      .run = ASK "--codec lane-for 'SELECT sum(paid) FROM sales'",
      .observe = STATE,
      .ask = ASKED}},
    {"delete",
     {.prepare = FIRST " && $T delete --device cpu --db $D sales 'id < 100'",
      .run = "$T delete --device cpu --threads 2 --db $D sales \"day < DATE '2024-05-01' AND paid > 300\"",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"orphans", /* rows of a dimension, by a subquery */
     {.prepare = FIRST " && $T delete --device cpu --db $D sales 'shop % 9 = 1'",
      .run = "$T delete --device cpu --threads 2 --db $D shops \"k NOT IN (SELECT shop FROM sales)\"",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'" SHOPS "'",
      .ask = SHOPS,
      .output_may_vary = true}},
    {"insert",
     {.prepare = FIRST,
      .run = ASK "\"INSERT INTO sales (id, shop, note) SELECT id + 100000, shop, note FROM sales "
                 "WHERE paid > 300\"",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"replace", /* rows of a dimension's month, whose keys come again */
     {.prepare = FIRST,
      .run = ASK "\"INSERT INTO sales REPLACE WHERE shop = 22 SELECT id, shop, paid + 1, day, note || '!' "
                 "FROM sales WHERE shop = 22 AND id < 1000\"",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"load_replace",
     {.prepare = FIRST " && $T delete --device cpu --db $D sales 'id < 100'",
      .run = LOAD "--append sales=more.csv --replace-where 'id >= 1500'",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"create_as",
     {.prepare = FIRST " && " ASK "'CREATE TABLE kept AS SELECT * FROM shops'",
      .run = ASK "\"CREATE OR REPLACE TABLE kept AS SELECT * FROM sales WHERE paid > 300\"",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'SELECT count(*) FROM kept'",
      .ask = "SELECT count(*), max(k), min(name), max(city) FROM kept",
      .output_may_vary = true}},
    {"create_view",
     {.prepare = FIRST " && " ASK "'CREATE VIEW rich AS SELECT shop, paid FROM sales'",
      .run = ASK "'CREATE OR REPLACE VIEW rich (s, p) AS SELECT shop, paid FROM sales WHERE paid > 300'",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'SELECT count(*) FROM rich'",
      .ask = "SELECT count(*), sum(paid), min(shop) FROM rich",
      .output_may_vary = true}},
    {"copy",
     {.prepare = FIRST " && echo before > $D/out.csv.gz", /* there, because campaigns keep the state of $D */
      .run = ASK "\"COPY (SELECT id, city, note" JOIN ") TO '$D/out.csv.gz'\"",
      .observe = "cksum < $D/out.csv.gz",
      .ask = ASKED,
      .output_may_vary = true}},
    {"copy_parquet",
     {.prepare = FIRST " && echo before > $D/out.parquet",
      .run = ASK "\"COPY (SELECT id, city, note, note || city" JOIN ") TO '$D/out.parquet'\"",
      .observe = "cksum < $D/out.parquet",
      .ask = ASKED,
      .output_may_vary = true}},
    {"copy_arrow",
     {.prepare = FIRST " && echo before > $D/out.arrow",
      .run =
          ASK "\"COPY (SELECT id, city, note, note || city" JOIN ") TO '$D/out.arrow' (COMPRESSION zstd)\"",
      .observe = "cksum < $D/out.arrow",
      .ask = ASKED,
      .output_may_vary = true}},
    {"asof",
     {.prepare = FIRST,
      .run =
          ASK "'SELECT count(*), sum(b.paid), max(note) FROM sales a ASOF LEFT JOIN (SELECT shop, day, id, "
              "paid FROM sales WHERE id % 3 = 0) b ON a.shop = b.shop AND a.day > b.day WHERE a.id > 100'"}},
    {"summarize", {.prepare = FIRST, .run = ASK "'SUMMARIZE sales; SUMMARIZE SELECT shop, note FROM sales'"}},
    {"pivot", /* which asks for the values first */
     {.prepare = FIRST,
      .run = ASK "\"WITH s AS (SELECT city, note, paid" JOIN
                 ") PIVOT s ON substr(note, 6, 1) USING sum(paid) GROUP BY city ORDER BY ALL\""}},
    {"read",
     {.prepare = FIRST " && printf '.output out.csv\\nSELECT count(*) FROM sales;\\n' >$D/in.sql",
      .run = ASK "\".read $D/in.sql\" && cat out.csv"}},
    {"files", /* which are loaded into a folder for that */
     {.prepare = FIRST,
      .run = ASK "\"SELECT c3, count(*), sum(paid), max(c5) FROM 'sales.csv' f JOIN sales ON f.c1 = id "
                 "GROUP BY c3 > 500, c3 ORDER BY 1 LIMIT 3; SELECT max(line) FROM '" TESSERA_SOURCE
                 "/tests/data/parquet/pyarrow-rows-zstd.parquet'\""}},
    {"append_index",
     {.prepare = FIRST " && $T index create --db $D sales.shop && $T index create --db $D sales.note",
      .run = LOAD "--append sales=more.csv",
      .observe = STATE,
      .ask = ASKED,
      .output_may_vary = true}},
    {"compact",
     {.prepare = FIRST " && " LOAD "--append sales=more.csv && " LOAD "--append sales=again.csv",
      .run = "$T compact --db $D",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
    {"cluster",
     {.prepare = "", .run = LOAD ONE " --cluster-by shop,note:3", .observe = FORM, .output_may_vary = true}},
    {"append_cluster",
     {.prepare = CLUSTERED,
      .run = LOAD "--append sales=more.csv",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
    {"compact_cluster",
     {.prepare = CLUSTERED " && " LOAD "--append sales=more.csv && " LOAD "--append sales=again.csv",
      .run = "$T compact --db $D",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
    {"recluster", /* what comes from now on */
     {.prepare = CLUSTERED,
      .run = LOAD "--append --cluster-by day:4,shop sales=more.csv",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
    {"compact_recluster", /* and what is there, if it is written again */
     {.prepare = CLUSTERED " && " LOAD "--append --cluster-by day:4,shop sales=more.csv",
      .run = "$T compact --db $D",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
    {"inspect_cluster", {.prepare = CLUSTERED, .run = "$T inspect --db $D sales --format json"}},
    {"index_create",
     {.prepare = FIRST,
      .run = "$T index create --db $D sales.shop",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
    {"index_drop",
     {.prepare = FIRST " && $T index create --db $D sales.shop",
      .run = "$T index drop --db $D sales.shop",
      .observe = FORM,
      .ask = ASKED "WHERE shop = 22 OR shop = 4", /* by the index */
      .output_may_vary = true}},
    {"check", {.prepare = FIRST, .run = "$T check --db $D"}},
    {"inspect", {.prepare = FIRST, .run = "$T inspect --db $D sales"}},
    {"group",
     {.prepare = FIRST,
      .run = ASK "\"SELECT city, sum(paid), count(*)" JOIN
                 "WHERE day < DATE '2024-05-01' AND note LIKE 'note 1%' "
                 "GROUP BY city ORDER BY 2 DESC\""}},
    {"rows",
     {.prepare = FIRST,
      .run = ASK "\"SELECT id, upper(note) || '!', paid * 2" JOIN
                 "WHERE regexp_matches(note, '[37]$') ORDER BY paid DESC, id LIMIT 20\""}},
    {"regular",
     {.prepare = FIRST,
      .run = ASK "\"SELECT regexp_extract(note, '(n.*?) ([0-9]+)(?!9)', 2) AS n, "
                 "regexp_replace(note, '(.)[tz]e', '-\\1', 'g') AS r, count(*) FROM sales "
                 "WHERE note ~ '^(n|o|z)*t?e' GROUP BY n, r ORDER BY n, r\""}},
    {"layers",
     {.prepare = FIRST,
      .run =
          ASK "\"WITH t AS (SELECT city, day, sum(paid) AS s" JOIN
              "GROUP BY city, day) SELECT city, s, rank() OVER (PARTITION BY city ORDER BY s) FROM t "
              "WHERE s > (SELECT avg(s) FROM t) UNION SELECT name, NULL, 0 FROM shops ORDER BY 1, 2, 3\""}},
    {"windows",
     {.prepare = FIRST,
      .run =
          ASK "\"SELECT id, s, a FROM (SELECT id, sum(paid) OVER (PARTITION BY shop ORDER BY id) AS s, "
              "avg(paid) OVER (ORDER BY day, id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS a FROM sales) "
              "WHERE s > 300 ORDER BY id LIMIT 20\""}},
    {"first_of_each",
     {.prepare = FIRST,
      .run = ASK "\"SELECT count(*), sum(paid), max(id) FROM (SELECT id, paid, row_number() OVER "
                 "(PARTITION BY id - id % 4 ORDER BY paid DESC) AS n FROM sales) WHERE n = 1\""}},
    {"orc",
     {.prepare = "",
      .run =
          "$T load --db $D --schema rows.sql t=" TESSERA_SOURCE "/tests/data/orc/pyarrow-rows-0.12-zlib.orc",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'SELECT count(*), sum(big), max(line) FROM t'",
      .output_may_vary = true}},
    {"parquet",
     {.prepare = "",
      .run = "$T load --db $D --schema rows.sql t=" TESSERA_SOURCE
             "/tests/data/parquet/pyarrow-rows-zstd.parquet",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'SELECT count(*), sum(big), max(line) FROM t'",
      .output_may_vary = true}},
    {"packed",
     {.prepare = "",
      .run = LOAD "shops=shops.csv 'sales=sales.csv.g[z]'",
      .observe = STATE,
      .output_may_vary = true}},
    {"load_spilled", /* rows are kept in a file meanwhile */
     {.prepare = "",
      .run = LOAD "--memory 16M --sort-by paid " ONE,
      .observe = STATE,
      .output_may_vary = true}},
    {"spilled",
     {.prepare = FIRST,
      .run =
          ASK "--memory 64K 'SELECT note, count(*), max(n) FROM (SELECT note, row_number() OVER (PARTITION "
              "BY note ORDER BY paid, id) AS n FROM sales) GROUP BY note ORDER BY note'"}},
    {"ssb_load",
     {.prepare = "",
      .run = "$T ssb load --sf 0.0001 --db $D",
      .observe =
          "$T check --db $D > checked 2>&1 && " ASK "'SELECT count(*), sum(lo_revenue) FROM lineorder'",
      .output_may_vary = true}},
    {"ssb_run",
     {.prepare = "$T ssb load --sf 0.0001 --db $D",
      .run = "$T ssb run --device cpu --threads 2 --repeat 1 --query q2.1 --verify plain --db $D",
      .output_may_vary = true}},
    {"codecs", {.prepare = "", .run = "$T codecs --format json"}},
    {"encoded", /* one file by a table, one by iconv, as its byte order mark says */
     {.prepare = "iconv -f UTF-8 -t UTF-16 sales.csv >sales16.csv",
      .run = LOAD "--encoding latin1 shops=shops.csv sales=sales16.csv",
      .observe = STATE,
      .output_may_vary = true}},
    {"infer", {.prepare = "", .run = "$T load --infer shops.csv sales.csv"}},
    {"infer_columnar",
     {.prepare = "",
      .run = "$T load --infer a=" TESSERA_SOURCE "/tests/data/parquet/pyarrow-types.parquet b=" TESSERA_SOURCE
             "/tests/data/orc/pyarrow-one.orc"}},
    {"json", {.prepare = FIRST, .run = "$T inspect --db $D --format json"}},
    {"tables", {.prepare = FIRST, .run = ASK "'SHOW TABLES; DESCRIBE sales'"}},
    {"strings",
     {.prepare = FIRST,
      .run =
          ASK "\"SELECT substr(name, 3) || city, count(DISTINCT note), string_agg(note, ',' ORDER "
              "BY id)" JOIN
              "WHERE note IN (SELECT note FROM sales WHERE paid > 900) OR note IS NULL GROUP BY name, city "
              "HAVING count(*) > 5\""}},
    {"joins",
     {.prepare = FIRST,
      .run =
          ASK "\"SELECT a.k, b.city, count(*) FROM shops a LEFT JOIN shops b ON a.city < b.city AND b.k IN "
              "(SELECT shop FROM sales WHERE paid > 500) FULL JOIN (VALUES (1), (7)) v (x) ON v.x = a.k "
              "GROUP BY a.k, b.city\""}},
    {"analyse",
     {.prepare = FIRST,
      .run = "$T sql --device cpu --threads 2 --db $D --report report.html 'EXPLAIN ANALYZE SELECT city, "
             "median(paid)" JOIN "GROUP BY ROLLUP (city)'",
      .output_may_vary = true}},
    {"indexed",
     {.prepare = FIRST " && $T index create --db $D sales.shop && $T index create --db $D sales.day",
      .run = ASK "--index on \"SELECT city, count(*), sum(paid)" JOIN
                 "WHERE day < DATE '2024-05-01' AND shop > 4 AND paid > 3 AND city <> 'x' GROUP BY "
                 "GROUPING SETS ((city, name), (city)) HAVING count(note) > 1\""}},
    {"explain", {.prepare = FIRST, .run = ASK "'EXPLAIN SELECT city, sum(paid)" JOIN "GROUP BY city'"}},
    {"help", {.prepare = "", .run = "$T load --help"}},
    {"manual", {.prepare = "", .run = "$T --man sql"}},
    {"completion", {.prepare = "", .run = "$T --completion bash"}},
    {"devices", /* without libraries of others */
     {.prepare = "",
      .run = "TESSERA_LIBCUDA=/nowhere TESSERA_NVRTC=/nowhere $T devices --format json",
      .output_may_vary = true}},
    {"codecs_csv", {.prepare = "", .run = "$T codecs --format csv"}},
    {"inspect_orc",
     {.prepare = "", .run = "$T inspect " TESSERA_SOURCE "/tests/data/orc/pyarrow-rows-0.12-zlib.orc"}},
    {"inspect_parquet",
     {.prepare = "",
      .run = "$T inspect --format json " TESSERA_SOURCE "/tests/data/parquet/pyarrow-rows-zstd.parquet"}},
    {"inspect_column", {.prepare = FIRST, .run = "$T inspect --db $D sales.paid"}},
    {"ssb_generate", /* whole files or none are no promise of this command; without a failure they are right */
     {.prepare = "",
      .run = "$T ssb generate --sf 0.0001 --skew --mode all --threads 2 --out gen && cat gen/*.tbl",
      .output_may_vary = true}},
    {"ssb_compare",
     {.prepare = "$T ssb load --sf 0.0001 --db $D",
      .run =
          "$T ssb compare --device cpu --threads 2 --repeat 1 --query q1.1 --codecs plain,lane-for --db $D "
          "--format json --answers answers --report report.html",
      .output_may_vary = true,
      .slow = true}},
    {"ssb_run_sqlite",
     {.prepare = "$T ssb load --sf 0.0001 --db $D",
      .run = "$T ssb run --device cpu --threads 2 --repeat 1 --query q3.2 --verify sqlite --db $D",
      .output_may_vary = true,
      .slow = true}},
    {"calibrate",
     {.prepare = "",
      .run = "$T calibrate --device cpu --out costs.json",
      .output_may_vary = true,
      .slow = true}},
    {"lab",
     {.prepare = "",
      .run = "$T lab posting-lists --device cpu --scale 0.00001 --repeat 1 --threads 2 --report report.html",
      .output_may_vary = true,
      .slow = true}},
    {"shell", /* with most of its commands */
     {.prepare =
          FIRST " && printf '%s\\n' '.tables' '.schema sales' '.mode json' 'SELECT * FROM shops LIMIT 2;' "
                "'.mode markdown' 'SELECT city, count(*) FROM shops GROUP BY city ORDER BY city;' '.mode "
                "table' '.rows 3' 'SELECT id, note FROM sales WHERE id < 9;' '.once once.txt' 'SELECT 7;' "
                "'.output out.txt' '.like sqlite' '.time_zone Europe/Berlin' \"SELECT count(*) FROM sales "
                "WHERE note LIKE 'NOTE%%';\" '.output' '.explain on' 'SELECT sum(paid) FROM sales;' '.help' "
                ">in.sql",
      .run = "$T sql --device cpu --threads 2 --db $D <in.sql && cat once.txt out.txt"}},
    {"short_form",
     {.prepare = FIRST, .run = "$T $D --device cpu --format markdown 'SELECT * FROM shops ORDER BY k'"}},
    {"staged",
     {.prepare = FIRST,
      .run = "$T sql --device cpu --threads 2 --staged --rows 5 --plan-cache 0 --format json --db $D "
             "\"SELECT city, "
             "sum(paid)" JOIN "WHERE note LIKE 'note%' GROUP BY city ORDER BY city\""}},
    {"load_json",
     {.prepare = "printf '{\"k\":%d,\"name\":\"one\",\"city\":\"%s\"}\\n' 1 x 4 y 7 z >shops.json",
      .run = LOAD "shops=shops.json",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'SELECT * FROM shops'",
      .output_may_vary = true}},
    {"load_options", /* rows that are left out, forms of numbers and dates, sorting, levels and indexes */
     {.prepare = "sed -e '1,5s/2024-0/2024-x/' -e 's/\\.\\([0-9][0-9]\\),/.\\1 EUR,/' sales.csv >odd.csv",
      .run = LOAD
      "--max-errors 9 --reject bad.csv --currency 'paid=EUR' --sort-by day --index shop,note --levels "
      "shops=city,name --dangling null --round shops=shops.csv sales=odd.csv",
      .observe = STATE " && cat bad.csv",
      .output_may_vary = true}},
    {"infer_json",
     {.prepare = "printf '{\"k\":%d,\"at\":\"2024-01-0%d 10:00:00\"}\\n' 1 1 4 2 7 3 >rows.json",
      .run = "$T load --infer rows.json"}},
    {"index_flat",
     {.prepare = FIRST,
      .run = "$T index create --format flat --bins 4 --db $D sales.paid",
      .observe = FORM,
      .output_may_vary = true}},
    {"drop_view",
     {.prepare = FIRST " && " ASK "'CREATE VIEW v AS SELECT shop, paid FROM sales'",
      .run = ASK "'DROP VIEW v'",
      .observe = "$T check --db $D > checked 2>&1 && " ASK "'SHOW VIEWS'",
      .output_may_vary = true}},
    {"compact_deleted",
     {.prepare =
          FIRST " && " LOAD "--append sales=more.csv && $T delete --device cpu --db $D sales 'id % 3 = 1'",
      .run = "$T compact --threads 2 --db $D",
      .observe = FORM,
      .ask = ASKED,
      .output_may_vary = true}},
};

#define OPERATIONS (sizeof operations / sizeof *operations)

static const struct named_fault kinds[] = {
    {"memory", &faults_of_memory},
    {"memory_forever", &faults_of_memory_forever},
    {"threads", &faults_of_threads},
    {"calls", &faults_of_calls},
    {"calls_forever", &faults_of_calls_forever},
    {"descriptors", &faults_of_descriptors},
    {"access", &faults_of_access},
    {"space", &faults_of_space},
    {"signals", &faults_of_signals},
    {"short", &faults_of_short_moves},
    {"kill", &faults_that_kill},
    {"kill_beside_readers", &faults_that_kill_beside_readers},
    {"power", &faults_of_power},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* The first ones, which are enough for a sample of an operation that changes nothing; of the others, one in so many for a sample
 * of one that does, each operation with other ones. */
#define KINDS_SAMPLED 4
#define OTHERS_APART  3

/* ---- Their files ---- */

/* Small ones, or TESSERA_FAULTS_ROWS in three parts, and what is appended to them. */
static void write_all_sales(void)
{
    const char *const wanted = getenv("TESSERA_FAULTS_ROWS");
    const unsigned rows = wanted ? (unsigned)strtoul(wanted, NULL, 10) : 2000, part = wanted ? rows / 4 : 0;
    star_write_sales("sales.csv", 0, rows - 2 * part);
    star_write_sales("part1.csv", rows - 2 * part, part);
    star_write_sales("part2.csv", rows - part, part);
    star_write_sales("more.csv", rows, wanted ? part : 1500);
    star_write_sales("again.csv", rows + (wanted ? part : 1500), wanted ? rows / 8 : 700);
    setenv("PARTS", wanted ? "part1.csv part2.csv" : "", 1);
    setenv("SALES", wanted ? "sales.csv,part1.csv,part2.csv" : "sales.csv", 1);
}

static int files_make(void **state)
{
    setup(state);
    star_write_shops();
    FILE *const rows = file_beside("rows.sql");
    fputs(
        "CREATE TABLE t (flag BOOLEAN, number INTEGER, big BIGINT, day DATE, price DECIMAL(15,2), word TEXT, "
        "line TEXT);\n",
        rows);
    fclose(rows);
    write_all_sales();
    faults_shell("gzip -k sales.csv", &faults_seen);
    assert_int_equal(faults_seen.exit_code, 0);
    return 0;
}

/* ---- Every operation with every fault ---- */

static void runs(void **state)
{
    campaign_run(*state);
}

static bool is_sampled(size_t operation, size_t kind)
{
    return kind < KINDS_SAMPLED ||
           (operations[operation].operation.observe && (operation + kind) % OTHERS_APART == 0);
}

int main(int count, char **arguments)
{
    static struct campaign campaigns[OPERATIONS * KINDS];
    static struct CMUnitTest tests[OPERATIONS * KINDS];
    size_t used = 0;
    for (size_t c = 0; c < OPERATIONS * KINDS; c++) {
        const struct named_operation *const operation = &operations[c / KINDS];
        const struct named_fault *const kind = &kinds[c % KINDS];
        if (!operation->operation.observe && kind->fault->of_changes)
            continue;
        if (!getenv("TESSERA_FAULTS") && (operation->operation.slow || !is_sampled(c / KINDS, c % KINDS)))
            continue;
        if (!operation->operation.ask && kind->fault->readers)
            continue;
        tests[used] = campaign_test(&campaigns[used], operation, kind, runs);
        used++;
    }
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return _cmocka_run_group_tests("faults", tests, used, files_make, teardown);
}
