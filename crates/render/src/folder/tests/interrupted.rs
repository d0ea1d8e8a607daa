//! Runs that panic, are killed, or meet one another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;

#[test]
fn a_run_that_stops_at_any_file_changes_nothing() {
    for stop in 0..NEW.len() {
        let (_dir, root) = temp();
        run(&root, OLD).unwrap();
        let before = tree(&root);
        let panics =
            |index: usize| if index == stop { panic!("stopped") } else { Ok(NEW[index].1.to_string()) };
        let files = files(NEW, "new", &panics);
        assert!(catch_unwind(AssertUnwindSafe(|| sync(&root, &files, &|_| {}))).is_err());
        assert_eq!(tree(&root), before);
        run(&root, NEW).unwrap();
        assert!(drift(&root, NEW).is_empty());
    }
}

#[test]
fn a_run_that_fails_midway_leaves_only_what_is_known_as_ours() {
    let after: Texts =
        &[("README.md", "index 2\n"), ("a/list.md", "list 2\n"), ("c/new.md", "new\n"), ("c/z.md", "z\n")];
    for (fails_at, then) in
        [("c/new.md", NEW), ("c/new.md", &[]), ("c/z.md", OLD), ("c/z.md", &[]), ("c/z.md", after)]
    {
        let (_dir, root) = temp();
        run(&root, OLD).unwrap();
        // Something gets in the way after the run has made its plan.
        let render = |index: usize| {
            fs::create_dir_all(root.join(fails_at)).unwrap();
            Ok(after[index].1.to_string())
        };
        let error = sync(&root, &files(after, "after", &render), &|_| {}).unwrap_err();
        assert_eq!(variant(&error), "Io");
        assert!(error.to_string().contains(fails_at), "{error}");
        assert_eq!(fs::read_to_string(root.join("a/list.md")).unwrap(), "list 2\n");
        fs::remove_dir(root.join(fails_at)).unwrap();
        assert_eq!(run(&root, then).unwrap().kept, Vec::<String>::new());
        let (_dir, fresh) = temp();
        run(&fresh, then).unwrap();
        assert_eq!(tree(&root), tree(&fresh));
        assert_eq!(fs::read(root.join(MANIFEST)).unwrap(), fs::read(fresh.join(MANIFEST)).unwrap());
    }
}

/// Texts of generation `which`; generations differ in their files and contents.
fn generation(which: usize) -> Vec<(String, String)> {
    let text = |i: usize| format!("{which} {i}\n").repeat(40);
    (0..400).map(|i| (format!("{}/{}.md", (i + which) % 7, i + which * 130), text(i))).collect()
}

fn run_generation(root: &Path, which: usize) -> Result<Written, FolderError> {
    let texts = generation(which);
    run(root, &texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

/// The process that the next test kills.
#[test]
fn endless_runs() {
    let Some(root) = std::env::var_os("TOOLCRIB_TEST_ROOT") else { return };
    for which in (0..3).cycle() {
        run_generation(Path::new(&root), which).unwrap();
    }
}

#[test]
fn a_killed_run_leaves_whole_files_and_the_next_one_repairs() {
    let (_dir, root) = temp();
    let all: Vec<_> = (0..3).map(generation).map(BTreeMap::from_iter).collect();
    let me = std::env::current_exe().unwrap();
    let path = module_path!().split_once("::").unwrap().1;
    for round in 0..16 {
        let mut child = Command::new(&me)
            .args(["--exact", &format!("{path}::endless_runs")])
            .env("TOOLCRIB_TEST_ROOT", &root)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(40 + round * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        for (name, text) in
            tree(&root).iter().filter(|(name, _)| !name.ends_with('/') && !name.starts_with('.'))
        {
            assert!(all.iter().any(|files| files.get(name) == Some(text)), "{name} is torn");
        }
        let which = round as usize % 4;
        let done = if which == 3 { run(&root, &[]) } else { run_generation(&root, which) }.unwrap();
        assert_eq!(done.kept, Vec::<String>::new());
        let files = tree(&root).into_iter().filter(|(name, _)| !name.ends_with('/'));
        let expect = if which == 3 { BTreeMap::new() } else { all[which].clone() };
        assert_eq!(files.collect::<BTreeMap<_, _>>(), expect);
        assert!(which != 3 || tree(&root).is_empty());
    }
}

#[test]
fn runs_at_once_take_turns() {
    let (_dir, root) = temp();
    std::thread::scope(|scope| {
        for which in 0..4 {
            let root = &root;
            scope.spawn(move || (0..5).for_each(|_| drop(run_generation(root, which % 3).unwrap())));
        }
    });
    assert_eq!(run_generation(&root, 0).unwrap().kept, Vec::<String>::new());
    let files = tree(&root).into_iter().filter(|(name, _)| !name.ends_with('/'));
    assert_eq!(files.collect::<Vec<_>>(), {
        let mut files = generation(0);
        files.sort();
        files
    });
}
