//! Files of ours and files of the user, over several runs.

use super::*;

#[test]
fn a_page_edited_while_its_tool_is_gone_is_the_users() {
    let (_dir, root) = temp();
    run(&root, OLD).unwrap();
    fs::write(root.join("a/list.md"), "edited\n").unwrap();
    assert_eq!(run(&root, &OLD[..2]).unwrap().kept, ["a/list.md"]);
    assert_eq!(run(&root, &OLD[..2]).unwrap().kept, Vec::<String>::new());
    let before = tree(&root);
    let (code, message) = code(&root, OLD);
    assert_eq!(code, "Occupied");
    assert!(message.ends_with("a/list.md"), "{message}");
    assert_eq!(tree(&root), before);
    fs::remove_file(root.join("a/list.md")).unwrap();
    assert_eq!(run(&root, OLD).unwrap(), report(1, 0, 0, 2));
}

#[test]
fn a_page_that_stays_since_nothing_is_pruned_is_still_ours() {
    let (_dir, root) = temp();
    run(&root, OLD).unwrap();
    fs::write(root.join("README.md"), "edited\n").unwrap();
    let render = |_: usize| Ok("deep\n".to_string());
    let mut some = files(&OLD[1..2], "", &render);
    some.prune = false;
    for _ in 0..2 {
        assert_eq!(sync(&root, &some, &|_| {}).unwrap().kept, ["README.md", "a/list.md"]);
        assert_eq!(owned(&root).unwrap().len(), 3);
    }
    let replaced = vec!["README.md".to_string()];
    assert_eq!(run(&root, OLD).unwrap(), Written { replaced, ..report(0, 1, 0, 2) });
}

#[test]
fn a_content_that_fails_at_any_file_changes_nothing() {
    for (stop, (name, _)) in NEW.iter().enumerate() {
        let (_dir, root) = temp();
        run(&root, OLD).unwrap();
        let before = (tree(&root), fs::read(root.join(MANIFEST)).unwrap());
        let fails = |index: usize| {
            if index == stop { Err("it is broken".into()) } else { Ok(NEW[index].1.to_string()) }
        };
        let files = files(NEW, "new", &fails);
        let errors = [sync(&root, &files, &|_| {}).unwrap_err(), check(&root, "", &files).unwrap_err()];
        for error in errors {
            assert_eq!(variant(&error), "Render");
            assert_eq!(error.to_string(), format!("cannot render {name}: it is broken"));
        }
        assert_eq!((tree(&root), fs::read(root.join(MANIFEST)).unwrap()), before);
    }
}

#[test]
fn a_replaced_file_keeps_its_permissions() {
    let (_dir, root) = temp();
    run(&root, OLD).unwrap();
    let readme = root.join("README.md");
    for mode in [0o600, 0o444, 0o755] {
        let set_mode = || fs::set_permissions(&readme, fs::Permissions::from_mode(mode)).unwrap();
        let mode_now = || fs::metadata(&readme).unwrap().permissions().mode() & 0o777;
        set_mode();
        write_whole(&readme, b"whole\n").unwrap();
        assert_eq!((mode_now(), fs::read(&readme).unwrap()), (mode, b"whole\n".to_vec()));
        run(&root, NEW).unwrap();
        assert_eq!(mode_now(), mode);
        run(&root, OLD).unwrap();
        assert_eq!(mode_now(), mode);
    }
}
