-- A web site's logs, as logs.sh has them.

--: ask the files
SELECT region, status, count(*) AS requests, quantile_cont(millis, 0.99) AS p99
    FROM 'access-2024-0[123].csv.gz' JOIN 'servers.csv' USING (server) GROUP BY ALL ORDER BY ALL;
--: load
SET TimeZone = 'UTC';
CREATE TABLE servers AS FROM 'servers.csv';
CREATE TABLE access AS FROM 'access-2024-0[123].csv.gz';
--: ask
SELECT region, status, count(*) AS requests, quantile_cont(millis, 0.99) AS p99
    FROM access JOIN servers USING (server) GROUP BY ALL ORDER BY ALL;
--: ask more
SELECT path, count(*) AS requests, count(DISTINCT client) AS clients, sum(bytes) AS bytes
    FROM access WHERE path LIKE '/product/%' AND agent NOT LIKE '%bot%' GROUP BY ALL ORDER BY requests DESC, path LIMIT 5;
--: ask for local hours
SELECT extract(hour FROM seen AT TIME ZONE 'Europe/Berlin') AS hour, count(*) AS requests
    FROM access JOIN servers USING (server) WHERE region = 'Europe' GROUP BY ALL ORDER BY ALL LIMIT 5;
--: append
INSERT INTO access FROM 'access-2024-04.csv.gz';
--: replace
BEGIN;
DELETE FROM access WHERE seen >= '2024-04-01';
INSERT INTO access FROM 'access-2024-04-corrected.csv.gz';
COMMIT;
--: delete
DELETE FROM access WHERE agent LIKE 'curl/%' AND status = 200;
--: copy out
COPY (SELECT server, seen::DATE AS day, count(*) AS requests,
    sum(CASE WHEN status = 500 THEN 1 ELSE 0 END) AS errors FROM access GROUP BY ALL ORDER BY ALL) TO 'days.csv';
COPY access TO 'access.parquet';
