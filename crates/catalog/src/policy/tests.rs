//! Policies as the world writes them.

use super::*;

fn check(description: &str, dos: &[&str], donts: &[&str], edge_cases: &[&str]) {
    let policy = extract(description, &docstring::split(description)).unwrap_or_default();
    assert_eq!(
        (policy.dos, policy.donts, policy.edge_cases),
        (owned(dos), owned(donts), owned(edge_cases)),
        "{description:?}"
    );
}

fn owned(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| item.to_string()).collect()
}

#[test]
fn lists_below_headings_become_rules() {
    check(
        "Create a task.\n\nCREATE TASK when:\n- User **explicitly** asks\n- Future human action required.\n\nDO NOT create when:\n- You can do it now\n\nIf ambiguous, ask 1 clarifying question.",
        &["User explicitly asks", "Future human action required"],
        &["You can do it now"],
        &["If ambiguous, ask 1 clarifying question"],
    );
    check(
        "Create a task. CREATE TASK when: - User explicitly asks - A person must act DO NOT create when: - You can do it now. If ambiguous, ask.",
        &["User explicitly asks", "A person must act"],
        &["You can do it now"],
        &["If ambiguous, ask"],
    );
    check(
        "Think.\n\n## When to use\n* Planning\n* Design\n\n## When NOT to use\n1. Facts\n\n## Output\n- Text",
        &["Planning", "Design"],
        &["Facts"],
        &[],
    );
    check("✅ Reading files\n❌ Directories", &["Reading files"], &["Directories"], &[]);
}

#[test]
fn headings_may_be_ticked_bold_or_within_a_line() {
    let dos = &["A person asks", "It is urgent"];
    let donts = &["You can do it now"];
    for description in [
        "Create.\n\n✅ Create when:\n- A person asks\n- It is urgent\n\n❌ Don't create when:\n- You can do it now",
        "Create.\n\n**✅ Create when:**\n- A person asks\n- It is urgent\n\n**❌ Don't create when:**\n- You can do it now",
        "Create.\n\n**When to use**\n- A person asks\n- It is urgent\n\n**When not to use**\n- You can do it now",
        "Create.\n\n🎯 When to use:\n- A person asks\n- It is urgent\n\n🛑 When not to use:\n- You can do it now",
    ] {
        check(description, dos, donts, &[]);
    }
    check(
        "Create. When to use: A person asks. When not to use: You can do it now.",
        &["A person asks"],
        &["You can do it now"],
        &[],
    );
}

#[test]
fn a_prohibition_never_lands_among_what_to_do() {
    check(
        "Send mail.\n\nWhen to use:\n- A person asks\n- Never for newsletters\n- Do not use this for spam",
        &["A person asks"],
        &["Never for newsletters", "Do not use this for spam"],
        &[],
    );
}

#[test]
fn sentences_that_are_rules_become_rules() {
    check(
        "Run SQL. Use this tool only when the user asks for data. NEVER drop tables. IMPORTANT: Do not use this\nfor writes.",
        &["Use this tool only when the user asks for data"],
        &["NEVER drop tables", "Do not use this for writes"],
        &[],
    );
}

#[test]
fn a_description_without_rules_has_no_policy() {
    for text in [
        "",
        "List files.",
        "Use this tool to list files.\n- fast\n- safe",
        "Returns null if the file does not exist. Important: results are paged.",
    ] {
        assert_eq!(extract(text, &docstring::split(text)), None, "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_taken(text in "(\\PC|[ \n:.-]|when|DO NOT |✅){0,120}") {
        if let Some(policy) = extract(&text, &docstring::split(&text)) {
            for item in policy.dos.iter().chain(&policy.donts).chain(&policy.edge_cases) {
                proptest::prop_assert!(item.chars().count() <= 160 && !item.contains('\n'));
            }
        }
    }
}
