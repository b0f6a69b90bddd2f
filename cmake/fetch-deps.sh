#!/usr/bin/env bash
# Downloads the Debian packages of Tessera's libraries (9 MB) and unpacks them into .deps/ (24 MB), without installing
# anything. It serves machines that cannot install packages, or cannot reach a package server (copy the folder
# there). Then configure with
#     cmake -S . -B build -DCMAKE_PREFIX_PATH=$PWD/.deps/usr
# The packages are those that setup.sh would install for their headers, and the libraries that these depend on. It runs
# on Debian and Ubuntu, as any user.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(sed -n 's/^need_header \([^ ]*\) .*/\1/p' cmake/setup.sh)
if [ ${#packages[@]} -eq 0 ]; then echo "fetch-deps.sh: cmake/setup.sh names no package (need_header)" >&2 && exit 3; fi
packages+=(protobuf-c-compiler)

# The libraries that packages depend on, without those that every machine with a C compiler has.
libraries_of() { # PACKAGE...
    apt-cache depends -i "$@" | awk '$1 ~ /Depends:$/ { print $2 }' | grep -E '^(lib|zlib)' |
        grep -vE '^lib(c6|c-dev|gcc|stdc|crypt|nsl|tirpc)' | sort -u
}

known=0
while [ ${#packages[@]} -gt "$known" ]; do
    known=${#packages[@]}
    mapfile -t packages < <({ printf '%s\n' "${packages[@]}" && libraries_of "${packages[@]}"; } | sort -u)
done

rm -rf .deps
mkdir -p .deps/packages
cd .deps/packages
apt-get -o APT::Sandbox::User=root download "${packages[@]}"
for package in *.deb; do dpkg -x "$package" ..; done
cd ..
find usr/bin -mindepth 1 ! -name 'protoc*' -delete
rm -rf packages usr/share
echo "Unpacked into $PWD: $(find usr/include -name '*.h' | wc -l) headers, $(find usr/lib -name '*.so*' | wc -l) libraries" >&2
