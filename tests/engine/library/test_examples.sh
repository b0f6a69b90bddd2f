#!/usr/bin/env bash
# test_examples.sh EXAMPLE LIBRARY: runs docs/examples as docs/library.md says and compares what they print; tessera.h
# must be C++ as it is; the shared library must show nothing but its calls.
set -euo pipefail
example=$1 library=$2
source=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_examples.XXXXXX")
trap 'rm -rf "$folder"' EXIT

diff <("$example" "$folder/c.db") - <<'END'
1 pieces or more:
  east     0.99
  north    2.50
  south   12.00
2 pieces or more:
  north       -
  south   12.00
END

nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /^tessera_/ {print "not of tessera.h:", $0; wrong = 1} END {exit wrong}'

if command -v c++ >/dev/null; then
    printf '#include <tessera.h>\nint main() { ArrowArrayStream stream{}; return stream.release || tessera_version() != TESSERA_API_VERSION; }\n' >"$folder/try.cpp"
    c++ -std=c++11 -Wall -Wextra -Werror -I"$source/engine/library" "$folder/try.cpp" "$library" -Wl,-rpath,"$(dirname "$library")" -o "$folder/try"
    "$folder/try"
fi

# The public header stands alone, and so has Arrow's structs once more.
structs() { sed -n '/^#ifndef ARROW_C_DATA_INTERFACE/,/^};$/p; /^struct ArrowArray {/,/^#endif/p; /^#ifndef ARROW_C_STREAM_INTERFACE/,/^#endif/p' "$source/$1"; }
test "$(structs engine/library/tessera.h | wc -l)" -gt 30
diff <(structs engine/library/tessera.h) <(structs loader/arrow/arrow.h)

if ! command -v python3 >/dev/null; then
    echo "[  NOT RUN ] python3 is not installed, which docs/examples/shop.py needs"
    exit 0
fi
python3 "$source/docs/examples/shop.py" "$library" "$folder/python.db" | tee "$folder/printed"
diff <(head -2 "$folder/printed") - <<'END'
Bern 2.50 2 2024-03-01
Lugano 12.00 1 2024-02-29
END
if python3 -c 'import pyarrow' 2>/dev/null; then
    diff <(tail -n +3 "$folder/printed") - <<'END'
2 rows appended; 5 in all
[{'city': 'Bern', 'paid': Decimal('9.75'), 'sales': 3, 'latest': datetime.date(2024, 3, 1)}, {'city': 'Lugano', 'paid': Decimal('12.50'), 'sales': 2, 'latest': datetime.date(2025, 1, 1)}]
END
else
    grep -q 'pyarrow is not installed' "$folder/printed"
fi
