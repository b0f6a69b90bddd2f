#!/usr/bin/env bash
# test_makefile.sh: what the targets of the Makefile would do: `make ssb` builds the program alone, `make check` ends with
# what could not run, and `make fuzz` is a part of `make trust`.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v make >/dev/null; then
    echo "[  NOT RUN ] make is not installed"
    exit 0
fi
plan() { env -u MAKEFLAGS -u MAKELEVEL make -n "$1"; } # TARGET

builds=$(plan ssb | grep -e '--build')
if [ "$(wc -l <<<"$builds")" != 1 ] || [[ $builds != *"--target tessera_program" ]]; then
    echo "make ssb builds: $builds" && exit 1
fi
if [[ $(plan check | tail -1) != *tests/not_run.sh* ]]; then echo "make check ends with: $(plan check | tail -1)" && exit 1; fi
fuzz=$(plan fuzz)
for part in 'build/release ' 'build/sanitize ' "tests/trust.sh '1' '^(sql|hostile|columnar)\$' '0'"; do
    [[ $fuzz == *"$part"* ]] || { echo "make fuzz: there is no $part in: $fuzz" && exit 1; }
done
