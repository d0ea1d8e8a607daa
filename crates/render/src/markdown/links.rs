//! Targets of links.

/// Whether a target is a web address, which works anywhere.
pub(super) fn is_web(target: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| has_scheme(target, scheme))
}

/// Returns true if a target works only on the author's website: an anchor on the page, a path, or a reference for the
/// site's generator.
pub(super) fn is_of_a_website(target: &str) -> bool {
    let is_path = || !target.contains(':') && (target.contains('/') || target.ends_with(".md"));
    target.starts_with('#') || has_scheme(target, "ref:") || is_path()
}

fn has_scheme(target: &str, scheme: &str) -> bool {
    target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}
