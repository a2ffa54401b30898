#!/bin/sh
# Fetches what sources.toml names: fetch.sh DIR fills DIR/npm, DIR/pip and DIR/apt.
# Needs Debian 12 with its package lists up to date (apt-get update), npm and pip with Python 3.11.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/npm" "$1/pip" "$1/apt" "$1/debs"
cd "$1"

python3 - "$here/sources.toml" > list <<'PY'
import sys, tomllib
for source in tomllib.load(open(sys.argv[1], "rb")).values():
    for package in source["packages"]:
        print(source["kind"], package)
PY

while read -r kind package; do
    case $kind in
    npm) (cd npm && npm pack --silent "$package") ;;
    pip) pip download -q --no-deps -d pip "$package" ;;
    apt)
        (cd debs && apt-get -q download "$package")
        dpkg-deb -x debs/"${package%%=*}"_*.deb "apt/${package%%=*}"
        ;;
    esac
done < list
