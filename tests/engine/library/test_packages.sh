#!/usr/bin/env bash
# test_packages.sh BUILD CPACK: makes .deb and .rpm of what was built, five of each: program, library, development, ADBC
# driver, Python. Checks what is in them, and that they name each other and the libraries that their files need; unpacks
# all, runs the program from there; and, with the rights of the superuser, installs them below an empty folder and
# removes them again. A kind whose programs are not installed is left out; 77 if both are.
set -euo pipefail
build=$1 cpack=$2
source=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_packages.XXXXXX")
trap 'rm -rf "$folder"' EXIT
tried=0

fail() { echo "test_packages.sh: $*" >&2 && exit 1; }
has() { grep -qE "$2" <<<"$3" || fail "$1: nothing matches '$2' in: $3"; } # WHAT PATTERN TEXT
make_packages() { # KIND FILE-PATTERN
    "$cpack" -G "$1" --config "$build/CPackConfig.cmake" -B "$folder/$1" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
    mapfile -t packages < <(find "$folder/$1" -maxdepth 1 -name "$2")
    [ ${#packages[@]} = 5 ] || fail "cpack made ${#packages[@]} packages $2: $(cat "$folder/log")"
}
# What a user has after installing below ROOT.
try_out() { # ROOT
    local version
    version=$("$1/usr/bin/tessera" --version)
    has version '^tessera [0-9]+\.' "$version"
    "$1/usr/bin/tessera" codecs >/dev/null
    [ -n "$(find "$1/usr/share/man/man1" -name 'tessera-sql.1*' -size +0)" ] || fail "the manual page of sql is missing"
    for file in include/tessera.h share/bash-completion/completions/tessera \
        share/zsh/site-functions/_tessera share/fish/vendor_completions.d/tessera.fish share/doc/Tessera/docs/sql.md; do
        [ -s "$1/usr/$file" ] || fail "/usr/$file is missing"
    done
    [ "$(find "$1/usr" -name "libtessera.so.*" | wc -l)" -ge 2 ] || fail "libtessera.so is missing"
}

package() { find "$folder/$1" -maxdepth 1 -name "$2$3*"; } # KIND NAME SEPARATOR
api=$(sed -n 's/^#define TESSERA_API_VERSION //p' "$source/engine/library/tessera.h")
# The files of a package, but its copyright and changelogs, are those: names without folders.
holds() { # PACKAGE LIST FILE...
    local package=$1 list=$2 found
    shift 2
    found=$(grep -vE '/$|/share/doc/' <<<"$list" | sed 's|.*/||' | sort | tr '\n' ' ')
    [ "$found" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] || fail "$package holds $found"
}
version=$("$build/tessera" --version)
version=${version#tessera }
library_files=("libtessera.so.$api" "libtessera.so.$version")
adbc_files=(libtessera_adbc.so "libtessera_adbc.so.$api" "libtessera_adbc.so.$version")

if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
    tried=1
    make_packages DEB '*.deb'
    for name in tessera "libtessera$api" libtessera-dev tessera-adbc python3-tessera; do
        file=$(package DEB "$name" _)
        [ "$(dpkg-deb -f "$file" Package)" = "$name" ] || fail "$file is no package $name"
        rm -rf "$folder/one" && dpkg-deb -x "$file" "$folder/one"
        documents=$folder/one/usr/share/doc/$name
        grep -q 'Copyright (c)' "$documents/copyright" || fail "$name has no copyright"
        gzip -cd "$documents/changelog.gz" | cmp - "$source/CHANGELOG.md"
        has "changelog of $name" "^tessera \\($version-" "$(gzip -cd "$documents/changelog.Debian.gz")"
        dpkg-deb -x "$file" "$folder/extracted"
    done
    list() { dpkg-deb -c "$(package DEB "$1" _)" | awk '{print $6}'; } # NAME
    depends() { dpkg-deb -f "$(package DEB "$1" _)" Depends; }
    holds library "$(list "libtessera$api")" "${library_files[@]}"
    holds adbc "$(list tessera-adbc)" "${adbc_files[@]}"
    for library in libc6 libsqlite3-0 libedit2 libzstd1 libjansson4 libpcre2-8-0; do
        has Depends "(^|, )$library( |,|$)" "$(depends tessera)"
    done
    has Depends "libzstd1" "$(depends "libtessera$api")"
    if grep -E 'libsqlite3-0|libedit2' <<<"$(depends "libtessera$api") $(depends tessera-adbc)"; then
        fail "the library does not use these"
    fi
    for name in libtessera-dev python3-tessera; do
        has Depends "libtessera$api \\(= $version-1\\)" "$(depends $name)"
    done
    for file in include/tessera.h libtessera.so libtessera.a tessera.pc; do
        has development "/$file\$" "$(list libtessera-dev)"
    done
    has postinst ldconfig "$(dpkg-deb --info "$(package DEB "libtessera$api" _)" postinst)"
    [ -s "$folder/extracted/usr/share/man/man1/tessera.1.gz" ] || fail "manual pages are not compressed"
    [ -s "$folder/extracted/usr/lib/python3/dist-packages/tessera/__init__.py" ] || fail "Python's module is missing"
    try_out "$folder/extracted"
    if [ "$(id -u)" = 0 ]; then
        mkdir -p "$folder/system/var/lib/dpkg/updates" "$folder/system/var/lib/dpkg/info"
        touch "$folder/system/var/lib/dpkg/status" "$folder/system/var/lib/dpkg/available"
        dpkg --root="$folder/system" --force-depends --force-not-root --force-script-chrootless --no-triggers \
            -i "${packages[@]}" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
        try_out "$folder/system"
        dpkg --root="$folder/system" --force-depends --force-script-chrootless --no-triggers \
            -r tessera "libtessera$api" libtessera-dev tessera-adbc python3-tessera >"$folder/log" 2>&1 ||
            fail "$(cat "$folder/log")"
        left=$(cd "$folder/system" && find . -path ./var -prune -o \( -type f -o -type l \) -print)
        [ -z "$left" ] || fail "left after removing: $left"
    fi
else
    echo "[  NOT RUN ] dpkg-deb, dpkg-shlibdeps or file is not installed, so no .deb is made"
fi

if command -v rpmbuild >/dev/null; then
    tried=1
    make_packages RPM '*.rpm'
    file() { package RPM "$1" "-$version"; } # NAME
    holds library "$(rpm -qlp "$(file "libtessera$api")")" "${library_files[@]}"
    holds adbc "$(rpm -qlp "$(file tessera-adbc)")" "${adbc_files[@]}"
    requires=$(rpm -qp --requires "$(file tessera)")
    for library in libc.so.6 libsqlite3.so.0 libzstd.so.1; do has requires "^$library" "$requires"; done
    for name in libtessera-devel python3-tessera; do
        has requires "^libtessera$api = $version" "$(rpm -qp --requires "$(file $name)")"
    done
    mkdir -p "$folder/rpm"
    if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
        for each in "${packages[@]}"; do (cd "$folder/rpm" && rpm2cpio "$each" | cpio -idm --quiet); done
        try_out "$folder/rpm"
    fi
    if [ "$(id -u)" = 0 ]; then
        mkdir -p "$folder/rpmroot/var/lib/rpm"
        rpm --root "$folder/rpmroot" --dbpath /var/lib/rpm --nodeps --noscripts -i "${packages[@]}"
        try_out "$folder/rpmroot"
        rpm --root "$folder/rpmroot" --dbpath /var/lib/rpm --nodeps --noscripts -e \
            tessera "libtessera$api" libtessera-devel tessera-adbc python3-tessera
        [ ! -e "$folder/rpmroot/usr/bin/tessera" ] || fail "the .rpm left the program"
    fi
else
    echo "[  NOT RUN ] rpmbuild is not installed, so no .rpm is made"
fi

[ $tried = 1 ] || exit 77
