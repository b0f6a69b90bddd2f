# A city's taxi trips: Parquet files with money in doubles, and a table of zones.

#: ask the files
tessera sql "SELECT Borough, count(*) AS trips, sum(cast(total_amount AS DECIMAL(9,2))) AS paid,
    sum(cast(tip_amount AS DECIMAL(9,2))) AS tips FROM 'trips-2024-0[123].parquet'
    JOIN 'zones.csv' ON PULocationID = LocationID GROUP BY ALL ORDER BY trips DESC"
#: infer
tessera load --infer 'trips=trips-2024-0[123].parquet' zones.csv >taxi.sql
#: load
sed -i 's/\(_amount\|extra\) DOUBLE/\1 DECIMAL(9,2)/' taxi.sql # sums of money are exact
tessera load --db taxi.db --schema taxi.sql --round 'trips=trips-2024-0[123].parquet' zones=zones.csv
#: ask
tessera sql --db taxi.db "SELECT Borough, count(*) AS trips, sum(total_amount) AS paid, sum(tip_amount) AS tips
    FROM trips JOIN zones ON PULocationID = LocationID GROUP BY ALL ORDER BY trips DESC"
#: ask more
tessera sql --db taxi.db "SELECT extract(hour FROM tpep_pickup_datetime) AS hour, count(*) AS trips,
    quantile_cont(trip_distance, 0.5) AS miles FROM trips WHERE payment_type = 1 GROUP BY ALL ORDER BY hour LIMIT 5"
#: append
tessera load --db taxi.db --append --round trips=trips-2024-04.parquet
#: replace
tessera load --db taxi.db --append --round --replace-where "tpep_pickup_datetime >= '2024-04-01'" \
    trips=trips-2024-04-corrected.parquet
#: delete
tessera sql --db taxi.db "DELETE FROM trips WHERE total_amount < 0"
#: copy out
tessera sql --db taxi.db "COPY (SELECT Borough, cast(tpep_pickup_datetime AS DATE) AS day, count(*) AS trips,
    sum(total_amount) AS paid FROM trips JOIN zones ON PULocationID = LocationID
    GROUP BY ALL ORDER BY ALL) TO 'days.csv'"
tessera sql --db taxi.db "COPY trips TO 'trips.parquet'"
