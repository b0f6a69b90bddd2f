"""Writes real_log_table.h: what real_log_pair (real.h) looks up. Takes mpmath.

    python3 storage/base/number/real_log_table.py > storage/base/number/real_log_table.h

A number m between 0.6875 and 1.375 is in one of 128 intervals, by the seven bits after its power of two. Each has an inverse of
eight bits after the point, by which m becomes 1 + r without a rounding: |r| is less than 2^-7, and a multiple of 2^-60, or
less than 2^-8 and a multiple of 2^-61. The logarithm of 1 / inverse has a first part of 42 bits after the point."""
import struct
from math import ceil, floor

from mpmath import log, mp, mpf, nint

mp.prec = 300
FIRST = 0x3FE6000000000000
SECOND = 1 << 42


def number(bits):
    return struct.unpack("d", struct.pack("Q", bits))[0]


def most(inverse, low, high):
    return max(abs(low * inverse - 1), abs(high * inverse - 1))


def entry(index):
    low, high = mpf(number(FIRST + (index << 45))), mpf(number(FIRST + (index + 1 << 45)))
    steps = [step for step in range(floor(256 / high), ceil(256 / low) + 1)
             if most(mpf(step) / 256, low, high) <= mpf(2) ** (-8 if low < 1 and step % 2 else -7)]
    inverse = mpf(min(steps, key=lambda step: most(mpf(step) / 256, low, high))) / 256 if not low <= 1 <= high else mpf(1)
    logarithm = -log(inverse)
    first = nint(logarithm * SECOND) / SECOND
    return float(inverse), float(first), float(logarithm - first)


def column(name, place):
    values = ["%r" % entry(index)[place] for index in range(128)]
    lines, line = [], "   "
    for value in values:
        if len(line) + len(value) + 2 > 110:
            lines.append(line)
            line = "   "
        line += " " + value + ","
    return "REAL_TABLE real_log_%s[128] = {\n%s};" % (name, "\n".join(lines + [line]))


print("/*\n * real_log_table.h: 128 inverses and their logarithms for real_log_pair (real.h). Written by real_log_table.py.\n */")
print("#ifndef TESSERA_STORAGE_BASE_NUMBER_REAL_LOG_TABLE_H\n#define TESSERA_STORAGE_BASE_NUMBER_REAL_LOG_TABLE_H\n")
print("/* clang-format off */")
for place, name in enumerate(["inverses", "firsts", "seconds"]):
    print(column(name, place))
print("/* clang-format on */\n\n#endif")
ln2 = log(mpf(2))
first = floor(ln2 * SECOND) / mpf(SECOND)
import sys
print(repr(float(first)), repr(float(ln2 - first)), file=sys.stderr)
print(max(most(mpf(entry(i)[0]), mpf(number(FIRST + (i << 45))), mpf(number(FIRST + (i + 1 << 45)))) for i in range(128)), file=sys.stderr)
