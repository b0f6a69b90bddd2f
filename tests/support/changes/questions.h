/* questions.h: statements that SQLite answers, too, about the tables of world.h. */
#ifndef TESSERA_TESTS_SUPPORT_CHANGES_QUESTIONS_H
#define TESSERA_TESTS_SUPPORT_CHANGES_QUESTIONS_H

static const char *const questions[] = {
    "SELECT count(*), sum(pieces), min(note), max(note), min(weight), max(pieces), count(shop) FROM sales",
    "SELECT min(number), max(note), min(shop), max(shop), max(weight), count(pieces), min(good) FROM sales",
    "SELECT min(city), max(city), min(id), max(number), count(*) FROM sales LEFT JOIN shops ON shop = id",
    "SELECT min(code), max(code), min(kind), max(brand), count(*), count(price) FROM goods",
    "SELECT min(id), max(id), count(*), count(city), min(city), count(DISTINCT region) FROM shops",
    "SELECT min(boss), max(boss), count(*), count(boss), max(id) FROM staff",
    "SELECT max(price), min(price), min(kind), max(code) FROM sales JOIN goods ON good = code",
    "SELECT city, count(*), sum(weight), min(number) FROM sales JOIN shops ON shop = id GROUP BY city",
    "SELECT kind, brand, count(*), sum(pieces) FROM sales JOIN goods ON good = code GROUP BY kind, brand",
    "SELECT kind, brand, count(*), sum(price) FROM goods GROUP BY kind, brand",
    "SELECT brand, count(number) FROM goods LEFT JOIN sales ON good = code GROUP BY brand",
    "SELECT zone, kind, count(*) FROM sales JOIN shops ON shop = id JOIN regions ON region = name "
    "JOIN goods ON good = code WHERE brand < 4 GROUP BY zone, kind",
    "SELECT name, zone, count(id) FROM regions LEFT JOIN shops ON region = name GROUP BY name, zone",
    "SELECT id, city, zone FROM shops LEFT JOIN regions ON region = name AND zone > 1",
    "SELECT count(*) FROM sales LEFT JOIN goods ON good = code AND price > 50 WHERE code IS NULL",
    "SELECT note, count(*), max(number) FROM sales GROUP BY note",
    "SELECT number, shop, good, pieces, note, weight FROM sales WHERE number % 7 = 3 ORDER BY number LIMIT "
    "200",
    "SELECT count(*) FROM sales WHERE note >= 'note m' AND pieces IS NOT NULL",
    "SELECT id, count(number) FROM shops LEFT JOIN sales ON shop = id GROUP BY id",
    "SELECT count(DISTINCT shop), count(DISTINCT note), count(DISTINCT good) FROM sales WHERE weight < 60",
    "SELECT code, price FROM goods WHERE code NOT IN (SELECT good FROM sales WHERE good IS NOT NULL)",
    "SELECT count(*) FROM sales WHERE shop NOT IN (SELECT id FROM shops WHERE city = 'city 3')",
    "SELECT id FROM shops WHERE NOT EXISTS (SELECT * FROM sales WHERE shop = id AND pieces > 200)",
    "SELECT count(*) FROM sales WHERE good IN (SELECT code FROM goods WHERE kind = 'kind 1')",
    "SELECT e.id, m.id, m.name FROM staff e LEFT JOIN staff m ON e.boss = m.id",
    "SELECT e.id, m.name, t.id FROM staff e JOIN staff m ON e.boss = m.id JOIN staff t ON m.boss = t.id",
    "SELECT e.id FROM staff e JOIN staff m ON e.boss = m.id AND m.boss = e.id",
    "SELECT name, count(*) FROM sales JOIN staff ON seller = id WHERE boss IS NOT NULL GROUP BY name",
    "SELECT owner, count(*), sum(pieces) FROM sales JOIN lots ON sales.house = lots.house AND "
    "sales.lot = lots.lot GROUP BY owner",
    "SELECT lots.house, lots.lot, count(number) FROM lots LEFT JOIN sales ON sales.house = lots.house AND "
    "sales.lot = lots.lot GROUP BY lots.house, lots.lot",
    "SELECT count(*), min(city) FROM shops JOIN goods ON id = price",
    "SELECT shop, count(*) FROM sales WHERE shop BETWEEN 20 AND 60 GROUP BY shop",
    "SELECT good, count(*) FROM sales WHERE good = 'g7' OR good > 'g80' GROUP BY good",
    "SELECT count(*) FROM shops a JOIN shops b ON a.city = b.city WHERE a.id < b.id",
    "SELECT id, (SELECT max(pieces) FROM sales WHERE shop = id) FROM shops",
    "SELECT city FROM shops UNION SELECT note FROM sales UNION SELECT kind FROM goods",
    "SELECT region FROM shops EXCEPT SELECT name FROM regions WHERE zone = 2",
    "SELECT kind, sum(n) FROM (SELECT good AS g, pieces AS n FROM sales WHERE pieces > 10 UNION ALL "
    "SELECT good, 1 FROM sales WHERE pieces IS NULL) u JOIN goods ON g = code GROUP BY kind",
    "SELECT a.shop, count(*) FROM sales a JOIN sales b ON a.shop = b.shop WHERE a.number % 50 = 0 AND "
    "b.number % 50 = 1 GROUP BY a.shop",
    "SELECT count(*), sum(m) FROM sales JOIN (SELECT code AS c, max(price) AS m FROM goods GROUP BY code) x "
    "ON good = c",
    "SELECT id, id IN (SELECT shop FROM sales WHERE pieces > 250) FROM shops",
    "SELECT id, price FROM shops FULL JOIN goods ON id = price",
    "SELECT count(*) FROM sales WHERE EXISTS (SELECT 1 FROM goods WHERE code = good AND price > pieces)",
    "SELECT DISTINCT shop, city FROM sales JOIN shops ON shop = id WHERE number % 3 = 1",
    "SELECT max(id) FROM shops WHERE id NOT IN (SELECT boss FROM staff WHERE boss IS NOT NULL)",
    "SELECT kind, id, n FROM (SELECT kind, shop AS id, count(*) AS n FROM sales JOIN goods ON good = code "
    "GROUP BY kind, shop) WHERE n > 3",
};

/* Few, for each state that a reader sees. */
static const char *const totals[] = {
    "SELECT count(*), sum(pieces), sum(number), min(note) FROM sales",
    "SELECT count(*), sum(price), min(code), count(DISTINCT kind) FROM goods",
    "SELECT count(*), sum(id), max(city) FROM shops",
    "SELECT count(*), sum(price), sum(pieces) FROM sales JOIN goods ON good = code",
    "SELECT count(*), sum(boss) FROM staff",
    "SELECT count(*), count(number) FROM lots LEFT JOIN sales ON sales.house = lots.house AND "
    "sales.lot = lots.lot",
};

#endif
