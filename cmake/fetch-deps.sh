#!/usr/bin/env bash
# Downloads the Debian packages of Tessera's libraries (6 MB) and unpacks them into .deps/, without installing
# anything. It serves machines that cannot install packages, or cannot reach a package server (copy the folder
# there). Then configure with
#     cmake -S . -B build -DCMAKE_PREFIX_PATH=$PWD/.deps/usr
# It runs on Debian and Ubuntu, as any user.
set -euo pipefail
cd "$(dirname "$0")/.."

rm -rf .deps
mkdir -p .deps/packages
cd .deps/packages
apt-get -o APT::Sandbox::User=root download libcmocka-dev libcmocka0 libsqlite3-dev libsqlite3-0 libxxhash-dev libxxhash0 libjansson-dev libjansson4 libpcre2-dev libpcre2-8-0 zlib1g-dev zlib1g libdeflate-dev libdeflate0 libzstd-dev libzstd1 liblzma-dev liblzma5 libbz2-dev libbz2-1.0 libedit-dev libedit2 libbsd0 \
    liblz4-dev liblz4-1 libsnappy-dev libsnappy1v5 libprotobuf-c-dev libprotobuf-c1 protobuf-c-compiler \
    $(apt-cache depends protobuf-c-compiler | awk '/Depends: libproto/ { print $2 }')
for package in *.deb; do dpkg -x "$package" ..; done
cd ..
find usr/bin -mindepth 1 ! -name 'protoc*' -delete
rm -rf packages usr/share
echo "Unpacked into $PWD: $(find usr/include -name '*.h' | wc -l) headers, $(find usr/lib -name '*.so*' | wc -l) libraries" >&2
