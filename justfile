# List the recipes.
default:
    @just --list

# Everything that must hold before a change lands.
ci:
    bash .ci/run

# The tests.
test:
    cargo test

# Rewrite golden files after a change that is meant.
bless:
    SNAPSHOTS=overwrite cargo test

# Regenerate the schemas that editors use.
schemas:
    cargo run --quiet -- schema definition > schema/definition.schema.json
    cargo run --quiet -- schema config > schema/toolcrib.schema.json

# Measure: load, render, payloads, calls, search, each beside a bare loop over the same bytes.
bench:
    cargo bench

# Fuzz one reader for a minute (needs cargo-fuzz and a nightly toolchain).
fuzz target="load":
    cd fuzz && cargo +nightly fuzz run {{target}} -- -max_total_time=60
