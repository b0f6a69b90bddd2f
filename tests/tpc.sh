#!/usr/bin/env bash
# tpc.sh TESSERA [OPTION...]: asks the 22 statements of TPC-H and the 99 of TPC-DS, as their texts stand, and compares
# every cell with DuckDB's answer. Data and texts come from DuckDB's extensions, which pip installs into build/tpc once;
# that needs the network. tests/tpc/tpc.py has the options:
#
#     tests/tpc.sh build/release/tessera                        both at scale factor 0.1, with and without references
#     tests/tpc.sh build/release/tessera --sf 1 --only tpch:3,tpcds:14 --references yes
#     tests/tpc.sh build/release/tessera --only tpcds --estimates      expected rows beside those that there are
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/build/tpc python=$root/build/tpc/python/bin/python
if ! "$python" -c 'import duckdb, duckdb_extension_tpch, duckdb_extension_tpcds' 2>/dev/null; then
    echo "Fetching into build/tpc: DuckDB and its extensions tpch and tpcds" >&2
    mkdir -p "$folder"
    python3 -m venv "$folder/python"
    "$python" -m pip install --quiet --disable-pip-version-check \
        duckdb==1.5.5 duckdb-extension-tpch==1.5.5 duckdb-extension-tpcds==1.5.5
fi
exec "$python" "$root/tests/tpc/tpc.py" --folder "$folder" "$@"
