# A web site's logs: CSV files in gzip, whose times have the offsets of the servers' zones. The database keeps the instants.

#: ask the files
tessera sql "SELECT region, status, count(*) AS requests, quantile_cont(millis, 0.99) AS p99
    FROM 'access-2024-0[123].csv.gz' JOIN 'servers.csv' USING (server) GROUP BY ALL ORDER BY ALL"
#: infer
tessera load --infer 'access=access-2024-0[123].csv.gz' servers.csv >logs.sql
#: load
tessera load --db logs.db --schema logs.sql 'access=access-2024-0[123].csv.gz' servers=servers.csv
#: ask
tessera sql --db logs.db "SELECT region, status, count(*) AS requests, quantile_cont(millis, 0.99) AS p99
    FROM access JOIN servers USING (server) GROUP BY ALL ORDER BY ALL"
#: ask more
tessera sql --db logs.db "SELECT path, count(*) AS requests, count(DISTINCT client) AS clients, sum(bytes) AS bytes
    FROM access WHERE path LIKE '/product/%' AND agent NOT LIKE '%bot%' GROUP BY ALL ORDER BY requests DESC, path LIMIT 5"
#: ask for local hours
tessera sql --db logs.db "SELECT extract(hour FROM seen AT TIME ZONE 'Europe/Berlin') AS hour, count(*) AS requests
    FROM access JOIN servers USING (server) WHERE region = 'Europe' GROUP BY ALL ORDER BY ALL LIMIT 5"
#: append
tessera load --db logs.db --append access=access-2024-04.csv.gz
#: replace
tessera load --db logs.db --append --replace-where "seen >= '2024-04-01'" access=access-2024-04-corrected.csv.gz
#: delete
tessera sql --db logs.db "DELETE FROM access WHERE agent LIKE 'curl/%' AND status = 200"
#: copy out
tessera sql --db logs.db "COPY (SELECT server, cast(seen AS DATE) AS day, count(*) AS requests,
    sum(CASE WHEN status = 500 THEN 1 ELSE 0 END) AS errors FROM access GROUP BY ALL ORDER BY ALL) TO 'days.csv'"
tessera sql --db logs.db "COPY access TO 'access.parquet'"
