#!/usr/bin/env bash
# crossfit.sh DATA BASE FEATURES: writes the features that fit.py reads. Those of a public set are made with vectors that were
# trained without it; the vectors that are trained on all sets come last, and stay in crates/search/model.
set -euo pipefail
data=$1 base=$2 features=$3 lab=$(dirname "$0") root=$(dirname "$0")/../..
model=$root/crates/search/model/static.bin
measure() { cargo run --release --manifest-path "$root/Cargo.toml" -p toolcrib-lab --bin measure -- \
  "$data/retrieval" "$data/catalogs" features | grep '^{"features"' | grep -E "\"set\":\"$1" >> "$features" || true; }
: > "$features"
for set in metatool bfcl livemcpbench toolret-apibank; do
  python3 "$lab/train.py" "$data" "$base" "$model" "$set"
  measure "(far )?$set"
done
python3 "$lab/train.py" "$data" "$base" "$model"
measure "(everyday|apart)"
