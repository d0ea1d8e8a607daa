# List the recipes.
default:
    @just --list

# All checks that must pass before a change lands.
ci:
    bash .ci/run

# The tests.
test:
    cargo test

# Rewrite golden files after an intended change.
bless:
    SNAPSHOTS=overwrite cargo test

# Regenerate the schemas that editors use.
schemas:
    cargo run --quiet -- schema definition > schema/definition.schema.json
    cargo run --quiet -- schema config > schema/toolcrib.schema.json

# Measure: load, render, payloads, calls, search, each beside a bare loop over the same bytes.
bench:
    cargo bench -p toolcrib-benches

# Fuzz a target (a file in fuzz/src) for so many seconds; needs cargo-fuzz, and no nightly toolchain.
fuzz target="load" seconds="60":
    mkdir -p fuzz/target/corpus/{{target}}
    RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer none --codegen-units 16 {{target}} \
      fuzz/target/corpus/{{target}} fuzz/corpus/{{target}} -- -max_total_time={{seconds}} -timeout=10 -rss_limit_mb=2048 \
      -dict=fuzz/dict/{{ if target =~ '^(load|config|markdown)$' { target } else { "json" } }}.dict

# Keep the inputs found by fuzzing that reach code which no input of fuzz/corpus reaches.
fuzz-keep target:
    RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer none --codegen-units 16 {{target}} \
      fuzz/corpus/{{target}} fuzz/target/corpus/{{target}} -- -merge=1 -use_counters=0 -max_len=4000
