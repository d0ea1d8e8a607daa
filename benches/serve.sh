#!/usr/bin/env bash
# Docs over keep-alive HTTP beside nginx with the same bytes as a static file, alternately in one run, and calls of
# read_tool_doc. Prints requests a second and the ratio of each round; more than 1 is faster than nginx.
#
#   cargo build --release && benches/serve.sh            needs nginx, wrk, curl
#   TOOLCRIB=path ROUNDS=5 SECONDS_EACH=3 CATALOG=examples/github TOOL=create_pull_request benches/serve.sh
set -euo pipefail
cd "$(dirname "$0")/.."
toolcrib=${TOOLCRIB:-target/release/toolcrib}
catalog=${CATALOG:-examples/github}
tool=${TOOL:-create_pull_request}
rounds=${ROUNDS:-5}
each=${SECONDS_EACH:-3}
port=${PORT:-7790}
folder=$(mktemp -d)
chmod 755 "$folder"
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; rm -rf "$folder"' EXIT

"$toolcrib" serve "$catalog" --listen "127.0.0.1:$port" 2>"$folder/log" &
started+=($!)
until curl -sf "http://127.0.0.1:$port/healthz" >"$folder/health"; do sleep 0.1; done

mkdir -p "$folder/www/tools"
curl -sf "http://127.0.0.1:$port/tools/$tool.md" >"$folder/www/tools/$tool.md"
chmod -R a+rX "$folder/www"
cat >"$folder/nginx.conf" <<CONF
daemon off;
pid $folder/nginx.pid;
error_log $folder/nginx.log;
worker_processes auto;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 10000000;
  open_file_cache max=1000;
  types { text/markdown md; }
  server { listen 127.0.0.1:$((port + 1)); root $folder/www; }
}
CONF
"$(command -v nginx || echo /usr/sbin/nginx)" -c "$folder/nginx.conf" -p "$folder" &
started+=($!)
until curl -sf "http://127.0.0.1:$((port + 1))/tools/$tool.md" >"$folder/same"; do sleep 0.1; done
cmp "$folder/same" "$folder/www/tools/$tool.md"

cat >"$folder/post.lua" <<LUA
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"name": "$tool"}'
LUA

rate() { wrk -t1 "$@" -d"${each}s" | awk '/Requests\/sec/ { print $2 } /Non-2xx/ { print "errors" > "/dev/stderr" }'; }
echo "doc of $(stat -c %s "$folder/same") bytes, $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
for connections in 16 64; do
  ratios=()
  for _ in $(seq "$rounds"); do
    ours=$(rate -c"$connections" "http://127.0.0.1:$port/tools/$tool.md")
    theirs=$(rate -c"$connections" "http://127.0.0.1:$((port + 1))/tools/$tool.md")
    ratio=$(awk "BEGIN { printf \"%.2f\", $ours / $theirs }")
    ratios+=("$ratio")
    echo "connections $connections: toolcrib $ours/s, nginx $theirs/s, ratio $ratio"
  done
  echo "connections $connections: median ratio $(printf '%s\n' "${ratios[@]}" | sort -n | sed -n "$(((rounds + 1) / 2))p")"
done
echo "POST /v1/read_tool_doc: $(rate -c16 -s "$folder/post.lua" "http://127.0.0.1:$port/v1/read_tool_doc")/s"
echo "memory of toolcrib: $(awk '/VmHWM/ { print int($2 / 1024) " MB at most" }' "/proc/${started[0]}/status")"
