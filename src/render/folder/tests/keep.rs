//! Text between keep-markers survives.

use proptest::prelude::*;

use crate::render::folder::keep::carry;

const BLOCK: &str = "<!-- toolcrib:keep -->\nmine\n<!-- /toolcrib:keep -->\n";

#[track_caller]
fn check(old: &str, new: &str, expect: &str) {
    let [old, expect] = [old, expect].map(|text| text.replace("[]\n", BLOCK));
    let carried = String::from_utf8(carry(old.as_bytes(), new.into())).unwrap();
    assert_eq!(carried, expect);
    assert_eq!(String::from_utf8(carry(carried.as_bytes(), new.into())).unwrap(), carried, "not stable");
}

#[test]
fn a_current_file_stays_as_it_is_wherever_the_block_is() {
    let new = "# T\n\nbody\n\n\nend\n";
    for old in [
        "[]\n# T\n\nbody\n\n\nend\n",
        "# T\n[]\n\nbody\n\n\nend\n",
        "# T\n\n[]\n\n\nbody\n\n\nend\n",
        "# T\n\n[]\nbody\n\n[]\n\n[]\n\nend\n",
        "# T\n[]\nbody\n\n\nend\n\n[]\n\n",
    ] {
        check(old, new, old);
    }
    check(
        "x\n<!-- toolcrib:keep -->\r\ny\r\n<!--/toolcrib:KEEP-->",
        "x",
        "x\n<!-- toolcrib:keep -->\r\ny\r\n<!--/toolcrib:KEEP-->",
    );
}

#[test]
fn a_block_stays_after_its_line_or_goes_to_the_end() {
    check("a\n---\n\n[]\n\nb\n---\n", "x\n---\nc\n", "x\n---\n\n[]\n\nc\n");
    check("a\n---\nb\n---\n[]\n", "x\n---\nc  \n\n", "x\n---\nc  \n\n[]\n");
    check("a\n[]\nb\n[]\n", "", "\n[]\n\n[]\n");
    check("\u{feff}[]\na\n", "b\n", "[]\nb\n");
}

#[test]
fn a_block_that_is_not_closed_is_kept_and_closed() {
    check(
        "a\n<!-- toolcrib:keep -->\nmine\nb\n\n",
        "a\nb\n",
        "a\n<!-- toolcrib:keep -->\nmine\nb\n<!-- /toolcrib:keep -->\nb\n",
    );
}

proptest! {
    #[test]
    fn no_kept_text_is_ever_lost(
        old in prop::collection::vec((0..9usize, any::<bool>()), 0..30),
        news in prop::collection::vec(prop::collection::vec(0..6usize, 0..20), 1..5),
    ) {
        let line = |i: usize| ["a", "b", "c  ", "", "\r", "# d"][i].to_string();
        let end = |crlf: bool| if crlf { "\r\n" } else { "\n" };
        let mut text = String::new();
        let mut kept = Vec::new();
        for (number, (kind, crlf)) in old.into_iter().enumerate() {
            match kind {
                6 => text += &format!("  <!-- toolcrib:keep -->{}", end(crlf)),
                7 => text += &format!("<!--/toolcrib:keep -->{}", end(crlf)),
                8 => {
                    text += &format!("mine {number} {}", end(crlf));
                    kept.push(number);
                }
                kind => text += &(line(kind) + end(crlf)),
            }
        }
        // Only text inside blocks counts; this finds those lines in the simple way.
        let mut open = false;
        let mut inside = Vec::new();
        for line in text.lines() {
            match line.trim() {
                "<!-- toolcrib:keep -->" => open = true,
                "<!--/toolcrib:keep -->" => open = false,
                line if open && line.starts_with("mine") => inside.push(line.to_string()),
                _ => {}
            }
        }
        let mut current = text.into_bytes();
        for new in news {
            let new: String = new.into_iter().map(|i| line(i) + "\n").collect();
            current = carry(&current, new.clone());
            prop_assert_eq!(&carry(&current, new), &current);
            let text = String::from_utf8(current.clone()).unwrap();
            let mut found: Vec<_> = text.lines().map(str::trim).filter(|l| l.starts_with("mine")).collect();
            let mut inside: Vec<_> = inside.iter().map(String::as_str).collect();
            found.sort();
            inside.sort();
            prop_assert_eq!(found, inside);
        }
    }

    #[test]
    fn a_file_with_blocks_anywhere_is_current(
        lines in prop::collection::vec((0..6usize, any::<bool>()), 0..20),
    ) {
        let line = |i: usize| ["a\n", "b\n", "c \n", "\n", "a\n", "# d\n"][i];
        let new: String = lines.iter().map(|(i, _)| line(*i)).collect();
        let block = |has_one: bool| if has_one { BLOCK } else { "" };
        let old: String = lines.iter().map(|(i, has_one)| line(*i).to_string() + block(*has_one)).collect();
        prop_assert_eq!(carry(old.as_bytes(), new), old.into_bytes());
    }
}
