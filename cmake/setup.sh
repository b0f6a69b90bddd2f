#!/usr/bin/env bash
# setup.sh [tests]: installs the packages that building Tessera needs and this machine lacks, on Debian and Ubuntu with
# apt-get, as root or with a sudo that asks for no password. Otherwise it prints the command and exits with 2. If nothing
# is missing, it prints nothing and changes nothing (about 50 ms). Libraries unpacked by cmake/fetch-deps.sh count as
# installed. With `tests`, it also installs what some tests need and the others do not, where that is possible.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=()

need_program() { # PACKAGE PROGRAM...: any one of the programs is enough
    local package=$1 program
    shift
    for program in "$@"; do
        if command -v "$program" >/dev/null; then return; fi
    done
    packages+=("$package")
}

need_header() { # PACKAGE HEADER
    if command -v cc >/dev/null && echo "#include <$2>" | cc -E -x c -I .deps/usr/include - >/dev/null 2>&1; then return; fi
    packages+=("$1")
}

need_program build-essential cc
need_program cmake cmake
need_program ninja-build ninja make
need_header libsqlite3-dev sqlite3.h
need_header libxxhash-dev xxhash.h
need_header libjansson-dev jansson.h
# pcre2.h requires that the width of characters is defined before it
need_header libpcre2-dev stddef.h\>$'\n'\#define\ PCRE2_CODE_UNIT_WIDTH\ 8$'\n'\#include\ \<pcre2.h
need_header zlib1g-dev zlib.h
need_header libdeflate-dev libdeflate.h
need_header libzstd-dev zstd.h
need_header liblzma-dev lzma.h
need_header libbz2-dev bzlib.h
need_header liblz4-dev lz4.h
need_header libsnappy-dev snappy-c.h
need_header libprotobuf-c-dev protobuf-c/protobuf-c.h
PATH=$PATH:.deps/usr/bin need_program protobuf-c-compiler protoc-c
need_header libedit-dev histedit.h
# cmocka.h requires that these headers come before it
need_header libcmocka-dev setjmp.h\>$'\n'\#include\ \<stdarg.h\>$'\n'\#include\ \<stddef.h\>$'\n'\#include\ \<stdint.h\>$'\n'\#include\ \<cmocka.h

# Tried once in a build folder's life.
optional=()
need_optional() { # PACKAGE COMMAND...: the command succeeds where the package is installed
    local package=$1
    shift
    if ! "$@" >/dev/null 2>&1; then optional+=("$package"); fi
}
if [ "${1:-}" = tests ] && [ ! -e build/optional-packages ]; then
    need_optional openmpi-bin command -v mpirun
    need_optional python3 command -v python3
    need_optional python3-pip python3 -c 'import pip'
    need_optional groff-base command -v groff
    need_optional pkg-config command -v pkg-config
    need_optional file command -v file
    need_optional locales test -e /usr/share/i18n/locales/de_DE
fi

apt=(apt-get)
if [ "$(id -u)" -ne 0 ]; then apt=(sudo -n apt-get); fi
may_install() { command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; }
export DEBIAN_FRONTEND=noninteractive

install_optional() {
    if [ ${#optional[@]} -eq 0 ] || ! may_install; then return; fi
    mkdir -p build && touch build/optional-packages
    echo "Installing ${optional[*]}, for some of the tests" >&2
    if ! "${apt[@]}" install -y --no-install-recommends "${optional[@]}" >/dev/null 2>&1 &&
        ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${optional[@]}"; } >/dev/null 2>&1; then
        echo "${optional[*]} could not be installed; tests that need them do not run" >&2
    fi
}

if [ ${#packages[@]} -eq 0 ]; then
    install_optional
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "Tessera needs what Debian calls: ${packages[*]}; install them with this system's package manager" >&2
    exit 2
fi
if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    echo "Tessera needs packages that are not installed. Run this, then try again:" >&2
    echo "    sudo apt-get install ${packages[*]}" >&2
    exit 2
fi
echo "Installing ${packages[*]}" >&2
if ! "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >/dev/null 2>&1; then
    # the package lists may be old, or were never fetched
    if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } >&2; then
        echo "The packages could not be installed; see above, then run: sudo apt-get install ${packages[*]}" >&2
        exit 3
    fi
fi
install_optional
