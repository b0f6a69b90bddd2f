"""Makes the trial's data: 7 tables of a shop with a web site, as CSV files, the same for a seed on every machine.

`sales` and `visits` are fact tables; countries, campaigns, customers, products and stores are dimensions. The rows are
nasty on purpose: names in several alphabets, quotes, commas and line ends in texts, empty strings beside NULLs, sparse
and negative keys, skewed values, returns with negative numbers, dates before 1970 and leap days, doubles that are NaN.
"""

import datetime
import math
import os
import random

COUNTRIES = [
    ("DE", "Deutschland", "Europe", 83200000, "19.00"), ("FR", "France", "Europe", 67750000, "20.00"),
    ("ES", "España", "Europe", 47420000, "21.00"), ("PL", "Polska", "Europe", 37750000, "23.00"),
    ("GR", "Ελλάδα", "Europe", 10640000, "24.00"), ("CI", "Côte d'Ivoire", "Africa", 27480000, "18.00"),
    ("US", "United States", "America", 331900000, ""), ("BR", "Brasil", "America", 214300000, "17.00"),
    ("JP", "日本", "Asia", 125700000, "10.00"), ("IN", "India", "Asia", 1408000000, "18.00"),
    ("TR", "Türkiye", "Asia", 84780000, "20.00"), ("NZ", "New Zealand", "Oceania", 5123000, "15.00"),
    ("AQ", "Antarctica", "", 0, ""), ("RU", "Россия", "Europe", 143400000, "20.00"),
]
FIRST = ["Anna", "Bob", "Chloé", "Đorđe", "Émile", "Fatma", "Žofia", "Håkon", "İpek", "Jürgen", "Kateřina", "Łukasz",
         "Мария", "Νίκος", "太郎", "ÅSA", "o'neil", "ANNA", "anna"]
LAST = ["Smith", "Müller", "García", "Nowak", "Παπαδόπουλος", "Иванов", "鈴木", "de la Cruz", "O'Brien", "Smith, Jr.",
        "van \"Dutch\" Dyk", "ŠKODA", "Straße", "Li"]
CATEGORIES = ["Home > Kitchen > Pans", "Home > Kitchen > Knives", "Home > Garden", "Toys", "Toys > Puzzles",
              "Books > Fiction", "Books > Science > Physics", "Clothes > Shoes", "Clothes", ""]
BRANDS = ["Acme", "ACME", "Żubr", "Bolt & Co", "100% Wool", "under_score", "Nordlicht", ""]
PAGES = ["/", "/index.html", "/product/%s", "/Product/%s?ref=mail", "/search?q=red+shoes", "/search?q=%%C3%%A9t%%C3%%A9",
         "/cart", "/checkout/step-1", "/checkout/step-2", "/blog/2023/10/how-to", "/api/v2/items?id=%s&lang=de"]
HOSTS = ["https://shop.example.com", "http://shop.example.com", "https://m.shop.example.com", "https://SHOP.example.com"]
REFERRERS = ["https://www.google.com/search?q=shop", "https://news.site.org/a,b", "android-app://com.mail", "direct"]
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (iPhone; CPU iPhone OS 16_5)", "Googlebot/2.1",
          "curl/8.1.2", "Mozilla/5.0 (Windows NT 10.0; Win64)"]
COUPONS = ["WELCOME10", "welcome10", "SUMMER-23", "BLACK_FRIDAY", "50%OFF", ""]

# Table, then its columns as name, type and constraint. TRIAL_TYPES are those that an older loader refuses: trial.py
# leaves columns of a refused type out of the schema and says so.
TABLES = {
    "countries": [("code", "TEXT", "PRIMARY KEY"), ("country", "TEXT", "NOT NULL"), ("continent", "TEXT", ""),
                  ("population", "BIGINT", "NOT NULL"), ("vat", "DECIMAL(5,2)", "")],
    "campaigns": [("campaign", "TEXT", "PRIMARY KEY"), ("channel", "TEXT", "NOT NULL"), ("starts", "DATE", "NOT NULL"),
                  ("ends", "DATE", ""), ("budget", "DECIMAL(14,2)", "NOT NULL")],
    "customers": [("customer_id", "BIGINT", "PRIMARY KEY"), ("customer", "TEXT", "NOT NULL"), ("email", "TEXT", ""),
                  ("home", "TEXT", "REFERENCES countries(code)"), ("signed_up", "DATE", "NOT NULL"), ("born", "DATE", ""),
                  ("newsletter", "BOOLEAN", "")],
    "products": [("sku", "TEXT", "PRIMARY KEY"), ("title", "TEXT", "NOT NULL"), ("category", "TEXT", "NOT NULL"),
                 ("brand", "TEXT", ""), ("list_price", "DECIMAL(10,2)", "NOT NULL"), ("weight", "DOUBLE", ""),
                 ("launched", "DATE", "NOT NULL"), ("withdrawn", "DATE", "")],
    "stores": [("store_id", "INT", "PRIMARY KEY"), ("city", "TEXT", "NOT NULL"), ("located", "TEXT", "REFERENCES countries(code)"),
               ("opened", "DATE", "NOT NULL"), ("area", "DECIMAL(8,1)", "")],
    "sales": [("sale_id", "BIGINT", "NOT NULL"), ("sold_at", "TIMESTAMP", "NOT NULL"), ("product", "TEXT", "NOT NULL REFERENCES products(sku)"),
              ("buyer", "BIGINT", "REFERENCES customers(customer_id)"), ("store", "INT", "NOT NULL REFERENCES stores(store_id)"),
              ("quantity", "INT", "NOT NULL"), ("price", "DECIMAL(10,2)", "NOT NULL"), ("discount", "DECIMAL(4,3)", ""),
              ("paid", "DECIMAL(12,2)", "NOT NULL"), ("coupon", "TEXT", ""), ("returned", "BOOLEAN", ""),
              ("margin", "DOUBLE", "")],
    "visits": [("session", "TEXT", "NOT NULL"), ("seen", "TIMESTAMP", "NOT NULL"), ("visitor", "BIGINT", "REFERENCES customers(customer_id)"),
               ("origin", "TEXT", "NOT NULL REFERENCES countries(code)"), ("source", "TEXT", "REFERENCES campaigns(campaign)"),
               ("url", "TEXT", "NOT NULL"), ("referrer", "TEXT", ""), ("agent", "TEXT", ""), ("status", "SMALLINT", "NOT NULL"),
               ("bytes", "BIGINT", ""), ("millis", "INT", "NOT NULL"), ("score", "DOUBLE", "")],
}
TRIAL_TYPES = ["DOUBLE", "SMALLINT"]


def field(value):
    """One CSV field: NULL is nothing, an empty string is two quotes."""
    if value is None:
        return ""
    text = str(value)
    if text == "" or any(c in text for c in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


def cents(value):
    return "%s%d.%02d" % ("-" if value < 0 else "", abs(value) // 100, abs(value) % 100)


def day(number):
    return datetime.date.fromordinal(datetime.date(1970, 1, 1).toordinal() + number).isoformat()


def moment(seconds, micros):
    text = (datetime.datetime(2021, 1, 1) + datetime.timedelta(seconds=seconds)).isoformat(sep=" ")
    return text + ".%06d" % micros if micros else text


class Maker:
    """Writes the tables into a folder; `rows` are those of sales and of visits together."""

    def __init__(self, folder, rows, seed):
        self.folder, self.random = folder, random.Random(seed)
        self.sales, self.visits = rows // 2, rows - rows // 2
        self.customers = [17 + 1009 * i - (5000000 if i % 11 == 0 else 0) for i in range(max(50, rows // 20))]
        self.skus = ["%s-%04d" % ("abcXYZ"[i % 6], i * 7) for i in range(max(40, min(5000, rows // 50)))]
        self.stores = [i - 5 for i in range(40)]
        self.campaigns = ["c%02d/%s" % (i, ["mail", "Search", "tv"][i % 3]) for i in range(25)]

    def write(self, table, rows):
        with open(os.path.join(self.folder, table + ".csv"), "w", encoding="utf-8", newline="") as file:
            file.write(",".join(name for name, _, _ in TABLES[table]) + "\n")
            for row in rows:
                file.write(",".join(map(field, row)) + "\n")

    def pick(self, values):
        """Skewed: the first values are the most frequent."""
        return values[int(len(values) * self.random.random() ** 2.5)]

    def maybe(self, share, value):
        return None if self.random.random() < share else value

    def all(self):
        self.write("countries", [(a, b, c or None, d, e or None) for a, b, c, d, e in COUNTRIES])
        self.write("campaigns", self.campaign_rows())
        self.write("customers", self.customer_rows())
        self.write("products", self.product_rows())
        self.write("stores", self.store_rows())
        self.write("sales", self.sale_rows())
        self.write("visits", self.visit_rows())

    def campaign_rows(self):
        r = self.random
        for i, name in enumerate(self.campaigns):
            start = 18628 + r.randrange(1000)
            yield name, ["email", "search", "tv"][i % 3], day(start), self.maybe(0.2, day(start + r.randrange(90))), cents(
                r.randrange(10 ** 9))

    def customer_rows(self):
        r = self.random
        for key in self.customers:
            name = r.choice(FIRST) + " " + r.choice(LAST)
            mail = self.maybe(0.15, "user%d@%s" % (key, r.choice(["example.com", "Example.org", "mail.fr", "x.co.jp"])))
            yield (key, name, "" if r.random() < 0.02 else mail, self.maybe(0.05, self.pick(COUNTRIES)[0]),
                   day(r.randrange(16000, 19600)), self.maybe(0.1, day(r.randrange(-12000, 13000))),
                   self.maybe(0.1, "true" if r.random() < 0.4 else "false"))

    def product_rows(self):
        r = self.random
        for i, sku in enumerate(self.skus):
            title = "%s %s No. %d" % (r.choice(["Red", "Blau", "vert", "Ñandú", "extra\nlarge", "5\" wide"]),
                                      r.choice(["pan", "Knife", "puzzle", "Schuhe", "book"]), i)
            start = r.randrange(14000, 19500)
            yield (sku, title, r.choice(CATEGORIES), self.maybe(0.1, r.choice(BRANDS)), cents(r.randrange(50, 200000)),
                   self.maybe(0.05, r.choice([0.1, 0.25, 1.5, 12.75, 1e-3]) * r.randrange(1, 9)), day(start),
                   self.maybe(0.7, day(start + r.randrange(2000))))

    def store_rows(self):
        r = self.random
        for key in self.stores:
            city = "web" if key == 0 else r.choice(["Berlin", "São Paulo", "Łódź", "Paris", "Αθήνα", "東京", "New York", "PARIS"])
            yield (key, city, self.maybe(0.1, self.pick(COUNTRIES)[0]), day(r.randrange(-3000, 19000)),
                   self.maybe(0.1, "%d.%d" % (r.randrange(20, 9000), r.randrange(10))))

    def sale_rows(self):
        r = self.random
        for i in range(self.sales):
            price = r.randrange(50, 150000)
            quantity = -r.randrange(1, 3) if r.random() < 0.04 else 1 + int(8 * r.random() ** 3)
            discount = self.maybe(0.6, r.randrange(0, 500, 25))
            paid = price * quantity * (1000 - (discount or 0)) // 1000
            margin = r.choice([0.5, 0.125, 0.1, 1.01]) * r.randrange(-900, 9000) / 10
            if r.random() < 0.02:
                margin = r.choice([math.nan, math.inf, -0.0, 1e-7]) if r.random() < 0.2 else 0.0
            yield (1000000 + i * 3, moment(r.randrange(126230399), r.choice([0, 0, r.randrange(1000000)])), self.pick(self.skus),
                   self.maybe(0.1, self.pick(self.customers)), self.pick(self.stores), quantity, cents(price),
                   None if discount is None else "0.%03d" % discount, cents(paid), self.maybe(0.7, self.pick(COUPONS)),
                   self.maybe(0.3, "true" if quantity < 0 or r.random() < 0.05 else "false"), self.maybe(0.1, margin))

    def visit_rows(self):
        r = self.random
        for i in range(self.visits):
            page = self.pick(PAGES)
            status = self.pick([200, 200, 200, 304, 404, 302, 500, 503])
            yield ("%08x" % (r.randrange(1 + self.visits // 4) * 2654435761 % 2 ** 32), moment(r.randrange(126230399), 0),
                   self.maybe(0.4, self.pick(self.customers)), self.pick(COUNTRIES)[0], self.maybe(0.6, self.pick(self.campaigns)),
                   r.choice(HOSTS) + (page % self.pick(self.skus) if "%s" in page else page), self.maybe(0.3, self.pick(REFERRERS)),
                   self.maybe(0.05, self.pick(AGENTS)), status, self.maybe(0.1, int(10 ** (r.random() * 7))),
                   int(5 + 10 ** (r.random() * 4)), self.maybe(0.2, round(r.gauss(50, 15), r.choice([1, 2, 3]))))


def make(folder, rows, seed):
    os.makedirs(folder, exist_ok=True)
    Maker(folder, rows, seed).all()
