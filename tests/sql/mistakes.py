"""Writes docs/messages.md: what DuckDB and Tessera say of the mistakes in tests/sql/mistakes.test.

    python tests/sql/mistakes.py --build build/release [--out docs/messages.md]

It needs the module duckdb, and a built program. What Tessera says is tested by test_sql_files, as the file has it.
"""
import argparse
import os
import re
import subprocess
import tempfile
import textwrap

import duckdb

HEAD = """# Messages

What is said of {count} typical mistakes, by DuckDB {version} and by Tessera. The statements and their tables are those
of `tests/sql/mistakes.test`, which tests Tessera's half; this page is written by

    python tests/sql/mistakes.py --build build/release --out docs/messages.md

`tessera sql` shows the line with a caret under the place after each sentence, as DuckDB does. Both are left out here,
and so are what DuckDB says before its sentence ("Binder Error") and its lists of candidate functions (`...`). Long
sentences are wrapped.
"""
WIDTH = 120


def blocks(path):
    """The blocks of a file: lists of lines, without comments."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith("#")]
        if lines:
            yield lines


def plain(message):
    """A message of DuckDB in one line: without what begins it and without the statement."""
    message = message.split("\n\nLINE ")[0].split("\nLINE ")[0]
    for begin in ("Parser", "Binder", "Catalog", "Conversion", "Invalid Input"):
        message = message.removeprefix(begin + " Error: ")
    message = re.sub(r"(Candidate functions:).*", r"\1 ...", message, flags=re.S)
    return " ".join(message.split())


def wrapped(text, first, other):
    """The lines of a text in an indented block, the first one after `first`, all others after `other`."""
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=other, break_long_words=False, break_on_hyphens=False
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--out")
    asked = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    program = os.path.abspath(os.path.join(asked.build, "tessera"))
    other = duckdb.connect()
    schema, tables, mistakes = "", {}, []
    for lines in blocks(os.path.join(here, "mistakes.test")):
        if lines[0] == "schema":
            schema = "\n".join(lines[1:])
        elif lines[0].startswith("table "):
            tables[lines[0][6:]] = lines[1:]
        else:
            mistakes.append("\n".join(lines[1 : lines.index("----")]))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/schema.sql", "w", encoding="utf-8") as file:
            file.write(schema)
        files = []
        other.execute(schema.replace("TEXT", "VARCHAR"))
        for table, rows in tables.items():
            with open(f"{folder}/{table}.csv", "w", encoding="utf-8") as file:
                file.write("\n".join(rows) + "\n")
            files.append(f"{table}={folder}/{table}.csv")
            other.execute(f"INSERT INTO {table} SELECT * FROM read_csv('{folder}/{table}.csv', header = false)")
        subprocess.run(
            [program, "load", "--db", f"{folder}/db", "--schema", f"{folder}/schema.sql", *files],
            check=True,
            capture_output=True,
        )
        page = [HEAD.format(count=len(mistakes), version=duckdb.__version__)]
        for mistake in mistakes:
            try:
                other.execute(mistake).fetchall()
                theirs = "(an answer)"
            except duckdb.Error as error:
                theirs = plain(str(error))
            said = subprocess.run(
                [program, "sql", "--db", f"{folder}/db", mistake], capture_output=True, text=True, check=False
            )
            ours = said.stderr.split("\n")[0].removeprefix("tessera: ").replace(f"{folder}/db", "shop.db")
            page.append(
                f"    {mistake}\n"
                + wrapped(theirs, "        DuckDB   ", " " * 17)
                + "\n"
                + wrapped(ours or "(an answer)", "        Tessera  ", " " * 17)
                + "\n"
            )
    text = "\n".join(page)
    if asked.out:
        with open(asked.out, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
