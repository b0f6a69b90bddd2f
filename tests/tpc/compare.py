"""Says whether rows are a right answer to a statement, of which DuckDB is asked.

Rows that ORDER BY makes equal may come in any order, and where LIMIT cuts such rows any of them may be left out. So
DuckDB is asked for all rows, each with its rank in that order, which the statement's own text becomes:

    select a, count(*) as b ... group by a order by b limit 10
    select *, dense_rank() over (order by b) from (select a, count(*) as b ... group by a)

or, where a term is no column of the answer, with the rank in the statement's own list.
"""

import re

import answers

SETS = re.compile(r"\b(union|except|intersect|distinct)\b")
CLOSE = 1e-9  # relative, of doubles: engines add in different orders


def top_level(sql):
    """The text with what is in parentheses, quotes and comments as blanks, so that places stay."""
    text, depth, at = [], 0, 0
    for match in re.finditer(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|.", sql, re.S):
        part = match.group()
        depth += (part == "(") - (part == ")")
        keep = depth == 0 and len(part) == 1 and part != ")"
        text.append(part.lower() if keep else " " * len(part))
        at += len(part)
    return "".join(text)


def split(sql):
    """(the query without ORDER BY and LIMIT, the terms of ORDER BY or "", the limit or None)."""
    sql = sql.strip().rstrip(";")
    flat = top_level(sql)
    limit, end = None, len(sql)
    found = re.search(r"\blimit\s+(\d+)\s*$", flat)
    if found:
        limit, end = int(found.group(1)), found.start()
    begin = flat.rfind("order by", 0, end)
    return (sql[:end], "", limit) if begin < 0 else (sql[:begin], sql[begin + len("order by"):end].strip(), limit)


def terms_of(order):
    """The terms of ORDER BY, without names of tables."""
    flat, terms, begin = top_level(order), [], 0
    for at in [i for i, c in enumerate(flat) if c == ","] + [len(order)]:
        terms.append(re.sub(r"\b[A-Za-z_]\w*\.([A-Za-z_]\w*)", r"\1", order[begin:at].strip()))
        begin = at + 1
    return terms


def key(row):
    """What of a row is exact."""
    return tuple("f" if cell[0] == "f" else cell for cell in row)


def near(a, b):
    if a[0] != "f" or b[0] != "f":
        return a == b
    x, y = float(a[1]), float(b[1])
    return x == y or (x != x and y != y) or abs(x - y) <= CLOSE * max(abs(x), abs(y))


def of_duckdb(value):
    return ("f", repr(value)) if isinstance(value, float) else answers.of_duckdb(value)


def of_tessera(text, kind):
    if kind != "f" or text is None:
        return answers.of_tessera(text, kind)
    try:
        return "f", repr(float(text))
    except ValueError:
        return "s", text


class Answer:
    """All right rows. `ordered` is false where a term of ORDER BY is no column of the answer, so that it is not checked."""

    def __init__(self, judge, sql):
        query, order, self.limit = split(sql)
        self.ordered = True
        ranked = self.with_ranks(judge, query, order) if order else None
        if ranked is None:
            self.ordered = not order
            ranked = [(*row, 1) for row in judge.fetch(query)]
        ranked.sort(key=lambda row: row[-1])
        self.rows = [[of_duckdb(value) for value in row[:-1]] for row in ranked]
        self.ranks = [row[-1] for row in ranked]
        self.kinds = answers.kinds(self.rows)
        own = self.difference_of([[of_duckdb(value) for value in row] for row in judge.fetch(sql)])
        if own:
            raise ValueError("DuckDB's own answer does not pass: " + own)

    @staticmethod
    def with_ranks(judge, query, order):
        import duckdb
        titles = [row[0] for row in judge.fetch("describe " + query)]
        terms = terms_of(order)
        for i, term in enumerate(terms):
            number = re.match(r"(\d+)\b(.*)", term, re.S)
            if number:
                terms[i] = '"%s"%s' % (titles[int(number.group(1)) - 1], number.group(2))
        outside = "select *, dense_rank() over (order by %s) from (%s) as answer" % (", ".join(terms), query)
        begin = top_level(query).find("from")
        inside = "%s, dense_rank() over (order by %s) %s" % (query[:begin].rstrip(), order, query[begin:])
        for ranked in (outside, inside) if not SETS.search(top_level(query)) else (outside,):
            try:
                return judge.fetch(ranked)
            except duckdb.Error:
                continue
        return None

    def difference(self, cells):
        """What is different in Tessera's cells, or None."""
        if any(len(row) != len(self.kinds) for row in cells) and self.kinds:
            return "%d columns, DuckDB has %d" % (len(cells[0]), len(self.kinds))
        return self.difference_of([[of_tessera(cell, kind) for cell, kind in zip(row, self.kinds)] for row in cells])

    def difference_of(self, mine):
        count = len(self.rows) if self.limit is None else min(self.limit, len(self.rows))
        if len(mine) != count:
            return "%d rows, DuckDB has %d" % (len(mine), count)
        begin = 0
        while begin < count:
            end = begin
            while end < len(self.rows) and self.ranks[end] == self.ranks[begin]:
                end += 1
            why = self.unmatched(mine[begin:min(end, count)], self.rows[begin:end], begin)
            if why:
                return why
            begin = end
        return None

    @staticmethod
    def unmatched(mine, rows, first):
        """The first row that is none of `rows`, each of which is used once."""
        left = {}
        for row in rows:
            left.setdefault(key(row), []).append(row)
        for i, row in enumerate(mine):
            same = left.get(key(row), [])
            found = next((j for j, other in enumerate(same) if all(near(a, b) for a, b in zip(row, other))), None)
            if found is None:
                return "row %d is %s, DuckDB has %s" % (first + i, show(row), show((same or rows)[0]))
            same.pop(found)
        return None


def show(row):
    return "|".join("NULL" if kind == "n" else text for kind, text in row)
