"""Writes case_table.h: upper and lower case of characters, from the Unicode data of Python.

    python3 engine/function/case_table.py > engine/function/case_table.h

Only characters whose other case is one character are in it (the simple mappings), without ASCII."""
import unicodedata


def upper(character):
    if character == "\u00df":  # its capital letter, as in DuckDB; Unicode's simple mappings lack it
        return "\u1e9e"
    full = character.upper()  # of Greek letters with a subscript two, where the simple mapping is the titlecase letter
    return full if len(full) == 1 else character.title()


def lower(character):
    return "i" if character == "\u0130" else character.lower()  # Python's has the dot as a second character


def ranges(change):
    pairs = [(c, ord(change(chr(c)))) for c in range(0x80, 0x110000)
             if not 0xD800 <= c < 0xE000 and len(change(chr(c))) == 1 and ord(change(chr(c))) != c]
    made = []
    for c, to in pairs:
        last = made[-1] if made else None
        if last and last[3] == to - c:
            step = c - last[1]
            if step <= 2 and (last[0] == last[1] or step == last[2]):
                made[-1] = (last[0], c, step, last[3])
                continue
        made.append((c, c, 1, to - c))
    return made


print(f"/* Written by case_table.py from Unicode {unicodedata.unidata_version}. */")
for name, change in (("upper", upper), ("lower", lower)):
    print(f"static const struct case_range {name}_ranges[] = {{")
    for first, last, step, delta in ranges(change):
        print(f"    {{0x{first:x}, 0x{last:x}, {step}, {delta}}},")
    print("};")
