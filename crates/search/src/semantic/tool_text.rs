//! The part of a tool that is turned into a vector: the words of its name, and its description. Parameters are left out:
//! many tools share the same ones, and would look alike.

use toolcrib_catalog::Tool;

/// Most characters of a text.
pub const MAX_CHARS: usize = 2_000;

pub fn tool_text(tool: &Tool) -> String {
    let name = words(&tool.names.written);
    let does = if tool.texts.description.is_empty() { &tool.texts.short } else { &tool.texts.description };
    cut(&format!("{name}: {does}"))
}

/// The beginning of a text, up to the length that is used.
pub(super) fn cut(text: &str) -> String {
    text.trim().chars().take(MAX_CHARS).collect()
}

/// The words of an identifier: `createPull_request` has three.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut last = ' ';
    for c in name.chars() {
        let is_gap = !c.is_alphanumeric();
        if (is_gap || (c.is_uppercase() && last.is_lowercase())) && !words.ends_with(' ') {
            words.push(' ');
        }
        if !is_gap {
            words.extend(c.to_lowercase());
        }
        last = c;
    }
    words.trim().into()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn identifiers_come_apart() {
        for (name, apart) in [
            ("create_pull_request", "create pull request"),
            ("onto.task-list", "onto task list"),
            ("sendEmail2All", "send email2all"),
            ("长亭 IP", "长亭 ip"),
            ("__", ""),
        ] {
            assert_eq!(words(name), apart);
        }
    }
}
