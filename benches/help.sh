#!/usr/bin/env bash
# Calls over HTTP beside plain docs, alternately in one run: requests a second, and the ratio to the doc in each round.
#
#   cargo build --release && benches/help.sh            needs wrk, curl
#   TOOLCRIB=path ROUNDS=5 SECONDS_EACH=3 CONNECTIONS=32 CATALOG=examples/github TOOL=create_pull_request benches/help.sh
set -euo pipefail
cd "$(dirname "$0")/.."
toolcrib=${TOOLCRIB:-target/release/toolcrib}
catalog=${CATALOG:-examples/github}
tool=${TOOL:-create_pull_request}
rounds=${ROUNDS:-5}
each=${SECONDS_EACH:-3}
connections=${CONNECTIONS:-32}
port=${PORT:-7792}
folder=$(mktemp -d)
"$toolcrib" serve "$catalog" --listen "127.0.0.1:$port" 2>"$folder/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
until curl -sf "http://127.0.0.1:$port/readyz" >"$folder/ready"; do sleep 0.1; done

# Writes the wrk script of a function, and shows that it answers.
posts() {
  printf 'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [[%s]]\n' "$2" >"$folder/$1.lua"
  echo "$1 $2: $(curl -sf "http://127.0.0.1:$port/v1/$1" --json "$2" | wc -c) bytes"
}
rate() { wrk -t1 -c"$connections" "$@" -d"${each}s" | awk '/Requests\/sec/ { print $2 } /Non-2xx/ { print "errors" > "/dev/stderr" }'; }

posts tool_help "{\"path\": \"$tool\"}"
posts expand_tool "{\"tool_id\": \"$tool\"}"
echo "doc: $(curl -sf "http://127.0.0.1:$port/tools/$tool.md" | wc -c) bytes; $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
functions=(tool_help expand_tool)
for _ in $(seq "$rounds"); do
  doc=$(rate "http://127.0.0.1:$port/tools/$tool.md")
  line="doc $doc/s"
  for function in "${functions[@]}"; do
    called=$(rate -s "$folder/$function.lua" "http://127.0.0.1:$port/v1/$function")
    ratio=$(awk "BEGIN { printf \"%.2f\", $called / $doc }")
    echo "$ratio" >>"$folder/$function.ratios"
    line="$line, $function $called/s ($ratio)"
  done
  echo "$line"
done
for function in "${functions[@]}"; do
  echo "$function: median ratio $(sort -n "$folder/$function.ratios" | sed -n "$(((rounds + 1) / 2))p")"
done
