#!/usr/bin/env bash
# The MCP transport against the official conformance suite, the official clients for Python and TypeScript, and the
# inspector; third-party servers behind it against the same servers asked directly; and broken servers next to a healthy one.
#
#     conformance/mcp/run.sh [PATH/TO/toolcrib PATH/TO/issuer]
#
# Without paths both programs are built. `.ci/setup` installs what is needed.
# Exit code 1 when anything is not as it should be; what cannot be checked is said.
set -euo pipefail
cd "$(dirname "$0")/../.."
source .ci/env
here=conformance/mcp

if [ ! -e "$checks/python/.installed" ]; then
  .ci/not_checked "the MCP transport against clients and suite" "the Python packages are not there; run .ci/setup"
  exit
fi

if [ $# -gt 0 ]; then
  program=$(realpath "$1") issuer=$(realpath "$2")
else
  cargo build --locked --quiet --features "$features" --package toolcrib --package toolcrib-benches --bin toolcrib --bin issuer
  program=$target/debug/toolcrib issuer=$target/debug/issuer
fi

failed=0
python "$here/clients.py" "$program" || failed=1
python "$here/results.py" "$program" || failed=1
python "$here/parity/run.py" "$program" || failed=1
if [ -e "$checks/mcp/node_modules/.installed" ]; then
  cp "$here/clients.mjs" "$checks/mcp/"
  (cd "$checks/mcp" && node clients.mjs "$program") || failed=1
  python "$here/protected.py" "$program" "$issuer" "$checks/python/bin/node" "$checks/mcp" || failed=1
  python "$here/protected_servers.py" "$program" "$issuer" "$checks/servers/python-1/bin/python" \
    "$checks/python/bin/node" "$checks/mcp" || failed=1
  python "$here/suite_clients.py" "$program" "$checks/python/bin/node" "$checks/mcp" || failed=1
  python "$here/suite.py" "$program" "$checks/python/bin/node" "$checks/mcp" || failed=1
  python "$here/differential/run.py" "$program" "$checks" || failed=1
else
  python "$here/protected.py" "$program" "$issuer" || failed=1
  .ci/not_checked "the MCP transport against the suite and the clients for TypeScript" "the npm packages are not there; run .ci/setup" || failed=1
fi
exit $failed
