#!/usr/bin/env bash
# test_install.sh BUILD CMAKE CC PREFIX_PATH: installs what was built into an empty folder, and checks that the
# program there runs and that another project finds the library: by CMake, and by pkg-config where it is installed.
set -euo pipefail
build=$1 cmake=$2 cc=$3 prefix_path=$4
source=$(cd "$(dirname "$0")/../../support" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_install.XXXXXX")
trap 'rm -rf "$folder"' EXIT

"$cmake" --install "$build" --prefix "$folder/installed" >/dev/null
"$folder/installed/bin/tessera" --version
"$folder/installed/bin/tessera" devices
test -s "$folder/installed/share/doc/Tessera/LICENSE"

mkdir "$folder/project"
cp "$source/install_consumer.c" "$folder/project/"
cat >"$folder/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(Consumer C)
find_package(Tessera 0.1 REQUIRED)
add_executable(consumer install_consumer.c)
target_link_libraries(consumer Tessera::tessera)
END
"$cmake" -S "$folder/project" -B "$folder/project/build" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_PREFIX_PATH="$folder/installed;$prefix_path" >/dev/null
"$cmake" --build "$folder/project/build" >/dev/null
"$folder/project/build/consumer"

# With libraries from .deps, pkg-config would not find their files.
if command -v pkg-config >/dev/null && [ -z "$prefix_path" ]; then
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$folder/installed" -name tessera.pc)")
    # shellcheck disable=SC2046 # flags are words
    "$cc" "$source/install_consumer.c" -o "$folder/by-pkg-config" \
        $(pkg-config --define-variable=prefix="$folder/installed" --cflags --libs tessera)
    "$folder/by-pkg-config"
fi
