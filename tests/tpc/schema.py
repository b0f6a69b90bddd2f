"""Schema scripts of TPC-H and TPC-DS: tables of DuckDB, with the keys and references that TPC declares."""

import os

TPCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "schemas")

# TPC-DS: the last words of a column that references a table's first column.
REFERENCES = {
    "addr_sk": "customer_address", "call_center_sk": "call_center", "catalog_page_sk": "catalog_page",
    "cdemo_sk": "customer_demographics", "customer_sk": "customer", "date_sk": "date_dim",
    "hdemo_sk": "household_demographics", "income_band_sk": "income_band", "item_sk": "item", "promo_sk": "promotion",
    "reason_sk": "reason", "ship_mode_sk": "ship_mode", "store_sk": "store", "time_sk": "time_dim",
    "warehouse_sk": "warehouse", "web_page_sk": "web_page", "web_site_sk": "web_site"}
# Primary keys of several columns, and which of them reference those of another such table.
KEYS = {"store_sales": ["ss_item_sk", "ss_ticket_number"], "store_returns": ["sr_item_sk", "sr_ticket_number"],
        "catalog_sales": ["cs_item_sk", "cs_order_number"], "catalog_returns": ["cr_item_sk", "cr_order_number"],
        "web_sales": ["ws_item_sk", "ws_order_number"], "web_returns": ["wr_item_sk", "wr_order_number"],
        "inventory": ["inv_date_sk", "inv_item_sk", "inv_warehouse_sk"]}
RETURNS = {"store_returns": "store_sales", "catalog_returns": "catalog_sales", "web_returns": "web_sales"}


def referenced(table, column, first):
    """The table that a column references, or None."""
    if column == first and table not in KEYS:
        return None
    return next((to for words, to in REFERENCES.items() if column.endswith("_" + words)), None)


def keys_of_tpcds(table, columns, tables):
    first = columns[0][0]
    lines = ["PRIMARY KEY (%s)" % ", ".join(KEYS.get(table, [first]))]
    for column, _ in columns:
        to = referenced(table, column, first)
        if to:
            lines.append("FOREIGN KEY (%s) REFERENCES %s (%s)" % (column, to, tables[to][0][0]))
    if table in RETURNS:
        lines.append("FOREIGN KEY (%s) REFERENCES %s (%s)" % (
            ", ".join(KEYS[table]), RETURNS[table], ", ".join(KEYS[RETURNS[table]])))
    return lines


def script(benchmark, tables, references):
    if benchmark == "tpch" and references:
        return "".join(open(os.path.join(TPCH, name)).read() for name in ("tpch.ddl", "tpch.ri"))
    text = ""
    for table, columns in tables.items():
        lines = ["%s %s" % column for column in columns]
        if references:
            lines += keys_of_tpcds(table, columns, tables)
        text += "CREATE TABLE %s (\n    %s);\n" % (table, ",\n    ".join(lines))
    return text
