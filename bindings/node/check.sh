#!/usr/bin/env bash
# Builds the package, installs it in a fresh folder, and runs its tests there.
#
#     bindings/node/check.sh TARGET     .ci/setup puts the npm packages that the tests need into node_modules here
set -euo pipefail
cd "$(dirname "$0")"

here=$PWD target=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TOOLCRIB_NODE_PROFILE=${TOOLCRIB_NODE_PROFILE:-dev} TOOLCRIB_CHECKOUT=$here/../..

CARGO_TARGET_DIR=$target npm pack --loglevel=error --pack-destination "$scratch"
cd "$scratch"
echo '{"private": true}' >package.json
npm install --loglevel=error --offline --no-audit --no-fund --ignore-scripts --omit=peer ./toolcrib-*.tgz
# What the frameworks need is shared; the package is not.
ln -s "$here"/node_modules/* node_modules/
ln -s "$here"/node_modules/.bin/tsc node_modules/.bin/tsc
cp -r "$here/tests" "$here/examples" .
npx --offline toolcrib --version
node --test --test-reporter=dot tests/*.test.mjs
