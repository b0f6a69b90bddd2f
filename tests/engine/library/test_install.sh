#!/usr/bin/env bash
# test_install.sh BUILD CMAKE CC PREFIX_PATH: installs what was built into an empty folder, moves it, and checks that the
# program there runs; that another project finds the library, shared and static, by CMake, and by pkg-config where it is
# installed; that one public header, a manual page of each command, no more libraries than are used, and one version come with it.
set -euo pipefail
build=$1 cmake=$2 cc=$3 prefix_path=$4
source=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_install.XXXXXX")
trap 'rm -rf "$folder"' EXIT

fail() { echo "test_install.sh: $*" >&2 && exit 1; }
equal() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; } # WHAT FOUND WANTED

"$cmake" --install "$build" --prefix "$folder/first" >/dev/null
mv "$folder/first" "$folder/installed"
version=$("$folder/installed/bin/tessera" --version)
version=${version#tessera }
"$folder/installed/bin/tessera" devices
test -s "$folder/installed/share/doc/Tessera/LICENSE"
test -s "$folder/installed/share/doc/Tessera/docs/guide.md"
for file in man/man1/tessera.1 man/man1/tessera-ssb-run.1 bash-completion/completions/tessera zsh/site-functions/_tessera \
    fish/vendor_completions.d/tessera.fish; do
    test -s "$folder/installed/share/$file" || fail "$file is not installed"
done
equal "pages of commands" "$(("$folder/installed/bin/tessera" --commands && echo itself) | wc -l)" \
    "$(find "$folder/installed/share/man" -type f | wc -l)"
equal "installed headers" "$(cd "$folder/installed/include" && find . -type f)" ./tessera.h
equal "folder names of the build in the packages" \
    "$(grep -rlF -e "$folder/first" -e "$source" "$folder/installed" --include='*.pc' --include='Tessera*.cmake')" ""
test -n "$(find "$folder/installed" -name libtessera_adbc.so)" || fail "the ADBC driver is not installed"
test -s "$folder/installed/share/tessera/python/adbc_driver_tessera/dbapi.py"
test -s "$folder/installed/share/tessera/python/tessera/__init__.py"
shared=$(find "$folder/installed" -name libtessera.so)
libraries=$(dirname "$shared")

# ---- What the static library needs, as docs/library.md says ----

named=$(sed -n '/libtessera.a` needs/,/^$/p' "$source/docs/library.md" | tr '\n' ' ')
for library in $(sed -n 's/^Libs.private: //p' "$(find "$folder/installed" -name tessera.pc)"); do
    library=${library#-l}
    case $library in m | dl | pthread) continue ;; esac
    grep -qiwF "$library" <<<"$named" || grep -qiwF "lib$library" <<<"$named" ||
        fail "docs/library.md does not say that libtessera.a needs $library"
done

# ---- What the shared library is called and what it needs ----

api=$(sed -n 's/^#define TESSERA_API_VERSION //p' "$folder/installed/include/tessera.h")
equal "version of the calls" "$api" "${version%%.*}"
equal "file of the shared library" "$(basename "$(readlink -f "$shared")")" "libtessera.so.$version"
if command -v readelf >/dev/null; then
    dynamic=$(readelf -d "$shared")
    equal soname "$(sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p' <<<"$dynamic")" "libtessera.so.$api"
    equal "soname of the driver" libtessera_adbc.so."$api" \
        "$(readelf -d "$libraries/libtessera_adbc.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
    if grep -E 'NEEDED.*lib(sqlite3|edit|cmocka)' <<<"$dynamic"; then fail "libtessera.so does not use these libraries"; fi
fi

# ---- CMake ----

mkdir "$folder/project"
cp "$source/tests/support/install_consumer.c" "$folder/project/"
cat >"$folder/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(Consumer C)
find_package(Tessera ${WANTED} REQUIRED COMPONENTS static)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/version "${Tessera_VERSION}")
add_executable(by-cmake install_consumer.c)
target_link_libraries(by-cmake Tessera::tessera)
add_executable(by-cmake-static install_consumer.c)
target_link_libraries(by-cmake-static Tessera::tessera_static)
END
"$cmake" -S "$folder/project" -B "$folder/project/build" -DCMAKE_C_COMPILER="$cc" -DWANTED="$api" \
    -DCMAKE_PREFIX_PATH="$folder/installed;$prefix_path" >/dev/null
"$cmake" --build "$folder/project/build" >/dev/null
equal "version of the CMake package" "$(<"$folder/project/build/version")" "$version"
for program in by-cmake by-cmake-static; do
    equal "answer of $program" "$("$folder/project/build/$program" "$folder/$program.db")" "$api"
done

# ---- pkg-config ----

if ! command -v pkg-config >/dev/null; then
    echo "[  NOT RUN ] pkg-config is not installed, so tessera.pc is not tried"
    exit 0
fi
export PKG_CONFIG_PATH=$libraries/pkgconfig
equal "prefix in tessera.pc" "$(readlink -f "$(pkg-config --variable=prefix tessera)")" "$(readlink -f "$folder/installed")"
equal "version in tessera.pc" "$(pkg-config --modversion tessera)" "$version"
# shellcheck disable=SC2046 # flags are words
"$cc" "$source/tests/support/install_consumer.c" -o "$folder/by-pkg-config" $(pkg-config --cflags --libs tessera)
equal "answer of by-pkg-config" "$(LD_LIBRARY_PATH=$libraries "$folder/by-pkg-config" "$folder/pkg-config.db")" "$api"

# A libdir of two names, as Debian has it.
"$cmake" -S "$source" -B "$folder/debian" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix_path" -DTESSERA_TESTS=OFF \
    -DCMAKE_INSTALL_LIBDIR=lib/x86_64-linux-gnu >/dev/null
mkdir -p "$folder/usr/lib/x86_64-linux-gnu/pkgconfig"
cp "$folder/debian/tessera.pc" "$folder/usr/lib/x86_64-linux-gnu/pkgconfig/"
export PKG_CONFIG_PATH=$folder/usr/lib/x86_64-linux-gnu/pkgconfig
equal "prefix in Debian's tessera.pc" "$(readlink -f "$(pkg-config --variable=prefix tessera)")" "$folder/usr"
equal "libdir in Debian's tessera.pc" "$(readlink -f "$(pkg-config --variable=libdir tessera)")" "$folder/usr/lib/x86_64-linux-gnu"
