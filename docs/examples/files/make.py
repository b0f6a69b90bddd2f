#!/usr/bin/env python3
"""Makes the files of three businesses, as they come from other programs; the same on every machine for a number of rows.

    python3 make.py FOLDER [ROWS]

ROWS (2 million) are what the first three months of each have. April comes later, with a tenth of them, and once more,
corrected. Parquet is written by pyarrow if it is installed, else by `tessera`, which must then be found in $PATH.

    taxi/    trips-2024-01.parquet ..., zones.csv          a city's taxi trips; money in doubles, as the city gives them
    logs/    access-2024-01.csv.gz ..., servers.csv        a web site's logs; times with the offsets of the servers' zones
    retail/  umsatz-2024-01.tsv ..., filialen.tsv,         a retailer in latin-1, with decimal commas, dots between
             artikel.tsv                                   thousands, and dates as 31.01.2024
"""
import calendar
import datetime
import gzip
import os
import random
import subprocess
import sys
import tempfile

MONTHS = ["2024-01", "2024-02", "2024-03", "2024-04", "2024-04-corrected"]
CLOCK = ["%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) for s in range(86400)]


def rows_of(month, rows):
    return rows // 10 if month >= "2024-04" else rows // 3 + (rows % 3 if month == "2024-01" else 0)


def moments(month, rows, rng):
    """Days and seconds of them, ascending as they come in."""
    year, number = int(month[:4]), int(month[5:7])
    seconds = calendar.monthrange(year, number)[1] * 86400
    for row in range(rows):
        at = min(seconds - 1, int((row + rng.random()) * seconds / rows))
        yield at // 86400, at % 86400


def seeded(name, month):
    """A corrected month has the rows of the month that it corrects."""
    return random.Random(name + month[:7])


# ---- Taxi ----

BOROUGHS = ["Manhattan", "Queens", "Brooklyn", "Bronx", "Staten Island", "EWR"]
TRIP_TYPES = dict(VendorID="BIGINT", tpep_pickup_datetime="TIMESTAMP", tpep_dropoff_datetime="TIMESTAMP",
                  passenger_count="DOUBLE", trip_distance="DOUBLE", RatecodeID="DOUBLE", store_and_fwd_flag="TEXT",
                  PULocationID="BIGINT", DOLocationID="BIGINT", payment_type="BIGINT", fare_amount="DOUBLE",
                  extra="DOUBLE", tip_amount="DOUBLE", tolls_amount="DOUBLE", total_amount="DOUBLE")


def trips(month, rows):
    rng = seeded("taxi", month)
    rand, days = rng.random, ["%s-%02d " % (month[:7], day + 1) for day in range(31)]
    busy = [int(265 * rand() ** 3) + 1 for _ in range(1000)]  # some zones have most of the trips
    for day, second in moments(month, rows, rng):
        minutes = int(3 + 40 * rand() * rand())
        end = second + 60 * minutes + int(60 * rand())
        miles = round(minutes * (0.1 + 0.3 * rand()), 2)
        fare = round(3 + 0.7 * minutes + 1.75 * miles, 1)
        card, draw = rand() < 0.75, rand()
        tip = round(fare * 0.2 * rand(), 2) if card else 0.0
        tolls = 6.94 if draw > 0.94 else 0.0
        extra = 2.5 if 57600 < second < 72000 else 0.0
        if "corrected" in month and draw < 0.01:
            fare = round(fare * 1.1, 2)  # fares that the meters had wrong
        sign = -1 if draw < 0.004 else 1  # refunds
        yield (1 + (draw < 0.6), days[day] + CLOCK[second],
               days[day] + CLOCK[end] if end < 86400 else days[day] + CLOCK[86399], "" if draw > 0.96 else
               1.0 + int(5 * draw * draw), miles, "" if draw > 0.96 else 1.0, "" if draw > 0.96 else "N",
               busy[int(1000 * rand())], busy[int(1000 * rand())], 1 if card else 2, sign * fare, sign * extra, sign * tip,
               sign * tolls, sign * round(fare + extra + tip + tolls, 2))


def write_parquet(csv_path, path):
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        with tempfile.TemporaryDirectory() as folder:
            schema, database = os.path.join(folder, "trips.sql"), os.path.join(folder, "db")
            with open(schema, "w") as file:
                file.write("CREATE TABLE trips (%s);" % ", ".join("%s %s" % column for column in TRIP_TYPES.items()))
            subprocess.run(["tessera", "load", "--db", database, "--schema", schema, "trips=" + csv_path],
                           check=True, stderr=subprocess.DEVNULL)
            subprocess.run(["tessera", "sql", "--db", database, "COPY trips TO '%s'" % path],
                           check=True, stderr=subprocess.DEVNULL)
        return
    kinds = dict(BIGINT=pyarrow.int64(), TIMESTAMP=pyarrow.timestamp("us"), DOUBLE=pyarrow.float64(), TEXT=pyarrow.string())
    options = pyarrow.csv.ConvertOptions(column_types={n: kinds[t] for n, t in TRIP_TYPES.items()}, strings_can_be_null=True)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(csv_path, convert_options=options), path)


def make_taxi(folder, rows):
    with open(os.path.join(folder, "zones.csv"), "w") as file:
        file.write("LocationID,Borough,Zone,service_zone\n")
        for zone in range(1, 266):
            file.write('%d,%s,"Zone %d, %s",%s\n' % (zone, BOROUGHS[zone * zone % 23 % 6], zone, "NSEW"[zone % 4],
                                                     "Yellow Zone" if zone % 3 else "Boro Zone"))
    for month in MONTHS:
        path = os.path.join(folder, "trips-%s.parquet" % month)
        with open(path + ".csv", "w") as file:
            file.write(",".join(TRIP_TYPES) + "\n")
            for row in trips(month, rows_of(month, rows)):
                file.write("%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n" % row)
        write_parquet(path + ".csv", path)
        os.remove(path + ".csv")


# ---- Logs ----

EUROPE, AMERICA, NEVER = "2024-03-31 01:00:00", "2024-03-10 07:00:00", "9999"  # when summer begins, in UTC
SERVERS = [("fra1", "Frankfurt", "Europe", 1, EUROPE), ("fra2", "Frankfurt", "Europe", 1, EUROPE),
           ("ams1", "Amsterdam", "Europe", 1, EUROPE), ("nyc1", "New York", "America", -5, AMERICA),
           ("nyc2", "New York", "America", -5, AMERICA), ("tyo1", "Tokyo", "Asia", 9, NEVER)]
PAGES = ["/", "/search?q=%s", "/product/%s", "/product/%s/reviews", "/cart", "/checkout", "/api/v1/stock/%s", "/img/%s.webp"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_3 like Mac OS X)",
          "Mozilla/5.0 (Windows NT 10.0; Win64; x64)", "Googlebot/2.1 (+http://www.google.com/bot.html)", "curl/8.5.0"]
REFERRERS = ["", "", "https://www.google.com/", "https://news.example.org/a,b", "https://shop.example.com/"]


def requests(month, rows):
    rng = seeded("logs", month)
    rand = rng.random
    first = datetime.date(int(month[:4]), int(month[5:7]), 1)
    days = ["%s " % (first + datetime.timedelta(day - 1)) for day in range(33)]  # from the one before
    for day, second in moments(month, rows, rng):  # months are those of UTC
        name, _, _, hours, summer = SERVERS[int(6 * rand() * rand())]
        hours += days[day + 1] + CLOCK[second] >= summer
        day, second = day + 1 + (second + 3600 * hours) // 86400, (second + 3600 * hours) % 86400
        draw = rand()
        page = PAGES[int(8 * rand())]
        if "%s" in page:
            page %= "%x" % int(20000 * rand() ** 4)
        status = 200 if draw < 0.9 else 304 if draw < 0.95 else 404 if draw < 0.985 else 500
        line = ('%s%s%+03d:00,%s,10.%d.%d.%d,%s,"%s",%d,%s,%.3f,"%s","%s"\n' % (
            days[day], CLOCK[second], hours, name, int(40 * rand()), int(256 * rand()), int(256 * draw),
            "POST" if page == "/checkout" else "GET", page, status,
            "" if status == 304 else int(200 + 50000 * rand() * rand()),
            1 + 200 * rand() ** 6 + (3000 if status == 500 else 0), REFERRERS[int(5 * rand())],
            AGENTS[int(5 * rand() * rand())]))
        if "corrected" not in month or draw < 0.985 or draw > 0.99:
            yield line  # without a probe's own requests, which were counted by mistake


def make_logs(folder, rows):
    with open(os.path.join(folder, "servers.csv"), "w") as file:
        file.write("server,city,region\n" + "".join("%s,%s,%s\n" % server[:3] for server in SERVERS))
    for month in MONTHS:
        with gzip.GzipFile(os.path.join(folder, "access-%s.csv.gz" % month), "wb", 4, mtime=0) as file:
            file.write(b"seen,server,client,method,path,status,bytes,millis,referrer,agent\n")
            buffer = []
            for line in requests(month, rows_of(month, rows)):
                buffer.append(line)
                if len(buffer) == 10000:
                    file.write("".join(buffer).encode())
                    buffer.clear()
            file.write("".join(buffer).encode())


# ---- Retail ----

CITIES = [("Köln", "DE"), ("München", "DE"), ("Düsseldorf", "DE"), ("Zürich", "CH"), ("Genève", "CH"),
          ("Málaga", "ES"), ("Besançon", "FR"), ("Graz", "AT"), ("Århus", "DK"), ("Liège", "BE")]
GOODS = [("Käse", 3), ("Brötchen", 1), ("Crème brûlée", 4), ("Jamón", 9), ("Öl", 7), ("Espressomaschine", 400),
         ("Fahrrad", 1100), ("Schüssel", 15), ("Kühlschrank", 700), ("Tüte", 1)]


def comma(number, digits=2):
    """1234.5 as 1.234,50"""
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def receipts(month, rows, prices):
    rng = seeded("retail", month)
    rand, days = rng.random, ["%02d.%s.%s" % (day + 1, month[5:7], month[:4]) for day in range(31)]
    articles = sorted(prices)
    for day, _ in moments(month, rows, rng):
        article, draw = articles[int(len(articles) * rand() * rand())], rand()
        pieces = 1 + int(6 * rand() * rand())
        off = 0 if draw < 0.7 else int(1 + 30 * rand()) / 2
        if "corrected" in month and draw > 0.99:
            off = 0  # discounts that nobody had granted
        sign = -1 if draw < 0.01 else 1
        yield "%s\t%d\t%s\t%d\t%s\t%s\t%s\t%s\n" % (
            days[day], 1 + int(200 * rand() ** 2), article, sign * pieces,
            comma(sign * pieces * prices[article] * (100 - off) / 100), comma(off, 1),
            "bar" if rand() < 0.3 else "Karte", "Rückgabe" if sign < 0 else "")


def make_retail(folder, rows):
    rng = random.Random("retail")
    prices = {}

    def write(name, head, lines):
        with open(os.path.join(folder, name), "w", encoding="latin-1", newline="\r\n") as file:
            file.write(head + "\n")
            file.writelines(lines)

    write("filialen.tsv", "Filiale\tStadt\tLand\tFläche\tEröffnet", [
        "%d\t%s\t%s\t%s\t%02d.%02d.%d\n" % (shop, *CITIES[shop % 10], comma(80 + 3000 * rng.random() ** 3, 1), 1 + shop % 28,
                                            1 + shop % 12, 1990 + shop % 34) for shop in range(1, 201)])
    lines = []
    for number in range(1, 3001):
        word, price = GOODS[number % 10]
        article = "%06d" % (number * 37)
        prices[article] = round(price * (0.7 + 0.9 * rng.random()), 2)
        lines.append("%s\t%s %s%d\tWarengruppe %d\t%s\n" % (article, word, "ABCDEFGH"[number % 8], number % 97, number % 10,
                                                           comma(prices[article])))
    write("artikel.tsv", "Artikel\tBezeichnung\tGruppe\tPreis", lines)
    for month in MONTHS:
        write("umsatz-%s.tsv" % month, "Datum\tFiliale\tArtikel\tMenge\tBetrag\tRabatt\tZahlung\tBemerkung",
              receipts(month, rows_of(month, rows), prices))


def make(folder, rows):
    for name, function in (("taxi", make_taxi), ("logs", make_logs), ("retail", make_retail)):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        function(os.path.join(folder, name), rows)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    make(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000000)
