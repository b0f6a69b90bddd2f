#!/usr/bin/env bash
# make-data.sh FOLDER: the small star schema of docs/guide.md: a year of sales of three products in four shops, the
# same numbers on every machine.
set -euo pipefail
folder=${1:?usage: make-data.sh FOLDER}
mkdir -p "$folder"
cat >"$folder/star.sql" <<'SQL'
CREATE TABLE shops (
    name TEXT PRIMARY KEY,
    city TEXT,
    opened DATE
);
CREATE TABLE products (
    id INT PRIMARY KEY,
    label TEXT NOT NULL,
    price DECIMAL(8,2) NOT NULL
);
CREATE TABLE sales (
    day DATE NOT NULL,
    shop TEXT NOT NULL REFERENCES shops(name),
    product INT NOT NULL REFERENCES products(id),
    pieces INT NOT NULL,
    paid DECIMAL(10,2),
    note TEXT
);
SQL
cat >"$folder/shops.csv" <<'CSV'
name,city,opened
"Mitte, corner",Berlin,2015-03-01
Hafen,Hamburg,2018-11-20
Altstadt,Leipzig,2021-06-05
Web,,
CSV
cat >"$folder/products.csv" <<'CSV'
id,label,price
10,espresso,2.40
20,filter coffee,3.10
-1,voucher,25.00
CSV
awk 'BEGIN {
    split("\"Mitte, corner\";Hafen;Altstadt;Web", shop, ";")
    split("10;20;-1", product, ";")
    split("2.40;3.10;25.00", price, ";")
    print "day,shop,product,pieces,paid,note"
    for (row = 0; row < 50000; row++) {
        state = (row * 7919 + 12345) % 65521
        p = state % 10 < 6 ? 1 : state % 10 < 9 ? 2 : 3
        pieces = 1 + state % 4
        month = 1 + int(row / 4167); day = 1 + row % 28
        paid = row % 97 == 0 ? "" : sprintf("%.2f", pieces * price[p])
        note = row % 97 == 0 ? "\"said \"\"later\"\"\"" : ""
        printf "2024-%02d-%02d,%s,%s,%d,%s,%s\n", month, day, shop[1 + state % 4], product[p], pieces, paid, note
    }
}' >"$folder/sales.csv"
