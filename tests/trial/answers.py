"""Reads answers, of Tessera as CSV and of DuckDB as Python values, and says whether they are the same.

A cell becomes (kind, text): n for NULL, i for exact numbers, f for doubles, d for dates and timestamps, b for truth
values, s for strings. The judge's kinds decide how Tessera's text is read.
"""

import datetime
import decimal
import hashlib
import json

SIGNIFICANT = 9   # digits of doubles that must agree; engines add in different orders
KEPT_ROWS = 40    # longer answers are kept as their first rows and a hash


def read_csv(text):
    """Rows of cells; None is an empty field without quotes. Python's csv module does not tell it from ""."""
    rows, row, cell, quoted, at = [], [], "", False, 0
    while at < len(text):
        c = text[at]
        if c == '"':
            quoted, end = True, at + 1
            while True:
                stop = text.index('"', end)
                cell += text[end:stop]
                if text[stop + 1:stop + 2] != '"':
                    break
                cell += '"'
                end = stop + 2
            at = stop + 1
        elif c in ",\n":
            row.append(None if cell == "" and not quoted else cell)
            cell, quoted = "", False
            if c == "\n":
                rows.append(row)
                row = []
            at += 1
        else:
            if c != "\r":
                cell += c
            at += 1
    return rows


def double(value):
    number = float(value)
    if number != number:
        return "nan"
    return "%.*e" % (SIGNIFICANT - 1, number + 0.0 if number else 0.0)


def moment(text):
    """A timestamp at midnight is as good as the date; trailing zeros of its fraction say nothing."""
    text = text.replace("T", " ")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text[:10] if text.endswith(" 00:00:00") else text


def exact(value):
    number = decimal.Decimal(value)
    return "0" if number == 0 else format(number.normalize(), "f")


def of_duckdb(value):
    if value is None:
        return "n", ""
    if isinstance(value, bool):
        return "b", "true" if value else "false"
    if isinstance(value, (int, decimal.Decimal)):
        return "i", exact(value)
    if isinstance(value, float):
        return "f", double(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return "d", moment(str(value))
    return "s", str(value)


def of_tessera(text, kind):
    """The cell as the judge's kind has it; what cannot be read so stays a string, and differs."""
    if text is None:
        return "n", ""
    try:
        if kind == "b":
            return "b", {"1": "true", "0": "false"}.get(text, text)
        if kind == "i":
            return "i", exact(text)
        if kind == "f":
            return "f", double(text)
        if kind == "d":
            return "d", moment(text)
    except (ValueError, decimal.InvalidOperation):
        pass
    return "s", text


def kinds(rows):
    """Of each column, the kind of its values that are not NULL."""
    if not rows:
        return []
    return [next((row[c][0] for row in rows if row[c][0] != "n"), "n") for c in range(len(rows[0]))]


def near(a, b):
    if a == b:
        return True
    if a[0] == "i" and b[0] == "i" or a[0] != b[0] or a[0] != "f":
        return False
    x, y = float(a[1]), float(b[1])
    return abs(x - y) <= 10.0 ** (1 - SIGNIFICANT) * max(abs(x), abs(y))


def same(mine, rows, ordered):
    """Whether Tessera's cells are the judge's rows; in any order if the query names none."""
    if len(mine) != len(rows):
        return False
    columns = kinds(rows)
    if any(len(row) != len(columns) for row in mine):
        return False
    mine = [[of_tessera(cell, kind) for cell, kind in zip(row, columns)] for row in mine]
    rows = [[tuple(cell) for cell in row] for row in rows]
    if not ordered:
        mine, rows = sorted(mine), sorted(rows)
    return all(near(a, b) for one, other in zip(mine, rows) for a, b in zip(one, other))


def digest(rows, ordered):
    text = json.dumps(rows if ordered else sorted(rows), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep(rows, ordered):
    rows = [[list(cell) for cell in row] for row in rows]
    if len(rows) <= KEPT_ROWS:
        return {"rows": rows}
    return {"count": len(rows), "kinds": kinds(rows), "first": rows[:3], "digest": digest(rows, ordered)}


def same_as_kept(mine, kept, ordered):
    if "rows" in kept:
        return same(mine, kept["rows"], ordered)
    if len(mine) != kept["count"] or any(len(row) != len(kept["kinds"]) for row in mine):
        return False
    cells = [[list(of_tessera(cell, kind)) for cell, kind in zip(row, kept["kinds"])] for row in mine]
    return digest(cells, ordered) == kept["digest"]
