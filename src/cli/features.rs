//! The features that this program was built with, and those that a configuration needs.

use std::sync::LazyLock;

use toolcrib_catalog::config::Config;

const POSTGRES: bool = cfg!(feature = "postgres");
const OTEL: bool = cfg!(feature = "otel");

/// The version, with the commit that a release was built from, and the features.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("TOOLCRIB_COMMIT").map(|commit| format!(" ({commit})")).unwrap_or_default();
    let features = [("postgres", POSTGRES), ("otel", OTEL)];
    let features: Vec<&str> = features.into_iter().filter_map(|(name, has)| has.then_some(name)).collect();
    let features = if features.is_empty() { "none".into() } else { features.join(", ") };
    format!("{}{commit}\nfeatures: {features}", env!("CARGO_PKG_VERSION"))
});

/// What a configuration asks for and this program lacks, each as a sentence.
pub(super) fn missing(config: &Config) -> Vec<String> {
    let is_postgres = |url: &str| url.starts_with("postgres");
    let wanted = [
        ("[state] url", "postgres", !POSTGRES && config.state.url.as_deref().is_some_and(is_postgres)),
        ("[telemetry] otlp", "otel", !OTEL && config.telemetry.otlp.is_some()),
    ];
    let missing = wanted.into_iter().filter(|(.., is_missing)| *is_missing);
    let told = missing.map(|(setting, feature, _)| {
        format!("{setting} needs a toolcrib with the feature `{feature}`, which this one lacks: take a release, or build with `--features {feature}`")
    });
    told.collect()
}
