#!/usr/bin/env python3
"""text-width.py > engine/answer/text_width_ranges.h: the characters that take no column or two on a terminal, as Python's
Unicode tables have them. Characters that are not assigned yet extend the range before them."""
import unicodedata

NUMBER_SIGNS = {0xAD, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}  # visible format characters


def takes_none(code, category):
    return category in ("Mn", "Me") or category == "Cf" and code not in NUMBER_SIGNS or 0x1160 <= code <= 0x11FF


def takes_two(code, category):
    return not takes_none(code, category) and unicodedata.east_asian_width(chr(code)) in ("W", "F")


def ranges(test):
    found, begin, end = [], None, None
    for code in range(0x80, 0x110000):
        category = unicodedata.category(chr(code))
        if category == "Cn":
            continue
        if test(code, category):
            begin, end = code if begin is None else begin, code
        elif begin is not None:
            found.append((begin, end))
            begin = None
    return found + ([(begin, end)] if begin is not None else [])


def show(name, pairs):
    print(f"static const struct code_range {name}[] = {{")
    for i in range(0, len(pairs), 5):
        print("    " + " ".join(f"{{0x{a:04x}, 0x{b:04x}}}," for a, b in pairs[i:i + 5]))
    print("};")


print(f"/* text_width_ranges.h: made by cmake/text-width.py from Unicode {unicodedata.unidata_version}; included by "
      "text_width.c\n * alone. Ranges of characters that take no column, and of those that take two. */\n"
      "/* clang-format off */")
show("no_column", ranges(takes_none))
show("two_columns", ranges(takes_two))
print("/* clang-format on */")
