#!/usr/bin/env bash
# test_packages.sh BUILD CPACK: makes a .deb and a .rpm of what was built; checks that each names the libraries that the
# program needs; unpacks it, runs the program from there; and, with the rights of the superuser, installs it below an empty
# folder and removes it again. A kind whose programs are not installed is left out; 77 if both are.
set -euo pipefail
build=$1 cpack=$2
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_packages.XXXXXX")
trap 'rm -rf "$folder"' EXIT
tried=0

fail() { echo "test_packages.sh: $*" >&2 && exit 1; }
has() { grep -qE "$2" <<<"$3" || fail "$1: nothing matches '$2' in: $3"; } # WHAT PATTERN TEXT
make_package() { # KIND FILE-PATTERN
    "$cpack" -G "$1" --config "$build/CPackConfig.cmake" -B "$folder/$1" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
    package=$(find "$folder/$1" -maxdepth 1 -name "$2")
    [ -s "$package" ] || fail "cpack made no $2: $(cat "$folder/log")"
}
# What a user has after installing below ROOT.
try_out() { # ROOT
    local version
    version=$("$1/usr/bin/tessera" --version)
    has version '^tessera [0-9]+\.' "$version"
    "$1/usr/bin/tessera" codecs >/dev/null
    for file in include/tessera.h share/man/man1/tessera-sql.1 share/bash-completion/completions/tessera \
        share/zsh/site-functions/_tessera share/fish/vendor_completions.d/tessera.fish share/doc/Tessera/docs/sql.md; do
        [ -s "$1/usr/$file" ] || fail "/usr/$file is missing"
    done
    [ "$(find "$1/usr" -name "libtessera.so.*" | wc -l)" -ge 2 ] || fail "libtessera.so is missing"
}

if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
    tried=1
    make_package DEB '*.deb'
    depends=$(dpkg-deb -f "$package" Depends)
    for library in libc6 libsqlite3-0 libedit2 libzstd1 libjansson4 libpcre2-8-0; do has Depends "(^|, )$library( |,|$)" "$depends"; done
    has postinst ldconfig "$(dpkg-deb --info "$package" postinst)"
    dpkg-deb -x "$package" "$folder/extracted"
    try_out "$folder/extracted"
    if [ "$(id -u)" = 0 ]; then
        mkdir -p "$folder/system/var/lib/dpkg/updates" "$folder/system/var/lib/dpkg/info"
        touch "$folder/system/var/lib/dpkg/status" "$folder/system/var/lib/dpkg/available"
        dpkg --root="$folder/system" --force-depends --force-not-root --force-script-chrootless --no-triggers \
            -i "$package" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
        try_out "$folder/system"
        dpkg --root="$folder/system" --force-depends --force-script-chrootless --no-triggers -r tessera >"$folder/log" 2>&1 ||
            fail "$(cat "$folder/log")"
        left=$(cd "$folder/system" && find . -path ./var -prune -o \( -type f -o -type l \) -print)
        [ -z "$left" ] || fail "left after removing: $left"
    fi
else
    echo "[  NOT RUN ] dpkg-deb, dpkg-shlibdeps or file is not installed, so no .deb is made"
fi

if command -v rpmbuild >/dev/null; then
    tried=1
    make_package RPM '*.rpm'
    requires=$(rpm -qp --requires "$package")
    for library in libc.so.6 libsqlite3.so.0 libzstd.so.1; do has requires "^$library" "$requires"; done
    mkdir -p "$folder/rpm"
    if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
        (cd "$folder/rpm" && rpm2cpio "$package" | cpio -idm --quiet)
        try_out "$folder/rpm"
    fi
    if [ "$(id -u)" = 0 ]; then
        mkdir -p "$folder/rpmroot/var/lib/rpm"
        rpm --root "$folder/rpmroot" --dbpath /var/lib/rpm --nodeps --noscripts -i "$package"
        try_out "$folder/rpmroot"
        rpm --root "$folder/rpmroot" --dbpath /var/lib/rpm --nodeps --noscripts -e tessera
        [ ! -e "$folder/rpmroot/usr/bin/tessera" ] || fail "the .rpm left the program"
    fi
else
    echo "[  NOT RUN ] rpmbuild is not installed, so no .rpm is made"
fi

[ $tried = 1 ] || exit 77
