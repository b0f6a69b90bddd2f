/* threads_statements.h: the tables and the statements of test_threads_together.c: one of each operator. */
#ifndef TESSERA_TESTS_ENGINE_LIBRARY_THREADS_STATEMENTS_H
#define TESSERA_TESTS_ENGINE_LIBRARY_THREADS_STATEMENTS_H

static const char script[] =
    "CREATE TABLE shops (shop INT PRIMARY KEY, town TEXT, region TEXT);\n"
    "CREATE TABLE sales (shop INT REFERENCES shops, day DATE, pieces INT, paid DECIMAL(9,2), note TEXT, rate "
    "DOUBLE);\n"
    "CREATE TABLE visits (shop INT, people INT);\n"
    "CREATE TABLE events (v INT, who TEXT);\n";

/* %s is the folder of the files. */
static const char *const forms[] = {
    "SELECT sum(pieces), count(*), min(paid), max(rate) FROM sales",
    "SELECT region, sum(paid) FROM sales JOIN shops ON sales.shop = shops.shop GROUP BY region ORDER BY 1",
    "SELECT town, count(DISTINCT pieces), median(paid) FROM sales JOIN shops ON sales.shop = shops.shop "
    "WHERE note LIKE '%%7' GROUP BY town ORDER BY 1",
    "SELECT note, day, shop, count(*), sum(rate) FROM sales GROUP BY note, day, shop ORDER BY 4 DESC, 1, 2, "
    "3 "
    "LIMIT 20",
    "SELECT pieces, day, paid, note FROM sales ORDER BY paid DESC, day, pieces, note",
    "SELECT upper(note) || shop, length(note) FROM sales WHERE pieces = 3 ORDER BY 1 LIMIT 40",
    "SELECT v.shop, x.n FROM visits v JOIN (SELECT shop, count(*) n FROM sales GROUP BY shop) x ON x.shop = "
    "v.shop ORDER BY 1, 2",
    "SELECT a.pieces, count(*) FROM sales a JOIN sales b ON a.pieces = b.pieces AND a.day < b.day "
    "WHERE a.shop < 4 AND b.shop > 45 GROUP BY 1 ORDER BY 1",
    "SELECT v.shop, s.town FROM visits v FULL JOIN shops s ON v.shop = s.shop AND v.people > 50 ORDER BY 1, "
    "2",
    "SELECT shop, pieces, sum(pieces) OVER (PARTITION BY shop ORDER BY day, pieces, note ROWS BETWEEN 3 "
    "PRECEDING AND CURRENT ROW) s FROM sales ORDER BY 1, 3, 2",
    "SELECT day, rank() OVER (ORDER BY count(*) DESC), lag(count(*)) OVER (ORDER BY day) FROM sales GROUP BY "
    "day ORDER BY day",
    "SELECT count(*) FROM sales WHERE shop IN (SELECT shop FROM visits WHERE people > 50) OR note = 'n7'",
    "SELECT shop FROM shops WHERE NOT EXISTS (SELECT 1 FROM visits WHERE visits.shop = shops.shop AND people "
    "> "
    "(SELECT avg(people) FROM visits w WHERE w.shop = shops.shop)) ORDER BY 1",
    "SELECT count(*) FROM shops WHERE shop NOT IN (SELECT shop FROM visits WHERE people < 30)",
    "SELECT region FROM shops EXCEPT SELECT town FROM shops UNION SELECT note FROM sales WHERE pieces > 98 "
    "ORDER BY 1",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT sum(i), count(*) "
    "FROM "
    "n JOIN sales ON pieces = i",
    "SELECT count(*), sum(pieces) FROM sales WHERE pieces BETWEEN 40 AND 45 AND note <> 'n3'",
    "SELECT DISTINCT note, pieces FROM sales ORDER BY 1, 2",
    "SELECT s.town, count(*), sum(f.people) FROM '%s/visits.csv' f (shop, people) JOIN shops s ON f.shop = "
    "s.shop GROUP BY 1 ORDER BY 1",
    "SELECT count(*), sum(pieces), min(note) FROM '%s/sales.parquet' WHERE pieces > 20",
    "SELECT grouping(region), region, town, sum(paid) FROM sales JOIN shops ON sales.shop = shops.shop GROUP "
    "BY ROLLUP (region, town) ORDER BY 1, 2, 3",
    "SELECT day, count(*) FROM sales WHERE pieces < ? AND note <> ? GROUP BY day ORDER BY day",
};
#define STATEMENTS (sizeof forms / sizeof *forms)
#define EVENTS     "SELECT count(*) % 2, coalesce(sum(v), 0) FROM events"

#endif
