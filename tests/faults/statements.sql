-- What test_library_faults.c asks with failing calls. A line "-- name" begins a group, whose statements are name_1, name_2 ...;
-- a number of bytes after the name is the memory that they may take.

-- scan
SELECT count(*) FROM sales;
SELECT id, shop, paid, day, at, note, weight, online, doc, seen, big FROM sales WHERE id < 40;
SELECT id FROM sales WHERE paid BETWEEN 100 AND 200 AND day >= DATE '2024-03-01' AND online;
SELECT id FROM sales WHERE shop IN (4, 7, 22, 58) OR note IN ('note 1', 'zwei', '3');
SELECT id FROM sales WHERE note IS NULL OR weight IS NULL OR NOT online;
SELECT id FROM sales WHERE (shop, note) IN ((4, 'note 8'), (7, '14')) OR big = ANY (ARRAY[7, 1000003]);
SELECT count(*), min(id), max(day) FROM sales;
SELECT * EXCLUDE (doc, note) REPLACE (paid / 100 AS paid) RENAME (day AS date) FROM sales WHERE id % 97 = 3;
SELECT 7 * 6, 'text', DATE '2024-02-29', NULL, 1.5, 1e3, TRUE;
SELECT s.id, shops.name FROM sales s JOIN shops ON s.shop = shops.k WHERE shops.city = 'city 3' LIMIT 9;
SELECT 'none' FROM sales WHERE FALSE;
FROM visits WHERE people > 50;
SELECT DISTINCT city FROM shops;
SELECT id FROM sales WHERE big IN (SELECT a FROM pairs WHERE b < 3);
SELECT id FROM sales WHERE weight > 3 AND weight * 2 < 9 OR weight IS DISTINCT FROM weight;

-- arithmetic
SELECT id + shop, paid * 2.5, paid / 3, paid % 7, -id, id // 3, abs(paid - 500), sign(weight - 2) FROM sales WHERE id < 60;
SELECT round(paid, 1), floor(paid), ceil(weight), trunc(paid), mod(id, 7), greatest(id, shop, 20), least(paid, 7) FROM sales
    WHERE id < 60;
SELECT sqrt(weight), exp(weight), ln(weight), power(weight, 2), log(2, weight), cbrt(weight), sin(weight), atan2(weight, 2)
    FROM sales WHERE id < 60;
SELECT id & 12, id | 3, xor(id, 5), ~id, bit_count(id), id << 3, id >> 1, gcd(id, 12), lcm(id, 5) FROM sales WHERE id < 60;
SELECT big * 3, big + id FROM sales WHERE big * 3 > 100 AND id < 100;
SELECT sum(paid * (1 - weight / 10)), avg(paid + id), sum(big) FROM sales;
SELECT isnan(weight), isfinite(weight), weight / 0, 5 % 0, hash(id, note, paid) FROM sales WHERE id < 60;
SELECT typeof(paid), typeof(id + weight), coalesce(note, 'none'), nullif(shop, 4), ifnull(weight, 0) FROM sales WHERE id < 30;
SELECT sum(a * b) FROM pairs WHERE a * b <> 12 AND a - b > -100000;

-- case
SELECT CASE WHEN paid > 700 THEN 'high' WHEN paid > 300 THEN note ELSE 'low' END, count(*) FROM sales GROUP BY 1;
SELECT CASE shop WHEN 4 THEN 1 WHEN 7 THEN 2 END, if(online, paid, 0), iif(weight > 2, weight, NULL) FROM sales WHERE id < 50;
SELECT sum(CASE WHEN online THEN paid ELSE 0 END), count_if(weight > 1), sum(paid) FILTER (WHERE shop > 9) FROM sales;
SELECT id FROM sales WHERE CASE WHEN note LIKE 'n%' THEN paid > 500 WHEN weight > 2 THEN online ELSE id % 3 = 0 END;

-- text
SELECT id FROM sales WHERE note LIKE 'note 1%' AND doc NOT LIKE '%_7%';
SELECT id FROM sales WHERE note ILIKE 'NOTE %3' OR doc ILIKE '%"A"%1_%';
SELECT upper(note) || '!' || id, lower(doc), length(note), reverse(note), repeat(note, 3), initcap(note) FROM sales WHERE id < 60;
SELECT substr(note, 2, 3), left(note, 2), right(doc, 3), trim(note), replace(note, 'o', '00'), lpad(note, 12, '*') FROM sales
    WHERE id < 60;
SELECT split_part(name, ' ', 2), strpos(name, 'p'), translate(city, 'cit', 'CIT'), levenshtein(name, city), ascii(city) FROM shops;
SELECT concat(note, paid, day), concat_ws('-', note, shop, at), chr(65 + k) FROM sales, shops WHERE shop = k AND id < 60;
SELECT note || shop, count(*) FROM sales GROUP BY note || shop ORDER BY 1;
SELECT note || id AS t, weight::text FROM sales ORDER BY t DESC LIMIT 30;
SELECT max(note || paid), min(day::text), count(DISTINCT doc || note) FROM sales;
SELECT id FROM sales WHERE starts_with(note, 'no') AND ends_with(doc, '}') AND contains(doc, '"b"') AND note || id > 'note 11';
SELECT to_char(at, 'FMDay DDth Month YYYY HH24:MI'), strftime(day, '%d.%m.%Y %A') FROM sales WHERE id < 40;
SELECT city || name, count(*) FROM sales JOIN shops ON shop = k GROUP BY city || name HAVING count(*) > 90;

-- regular
SELECT id FROM sales WHERE note ~ '^n.*[37]$';
SELECT id FROM sales WHERE note ~* 'NOTE 4' OR doc !~ '[0-9]{3}';
SELECT regexp_extract(note, '(n.*?) ([0-9]+)(?!9)', 2), regexp_replace(doc, '([0-9])', '<\1>', 'g') FROM sales WHERE id < 60;
SELECT regexp_replace(note, '[aeiou]', '', 'g') AS r, count(*) FROM sales GROUP BY r ORDER BY r;
SELECT id FROM sales WHERE regexp_matches(note || id, '1.*2.*3');
SELECT id FROM sales WHERE note ~ ('^' || left(note, 1)) AND id < 300;

-- cast
SELECT CAST(paid AS BIGINT), paid::DOUBLE, id::DECIMAL(12,2), day::TIMESTAMP, at::DATE, id::VARCHAR, online::VARCHAR FROM sales
    WHERE id < 60;
SELECT TRY_CAST(note AS BIGINT), CAST(note AS DOUBLE), note::DATE, '12'::INTEGER, weight::DECIMAL(8,3), id::BOOLEAN FROM sales
    WHERE id < 60;
SELECT seen::TIMESTAMP, seen::DATE, at::TIMESTAMPTZ, seen::VARCHAR, CAST(weight AS VARCHAR), big::text FROM sales WHERE id < 60;
SELECT sum(CAST(note AS INTEGER)), count(TRY_CAST(doc AS DATE)) FROM sales;

-- date
SELECT extract(year FROM day), month(day), quarter(at), week(day), dayofweek(at), hour(at), epoch(at), yearweek(day) FROM sales
    WHERE id < 60;
SELECT date_trunc('month', day) AS m, count(*), sum(paid) FROM sales GROUP BY m ORDER BY m;
SELECT day + INTERVAL '1' MONTH, at - INTERVAL '3 hours', day - DATE '2024-01-01', date_diff('day', day, at), last_day(day)
    FROM sales WHERE id < 60;
SELECT id FROM sales WHERE day + 30 > DATE '2024-06-01' AND extract(dow FROM at) = 2;
SELECT strptime(strftime(at, '%Y/%m/%d %H:%M:%S'), '%Y/%m/%d %H:%M:%S'), try_strptime(note, '%Y') FROM sales WHERE id < 60;
SELECT seen AT TIME ZONE 'Europe/Berlin', timezone('America/New_York', at), extract(hour FROM seen) FROM sales WHERE id < 60;
SELECT date_trunc('day', seen AT TIME ZONE 'Asia/Tokyo') AS d, count(*) FROM sales GROUP BY d ORDER BY d;
SELECT monthname(day), dayname(at), count(*) FROM sales GROUP BY 1, 2 ORDER BY 3, 1, 2;
SELECT make_date(2024, month(day), 1), to_timestamp(id), epoch_ms(at) FROM sales WHERE id < 30;

-- join
SELECT city, count(*), sum(paid) FROM sales JOIN shops ON shop = k GROUP BY city ORDER BY city;
SELECT a.name, b.name FROM shops a LEFT JOIN shops b ON a.boss = b.k ORDER BY 1;
SELECT count(*), sum(people) FROM sales s, visits v WHERE s.shop = v.shop AND s.day > v.since;
SELECT a.k, b.city, count(*) FROM shops a LEFT JOIN shops b ON a.city < b.city GROUP BY a.k, b.city ORDER BY 1, 2;
SELECT v.shop, x.n FROM visits v FULL JOIN (VALUES (1, 'one'), (4, 'four'), (777, 'none')) x (k, n) ON v.shop = x.k ORDER BY 1, 2;
SELECT count(*), max(p.t) FROM sales s JOIN pairs p ON s.big = p.a;
SELECT count(*), sum(p.b) FROM pairs p RIGHT JOIN sales s ON s.big = p.a AND p.b > s.id;
SELECT count(*) FROM visits a CROSS JOIN visits b WHERE a.people + b.people = 40;
SELECT s.id, q.price FROM sales s JOIN quotes q ON s.note = q.name AND q.price < s.paid WHERE s.id < 300 ORDER BY 1, 2;
SELECT k, people FROM shops JOIN (SELECT shop AS k, people FROM visits) v USING (k) ORDER BY 1, 2;
SELECT count(*) FROM sales LEFT JOIN shops ON shop = k AND opened < DATE '2001-01-01' WHERE city IS NULL;
SELECT a.n, b.n FROM (SELECT note, count(*) n FROM sales GROUP BY note) a JOIN (SELECT name, count(*) n FROM quotes GROUP BY name) b
    ON a.note = b.name ORDER BY 1, 2;
SELECT count(*), min(a.b) FROM pairs a JOIN pairs b ON a.a = b.b JOIN visits ON a.b = people;
SELECT l.k, v.n FROM shops l, LATERAL (SELECT count(*) AS n FROM visits WHERE visits.shop = l.k) v ORDER BY 1;
SELECT s.note, p.t FROM (SELECT DISTINCT note FROM sales) s JOIN pairs p ON s.note || '!' = p.t || '!' ORDER BY 1, 2;

-- semi
SELECT count(*) FROM sales WHERE shop IN (SELECT shop FROM visits WHERE people > 30);
SELECT count(*) FROM sales WHERE shop NOT IN (SELECT shop FROM visits WHERE people > 30);
SELECT k FROM shops WHERE EXISTS (SELECT 1 FROM visits WHERE visits.shop = k AND people > 20) ORDER BY k;
SELECT k FROM shops WHERE NOT EXISTS (SELECT 1 FROM sales WHERE sales.shop = k AND paid > area) ORDER BY k;
SELECT count(*) FROM sales WHERE (shop, note) IN (SELECT shop, note FROM sales WHERE paid > 900);
SELECT count(*) FROM sales WHERE note IN (SELECT name FROM quotes) OR weight > 4;
SELECT count(*) FROM sales WHERE paid > ALL (SELECT people FROM visits) AND big = ANY (SELECT a FROM pairs);
SELECT count(*) FROM pairs WHERE t NOT IN (SELECT note FROM sales WHERE note IS NOT NULL);

-- correlated
SELECT id FROM sales s WHERE paid > (SELECT avg(paid) FROM sales t WHERE t.shop = s.shop) AND id < 300 ORDER BY id;
SELECT k, (SELECT max(paid) FROM sales WHERE shop = k), (SELECT count(*) FROM visits WHERE visits.shop = k AND people > area)
    FROM shops ORDER BY k;
SELECT k FROM shops s WHERE (SELECT count(*) FROM visits v WHERE v.shop = s.k) > 2 ORDER BY k;
SELECT k, (SELECT string_agg(people::text, ',' ORDER BY people) FROM visits v WHERE v.shop = s.k) FROM shops s ORDER BY k;
SELECT k FROM shops s WHERE EXISTS (SELECT 1 FROM visits v WHERE v.people < s.area AND v.shop <> s.k) ORDER BY k;
SELECT (SELECT max(area) FROM shops), count(*) FROM visits WHERE people > (SELECT avg(people) FROM visits);

-- group
SELECT shop, count(*), sum(paid), min(day), max(note) FROM sales GROUP BY shop ORDER BY shop;
SELECT big, count(*), sum(paid) FROM sales GROUP BY big ORDER BY 2 DESC, 1 LIMIT 20;
SELECT a, sum(b), count(*) FROM pairs GROUP BY a ORDER BY 2 DESC, 1 LIMIT 15;
SELECT a % 100000, b, t, count(*) FROM pairs GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT 15;
SELECT weight, count(*) FROM sales GROUP BY weight ORDER BY weight;
SELECT note, online, day, count(DISTINCT shop) FROM sales GROUP BY note, online, day ORDER BY 4 DESC, 1, 2, 3 LIMIT 20;
SELECT city, name, sum(paid) FROM sales JOIN shops ON shop = k GROUP BY ROLLUP (city, name) ORDER BY 1, 2;
SELECT shop, online, grouping(shop, online), count(*) FROM sales GROUP BY CUBE (shop, online) ORDER BY 3, 1, 2;
SELECT day, note, count(*) FROM sales GROUP BY GROUPING SETS ((day), (note), ()) HAVING count(*) > 30 ORDER BY 3, 1, 2;
SELECT DISTINCT shop, online FROM sales ORDER BY 1, 2;
SELECT DISTINCT ON (shop) shop, id, paid FROM sales ORDER BY shop, paid DESC;
SELECT count(DISTINCT note), count(DISTINCT big), sum(DISTINCT shop), avg(DISTINCT paid) FROM sales;
SELECT shop, stddev(paid), var_pop(weight), corr(paid, id), covar_samp(paid, shop) FROM sales GROUP BY shop ORDER BY shop;
SELECT shop, arg_max(note, paid), arg_min(id, weight), mode(note), any_value(day) FROM sales GROUP BY shop ORDER BY shop;
SELECT shop, bool_and(online), bool_or(online), bit_and(id), bit_or(id), bit_xor(id) FROM sales GROUP BY shop ORDER BY shop;
SELECT sum(weight), avg(weight), min(weight), max(weight), variance(weight) FROM sales;
SELECT seen, count(*) FROM sales GROUP BY ALL ORDER BY ALL LIMIT 10;
SELECT shop % 4 AS p, sum(n) FROM (SELECT shop, count(*) AS n FROM sales GROUP BY shop) t GROUP BY p ORDER BY p;

-- quantile
SELECT shop, median(paid), quantile_cont(weight, 0.9), quantile_disc(day, 0.25) FROM sales GROUP BY shop ORDER BY shop;
SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY paid), median(b), quantile_disc(note, 0.5) FROM sales, (SELECT max(b) b FROM pairs) p;
SELECT shop, string_agg(note, ',' ORDER BY id), string_agg(DISTINCT note, '/') FROM sales GROUP BY shop ORDER BY shop;
SELECT string_agg(name, '; ') FROM shops;
SELECT approx_count_distinct(big), approx_count_distinct(note), approx_quantile(paid, 0.9) FROM sales;
SELECT shop, approx_quantile(weight, 0.5), approx_count_distinct(id) FROM sales GROUP BY shop ORDER BY shop;
SELECT t, median(a), count(*) FROM pairs GROUP BY t ORDER BY t LIMIT 20;

-- set
SELECT shop FROM sales UNION SELECT shop FROM visits ORDER BY 1;
SELECT shop FROM visits UNION ALL SELECT k FROM shops ORDER BY 1;
SELECT note FROM sales EXCEPT SELECT name FROM quotes ORDER BY 1;
SELECT shop FROM sales EXCEPT ALL SELECT shop FROM visits ORDER BY 1 LIMIT 30;
SELECT k FROM shops INTERSECT SELECT shop FROM visits WHERE people > 20 ORDER BY 1;
SELECT note, paid FROM sales INTERSECT ALL SELECT name, price FROM quotes ORDER BY 1, 2;
(SELECT 1 AS a, 'x' AS b UNION SELECT 2, NULL) UNION ALL VALUES (3, 'z') ORDER BY a;
SELECT count(*) FROM (SELECT a FROM pairs UNION SELECT b FROM pairs UNION SELECT id FROM sales) u;

-- window
SELECT id, row_number() OVER (PARTITION BY shop ORDER BY paid), rank() OVER (ORDER BY shop), dense_rank() OVER (ORDER BY note)
    FROM sales ORDER BY id LIMIT 30;
SELECT id, percent_rank() OVER w, cume_dist() OVER w, ntile(7) OVER w FROM sales WINDOW w AS (PARTITION BY online ORDER BY day, id)
    ORDER BY id LIMIT 30;
SELECT id, lag(paid) OVER w, lead(note, 2, 'none') OVER w, first_value(day) OVER w, last_value(weight) OVER w, nth_value(id, 3) OVER w
    FROM sales WINDOW w AS (PARTITION BY shop ORDER BY id) ORDER BY id LIMIT 30;
SELECT id, sum(paid) OVER (PARTITION BY shop ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING) FROM sales ORDER BY 1 LIMIT 30;
SELECT id, avg(weight) OVER (ORDER BY day RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW), max(note) OVER (ORDER BY shop
    GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM sales ORDER BY 1 LIMIT 30;
SELECT id, lag(weight) IGNORE NULLS OVER (ORDER BY id), count(*) FILTER (WHERE online) OVER (PARTITION BY note) FROM sales
    ORDER BY 1 LIMIT 30;
SELECT id, median(paid) OVER (PARTITION BY shop ORDER BY id ROWS 5 PRECEDING), count(DISTINCT note) OVER (PARTITION BY shop)
    FROM sales WHERE id < 300 ORDER BY id;
SELECT id, string_agg(note, ',') OVER (PARTITION BY shop ORDER BY id ROWS 2 PRECEDING), mode(note) OVER (PARTITION BY day) FROM sales
    WHERE id < 200 ORDER BY id;
SELECT shop, id FROM sales QUALIFY row_number() OVER (PARTITION BY shop ORDER BY paid DESC, id) = 1 ORDER BY shop;
SELECT count(*), sum(paid) FROM (SELECT paid, row_number() OVER (PARTITION BY id - id % 4 ORDER BY paid DESC) AS n FROM sales) t
    WHERE n = 1;
SELECT shop, sum(sum(paid)) OVER (ORDER BY shop), rank() OVER (ORDER BY count(*) DESC) FROM sales GROUP BY shop ORDER BY shop;
SELECT id, bool_and(online) OVER (ORDER BY id ROWS 3 PRECEDING), stddev(paid) OVER (PARTITION BY shop), arg_max(id, paid) OVER
    (PARTITION BY shop), approx_count_distinct(note) OVER (PARTITION BY shop) FROM sales WHERE id < 200 ORDER BY id;
SELECT a, sum(b) OVER (PARTITION BY a % 10 ORDER BY b, a) AS s FROM pairs ORDER BY s DESC, a LIMIT 10;

-- asof
SELECT count(*), sum(q.price) FROM sales s ASOF JOIN quotes q ON s.note = q.name AND s.at >= q.at;
SELECT s.id, q.price FROM sales s ASOF LEFT JOIN quotes q ON s.at < q.at WHERE s.id < 100 ORDER BY 1;
SELECT count(*) FROM sales ASOF JOIN (SELECT at, name AS note FROM quotes) q USING (note, at);

-- pivot
PIVOT (SELECT shop, online, paid FROM sales) ON online IN (TRUE, FALSE) USING sum(paid) GROUP BY shop ORDER BY ALL;
PIVOT (SELECT city, note, paid FROM sales JOIN shops ON shop = k) ON substr(note, 1, 1) USING sum(paid), count(*) AS n
    GROUP BY city ORDER BY ALL;
SELECT * FROM (PIVOT visits ON shop) p ORDER BY ALL;

-- values
VALUES (1, 'a', 1.5), (2, NULL, 2.25);
SELECT x, y || '!' FROM (VALUES (1, 'a'), (2, 'b'), (NULL, 'c')) v (x, y) WHERE x IS NOT NULL ORDER BY x DESC;
SELECT count(*) FROM sales JOIN (VALUES (4), (7), (10)) v (s) ON shop = s;

-- recursive
WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 40) SELECT count(*), sum(n) FROM t;
WITH RECURSIVE up (k, top, depth) AS (SELECT k, boss, 0 FROM shops UNION ALL SELECT up.k, s.boss, depth + 1 FROM up JOIN shops s ON
    up.top = s.k WHERE depth < 8) SELECT k, max(depth) FROM up GROUP BY k ORDER BY k;
WITH RECURSIVE t (n, s) AS (SELECT 1, 'a' UNION SELECT n % 9 + 1, s || n FROM t WHERE n < 7) SELECT * FROM t ORDER BY 1, 2;

-- with
WITH a AS (SELECT shop, sum(paid) AS s FROM sales GROUP BY shop), b AS (SELECT shop, sum(people) AS p FROM visits GROUP BY shop)
    SELECT a.shop, s, p, s / p FROM a LEFT JOIN b ON a.shop = b.shop WHERE s > (SELECT avg(s) FROM a) ORDER BY 1;
WITH t AS (SELECT city, day, sum(paid) AS s FROM sales JOIN shops ON shop = k GROUP BY city, day) SELECT city, s, rank() OVER
    (PARTITION BY city ORDER BY s) FROM t WHERE s > (SELECT avg(s) FROM t) UNION SELECT name, NULL, 0 FROM shops ORDER BY 1, 2, 3;
SELECT count(*) FROM (SELECT id AS n, note AS m FROM sales WHERE online) t WHERE n % 2 = 0 AND m > 'n';
SELECT * FROM expensive ORDER BY id LIMIT 5;
SELECT city, sum(paid) FROM expensive JOIN shops ON shop = k GROUP BY city ORDER BY 1;

-- order
SELECT id, paid FROM sales ORDER BY paid DESC, id;
SELECT id, note, weight FROM sales ORDER BY note NULLS LAST, weight DESC NULLS FIRST, id LIMIT 25 OFFSET 7;
SELECT id FROM sales ORDER BY paid LIMIT 10;
SELECT id FROM sales WHERE online ORDER BY weight DESC, day LIMIT 10;
SELECT id, upper(note) AS u FROM sales ORDER BY length(u), u DESC, id LIMIT 40;
SELECT a, b, t FROM pairs ORDER BY t, b DESC, a LIMIT 50;
SELECT k FROM shops ORDER BY name LIMIT (SELECT count(*) / 4 FROM shops);
SELECT id FROM sales ORDER BY seen, at DESC, big FETCH FIRST 5 ROWS ONLY;

-- json
SELECT doc ->> 'a', doc -> 'b', json_extract_string(doc, '$.c[0]'), json_valid(doc) FROM sales WHERE id < 60;
SELECT doc ->> '$.c[1]' AS c, count(*) FROM sales WHERE json_valid(doc) GROUP BY c ORDER BY 1;
SELECT id FROM sales WHERE (doc ->> 'a')::INTEGER % 5 = 2 AND doc ->> 'b' LIKE 'w%';
SELECT CASE WHEN json_valid(note) THEN note -> 0 END, count(*) FROM sales GROUP BY 1 ORDER BY 1;

-- file
SELECT count(*), sum(c3) FROM 'sales.csv';
SELECT c3, count(*) FROM 'sales.csv' f JOIN shops ON f.c2 = k GROUP BY c3 ORDER BY 2 DESC, 1 LIMIT 5;
SELECT k, v FROM 'items.json' ORDER BY k LIMIT 5;
SELECT count(*), max(line) FROM 'rows.parquet';
SELECT count(*), min(word) FROM read_parquet('rows.parquet') WHERE number > 10;
SELECT count(*), sum(big) FROM 'rows.orc' WHERE flag;
SELECT count(*) FROM 'packed.csv.gz' p, visits WHERE p.c2 = visits.shop;
DESCRIBE 'rows.parquet';
SELECT * FROM 'sales.csv' LIMIT 3;

-- explain
EXPLAIN SELECT city, sum(paid) FROM sales JOIN shops ON shop = k GROUP BY city;
EXPLAIN SELECT count(*) FROM sales s JOIN pairs p ON s.big = p.a WHERE s.paid > (SELECT avg(price) FROM quotes);
EXPLAIN (FORMAT JSON) SELECT id, rank() OVER (ORDER BY paid) FROM sales WHERE note LIKE 'n%';
EXPLAIN ANALYZE SELECT city, median(paid) FROM sales JOIN shops ON shop = k WHERE online GROUP BY ROLLUP (city);
EXPLAIN ANALYZE SELECT count(*) FROM sales s JOIN pairs p ON s.big = p.a;
EXPLAIN (ANALYZE, FORMAT JSON) SELECT shop, sum(paid) OVER (PARTITION BY shop) FROM sales UNION SELECT k, area FROM shops;

-- show
SHOW TABLES;
SHOW VIEWS;
DESCRIBE sales;
DESCRIBE SELECT shop, sum(paid), note || '!' FROM sales GROUP BY ALL;
SUMMARIZE sales;
SUMMARIZE SELECT shop, weight, doc FROM sales;
SELECT column_name FROM (SUMMARIZE visits) s WHERE null_percentage > 0;

-- spilled 1200K
SELECT a, b, count(*), max(t) FROM pairs GROUP BY a, b ORDER BY 1, 2 LIMIT 5;
SELECT a, b, t FROM pairs ORDER BY t DESC, a, b;
SELECT count(*), sum(x.b) FROM (SELECT a, b, t FROM pairs) x JOIN (SELECT a, b, t FROM pairs) y ON x.a = y.a AND x.t = y.t;
SELECT count(*), sum(s) FROM (SELECT sum(b) OVER (PARTITION BY t ORDER BY a, b) AS s FROM pairs) w;
SELECT count(*) FROM (SELECT a, t FROM pairs UNION SELECT b, t FROM pairs) u;
SELECT count(*) FROM (SELECT a, b FROM pairs EXCEPT SELECT b, a FROM pairs) u;
SELECT t || a AS x, count(*) FROM pairs GROUP BY x ORDER BY x LIMIT 5;
SELECT count(*) FROM (SELECT DISTINCT a, b, t FROM pairs) d WHERE a NOT IN (SELECT b FROM pairs WHERE b > 100);

-- short 100K
SELECT a, b, t FROM pairs ORDER BY t DESC, a, b;
SELECT count(DISTINCT a), string_agg(t, ',') FROM pairs GROUP BY b % 2;

-- refused
SELECT nothing FROM sales;
SELECT id FROM nowhere;
SELECT FROM WHERE;
SELECT rond(paid) FROM sales;
SELECT count(*) FROM 'nowhere.csv';
SELECT strptime(note, '%Y-%m-%d') FROM sales;
SELECT doc -> 'a' FROM (SELECT note AS doc FROM sales) t;
SELECT -(big * 9000000000000) FROM sales WHERE big > 5;
SELECT id FROM sales WHERE note ~ '(((';
DROP TABLE sales;
UPDATE sales SET paid = 1;
SELECT day AT TIME ZONE 'Nowhere/Town' FROM sales;
SELECT 1; SELECT 2;
