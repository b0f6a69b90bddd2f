#!/usr/bin/env bash
# peers.sh TESSERA: puts what only tests use into build/peers, by pip, where this machine has neither it nor anything in
# its place: NVIDIA's run-time compiler, and the modules of Python that read and write what Tessera does. `make check`
# runs it. What cannot be had is no failure: tests/not_run.sh tells in the end which tests could not run. Each is tried
# once in a build folder's life.
set -euo pipefail
cd "$(dirname "$0")/.."
tessera=$1 folder=build/peers

# Versions that were tried; pip takes the newest of them that this Python can use.
modules=('pyarrow>=14,<27' 'pandas>=2,<4' 'adbc-driver-manager>=1,<2')
compiler=('nvidia-cuda-nvrtc>=13,<14')

install() { # WHAT PACKAGE...
    local what=$1
    shift
    if [ -e "$folder/tried-$what" ]; then return; fi
    mkdir -p "$folder" && touch "$folder/tried-$what"
    if ! python3 -c 'import pip' 2>/dev/null; then
        echo "Python's pip is not installed, so these are not fetched for the tests: $*" >&2
        return
    fi
    echo "Fetching for the tests, into $folder: $*" >&2
    if ! python3 -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: --no-compile \
        --target "$folder" "$@" >"$folder/log" 2>&1; then
        echo "They could not be fetched: $(tail -1 "$folder/log")" >&2
    fi
}

has_modules() {
    python3 -c 'import importlib.util, sys
sys.exit(not all(importlib.util.find_spec(name) for name in ("pyarrow", "pandas", "adbc_driver_manager")))'
}
if command -v python3 >/dev/null && ! has_modules; then install modules "${modules[@]}"; fi
if ! "$tessera" devices | grep -q '^compiler  NVRTC'; then install compiler "${compiler[@]}"; fi
