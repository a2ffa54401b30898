#!/usr/bin/env bash
# Other people's programs against `memdir mcp`: the conformance suites, the inspector, the official SDKs, and a browser
# whose pages try to get at it.
#   tests/mcp/run.sh [conformance] [inspector] [python] [typescript] [browser]     all of them without a name
#   tests/mcp/run.sh --install                                                     only installs what they need
# MEMDIR names the binary (default: the debug build). What is needed is installed by npm and pip, in fixed versions, below
# target/mcp-tools, and stays there. Exit 0: everything is as the baselines say.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${CARGO_TARGET_DIR:-$root/target}/mcp-tools
memdir=$(realpath -m "${MEMDIR:-${CARGO_TARGET_DIR:-$root/target}/debug/memdir}")
work=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

export HOME=$work/home MEMDIR_HOME=$work/state MEMDIR_VAULT=$work/vault NO_COLOR=1
mkdir -p "$HOME" "$work/project" "$tools"
cd "$work/project"

# npm FOLDER PACKAGE…: once a folder.
npm_once() {
  local folder=$tools/$1
  shift
  [ -e "$folder/.done" ] && return
  mkdir -p "$folder"
  HOME=$tools npm install --no-fund --no-audit --silent --prefix "$folder" "$@" >&2
  touch "$folder/.done"
}

# What each part needs.
get_node() { npm_once node node@24.21.0; }
get_conformance() { npm_once "conformance-$1" "@modelcontextprotocol/conformance@$1"; }
get_inspector() { npm_once inspector @modelcontextprotocol/inspector@2.12.0; }
get_typescript() { npm_once typescript @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0; }
get_browser() { npm_once browser @sparticuz/chromium@153.0.0 puppeteer-core@25.16.0; }
get_python() {
  [ -e "$tools/python/.done" ] && return
  python3 -m venv "$tools/python"
  "$tools/python/bin/pip" install -q mcp==2.3.0
  touch "$tools/python/.done"
}

readonly OLDER=0.1.16 NEWER=0.2.0-alpha.12

if [ "${1:-}" = --install ]; then
  get_node
  get_conformance "$OLDER"
  get_conformance "$NEWER"
  get_inspector
  get_typescript
  get_browser
  get_python
  exit
fi

need_node() {
  get_node
  export PATH=$tools/node/node_modules/node/bin:$PATH
}

# Starts the server and a proxy that knows its token; sets $url.
serve() {
  "$memdir" mcp --http 127.0.0.1:0 2>"$work/server" &
  pids+=($!)
  until [ "$(wc -l <"$work/server")" -ge 3 ]; do sleep 0.05; done
  local port token
  port=$(sed -n '1s/.*:\([0-9]*\)\/mcp$/\1/p' "$work/server")
  token=$(sed -n '2s/^token: //p' "$work/server")
  node "$here/proxy.mjs" "$port" "$token" >"$work/proxy" &
  pids+=($!)
  until [ -s "$work/proxy" ]; do sleep 0.05; done
  url=http://127.0.0.1:$(cat "$work/proxy")/mcp
}

# conformance VERSION NAME OPTION…: one suite against its baseline.
suite() {
  local version=$1 name=$2
  shift 2
  get_conformance "$version"
  local baseline=$here/baseline-$name.yml status=0
  echo "== conformance $version, $name"
  "$tools/conformance-$version/node_modules/.bin/conformance" server --url "$url" -o "$work/results-$name" \
    --expected-failures "$baseline" "$@" >"$work/$name.log" 2>&1 || status=$?
  # Not in the words of a test runner: what does not apply has not failed.
  sed -nE 's/^Total: ([0-9]+) passed, ([0-9]+) failed.*/\1 checks hold, \2 belong to scenarios that do not apply/p' \
    "$work/$name.log" | tail -1
  echo "why the others do not apply:"
  sed -n 's/^  - \([^ ]*\) *# *\(.*\)/  \1: \2/p' "$baseline"
  [ "$status" = 0 ] || { tail -40 "$work/$name.log"; return "$status"; }
}

conformance() {
  need_node
  serve
  suite "$OLDER" 2025 --suite active
  suite "$NEWER" 2026 --requirements 2026-07-28
}

inspector() {
  need_node
  get_inspector
  echo "== inspector 2.12.0"
  local ask=("$tools/inspector/node_modules/.bin/mcp-inspector" --cli "$memdir" mcp --method)
  "${ask[@]}" tools/list | node -e '
    const { tools } = JSON.parse(require("fs").readFileSync(0));
    if (tools.length !== 7) process.exit(1);
    console.log("inspector: " + tools.map((tool) => tool.name).join(" "));'
  "${ask[@]}" tools/call --tool-name memory --tool-arg command=view --tool-arg path=/memories | grep -q 'up to 2 levels deep'
  "${ask[@]}" resources/list >/dev/null
  "${ask[@]}" prompts/list | grep -q dashboard
  echo "inspector: tools, a call, resources and prompts are as expected"
}

python() {
  echo "== Python SDK 2.3.0"
  get_python
  "$tools/python/bin/python" "$here/client.py" "$memdir"
}

typescript() {
  need_node
  get_typescript
  echo "== TypeScript SDK 1.32.2, client 2.4.0"
  node "$here/client.mjs" "$memdir" "$tools/typescript"
}

# S13: pages of other origins in a real Chromium. The package holds the browser itself; it unpacks into TMPDIR.
browser() {
  need_node
  get_browser
  echo "== browser: Chromium 153"
  TMPDIR=$work node "$here/browser.mjs" "$memdir" "$tools/browser"
}

for part in "${@:-conformance inspector python typescript browser}"; do
  for one in $part; do "$one"; done
done
