-- A city's taxi trips, as taxi.sh has them.

--: ask the files
SELECT Borough, count(*) AS trips, sum(total_amount::DECIMAL(9,2)) AS paid, sum(tip_amount::DECIMAL(9,2)) AS tips
    FROM 'trips-2024-0[123].parquet' JOIN 'zones.csv' ON PULocationID = LocationID GROUP BY ALL ORDER BY trips DESC;
--: load
CREATE TABLE zones AS FROM 'zones.csv';
CREATE TABLE trips AS SELECT * REPLACE (fare_amount::DECIMAL(9,2) AS fare_amount, extra::DECIMAL(9,2) AS extra,
    tip_amount::DECIMAL(9,2) AS tip_amount, tolls_amount::DECIMAL(9,2) AS tolls_amount,
    total_amount::DECIMAL(9,2) AS total_amount) FROM 'trips-2024-0[123].parquet';
--: ask
SELECT Borough, count(*) AS trips, sum(total_amount) AS paid, sum(tip_amount) AS tips
    FROM trips JOIN zones ON PULocationID = LocationID GROUP BY ALL ORDER BY trips DESC;
--: ask more
SELECT extract(hour FROM tpep_pickup_datetime) AS hour, count(*) AS trips,
    quantile_cont(trip_distance, 0.5) AS miles FROM trips WHERE payment_type = 1 GROUP BY ALL ORDER BY hour LIMIT 5;
--: append
INSERT INTO trips FROM 'trips-2024-04.parquet';
--: replace
BEGIN;
DELETE FROM trips WHERE tpep_pickup_datetime >= '2024-04-01';
INSERT INTO trips FROM 'trips-2024-04-corrected.parquet';
COMMIT;
--: delete
DELETE FROM trips WHERE total_amount < 0;
--: copy out
COPY (SELECT Borough, tpep_pickup_datetime::DATE AS day, count(*) AS trips,
    sum(total_amount) AS paid FROM trips JOIN zones ON PULocationID = LocationID
    GROUP BY ALL ORDER BY ALL) TO 'days.csv';
COPY trips TO 'trips.parquet';
