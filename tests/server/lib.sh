# What the scripts of this directory share: a place of their own, a server in it, and somebody who asks it.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
memdir=$(realpath -m "${MEMDIR:-$root/target/release/memdir}")
work=$(mktemp -d)
jobs=()
cleanups=()

finish() {
  local job step
  for job in "${jobs[@]}"; do kill "$job" 2>/dev/null || true; done
  for job in "${jobs[@]}"; do wait "$job" 2>/dev/null || true; done
  for step in "${cleanups[@]}"; do "$step" || true; done
  rm -rf "$work"
}
trap finish EXIT

fail() {
  echo "BAD: $*" >&2
  for log in "$work"/*.log; do
    [[ -s $log ]] && { echo "--- ${log##*/}"; tail -n 20 "$log"; } >&2
  done
  exit 1
}

# call TOKEN METHOD PATH [BODY]: asks the server, sets $status and $answer.
call() {
  local token=$1 method=$2 path=$3 body=${4-}
  # A file for each shell: one may wait for an answer while another asks.
  local file=$work/answer.$BASHPID
  local words=(-sS -o "$file" -w '%{http_code}' -X "$method" -H "Authorization: Bearer $token")
  [[ -z $body ]] || words+=(-H 'Content-Type: application/json' --data-binary "$body")
  status=$(curl "${words[@]}" "${CURL_OPTIONS[@]}" "$url$path") || fail "$method $path: no answer"
  answer=$(cat "$file")
}
CURL_OPTIONS=()

# want STATUS: of the last call.
want() {
  [[ $status == "$1" ]] || fail "status $status and not $1: $answer"
}

# put TOKEN NAME BASE TEXT: writes a memory of the project `shop`; sets $seq.
put() {
  local text hash
  text=$(printf -- '---\nname: %s\ndescription: About %s\ntype: project\nscope: team\n---\n\n%s\n' "$2" "$2" "$4"; printf x)
  text=${text%x}
  hash=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
  call "$1" POST "/v1/teams/team/projects/shop/batch" "$(jq -n --arg path "$2.md" --argjson base "$3" --arg hash "$hash" \
    --arg text "$text" '{ops: [{op: "put", path: $path, base: $base, hash: $hash, text: $text}]}')"
  want 200
  [[ $(jq '.results[0].status' <<<"$answer") =~ ^20[01]$ ]] || fail "$2 was not written: $answer"
  seq=$(jq '.results[0].seq' <<<"$answer")
}

# join INVITE MEMBER: sets $token.
join() {
  call none POST /v1/join "$(jq -n --arg invite "$1" --arg member "$2" '{invite: $invite, member: $member}')"
  [[ $status =~ ^20[01]$ ]] || fail "could not join: $answer"
  token=$(jq -r .token <<<"$answer")
}

# holdings TOKEN: prints path, version, hash, author and text of everything in the project, removals too.
holdings() {
  call "$1" GET "/v1/teams/team/projects/shop/changes?since=0&limit=1000&text=1"
  want 200
  jq -S '[.changes[] | {path, seq, hash, author, at, deleted, text}]' <<<"$answer"
}

# serve HOME OPTION…: starts a server on a port of its own; sets $url, $server and, on a first start, $invite.
serve() {
  local home=$1 n
  shift
  mkdir -p "$home"
  : >"$work/server.log"
  env -i PATH="$PATH" HOME="$home" MEMDIR_HOME="$home" TZ=UTC ${MEMDIR_DB:+MEMDIR_DB="$MEMDIR_DB"} \
    "$memdir" serve "$@" >>"$work/server.log" 2>&1 </dev/null &
  server=$!
  jobs+=("$server")
  for ((n = 0; n < 200; n++)); do
    url=$(grep -oE 'http://[0-9.:]+[0-9]' "$work/server.log" | head -n 1 || true)
    if [[ -n $url ]] && curl -fsS -o /dev/null "$url/ready" 2>/dev/null; then
      found=$(grep -oE 'mdi_[0-9a-f]{48}' "$work/server.log" | head -n 1 || true)
      [[ -z $found ]] || invite=$found
      return
    fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  fail "the server did not start"
}

# Ends the server as systemd does, and wants it to leave quietly.
stop_server() {
  local status=0
  kill -TERM "$server"
  wait "$server" || status=$?
  [[ $status -eq 0 ]] || fail "the server left with $status"
}

# start_postgres PROGRAMS: a PostgreSQL of our own, below $work; sets $pg_port. Its role `memdir` may do everything.
start_postgres() {
  local bin=$1 user=postgres data=$work/pg n
  pg_port=$((20000 + RANDOM % 20000))
  # It refuses to run as root.
  as() { if [[ $(id -u) -eq 0 ]]; then setpriv --reuid="$user" --regid="$user" --clear-groups "$@"; else "$@"; fi; }
  mkdir -p "$data"
  chmod 711 "$work"
  [[ $(id -u) -ne 0 ]] || chown "$user" "$data"
  as "$bin/initdb" -D "$data/db" -U memdir --auth=trust >"$work/initdb.log" 2>&1 || fail "no database"
  as "$bin/postgres" -D "$data/db" -p "$pg_port" -k "$data" -c listen_addresses=127.0.0.1 -c fsync=off \
    -c max_connections=300 >"$work/pg.log" 2>&1 &
  jobs+=($!)
  for ((n = 0; n < 300; n++)); do
    "$bin/psql" -h 127.0.0.1 -p "$pg_port" -U memdir -q -d postgres -c 'select 1' >/dev/null 2>&1 && return
    sleep 0.1
  done
  fail "PostgreSQL did not start"
}
