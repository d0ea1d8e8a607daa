#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh environment, and runs its tests, mypy, stubtest and pyright.
#
#     bindings/python/check.sh PYTHON-PACKAGES TARGET     PYTHON-PACKAGES: where .ci/setup puts what the tests need
set -euo pipefail
cd "$(dirname "$0")"

export PATH="$1/bin:$PATH"
packages=$1 target=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TOOLCRIB_PYTHON_PROFILE=${TOOLCRIB_PYTHON_PROFILE:-dev}

CARGO_TARGET_DIR=$target "$packages/bin/pip" wheel --quiet --no-build-isolation --no-deps --wheel-dir "$scratch" .
"$packages/bin/python" -m venv "$scratch/fresh"
"$scratch/fresh/bin/pip" install --quiet --no-index --no-deps "$scratch"/toolcrib-*.whl
# What the frameworks need is shared; the wheel is not.
"$packages/bin/python" -c 'import site; print(site.getsitepackages()[0])' \
  >"$("$scratch/fresh/bin/python" -c 'import site; print(site.getsitepackages()[0])')/packages.pth"
"$scratch/fresh/bin/toolcrib" --version
"$scratch/fresh/bin/python" -m pytest --quiet -p no:cacheprovider tests
"$scratch/fresh/bin/python" -m mypy --cache-dir "$scratch/mypy" python/toolcrib
(cd "$scratch" && MYPY_CACHE_DIR="$scratch/mypy" "$scratch/fresh/bin/python" -m mypy.stubtest toolcrib --allowlist "$OLDPWD/stubtest.txt")
"$packages/bin/pyright" --pythonpath "$scratch/fresh/bin/python" python/toolcrib
