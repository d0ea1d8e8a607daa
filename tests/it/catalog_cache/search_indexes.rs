//! Search indexes are made once, and kept beside the catalog.

use std::fs;

use super::Kept;

impl Kept {
    fn found(&self) -> String {
        let output = self.run(&["search", "what does thing 7 say", "--json"]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn an_index_is_kept_and_finds_the_same() {
    let kept = Kept::new();
    let fresh = kept.run(&["search", "what does thing 7 say", "--json", "--no-catalog-cache"]).stdout;
    assert_eq!(kept.found().as_bytes(), fresh);
    let index = kept.files("index").remove(0);
    let written = fs::metadata(&index).unwrap().modified().unwrap();
    assert_eq!(kept.found().as_bytes(), fresh);
    assert_eq!(kept.files("index"), std::slice::from_ref(&index));
    assert_eq!(fs::metadata(&index).unwrap().modified().unwrap(), written, "it was read and not made again");
}

#[test]
fn a_torn_index_is_made_again() {
    let kept = Kept::new();
    let fresh = kept.found();
    let index = kept.files("index").remove(0);
    let whole = fs::read(&index).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    for torn in [&whole[..whole.len() / 2], b"", &changed] {
        fs::write(&index, torn).unwrap();
        assert_eq!(kept.found(), fresh);
        assert!(fs::read(&index).unwrap() == whole);
    }
}

#[test]
fn other_synonyms_and_other_tools_have_another_index() {
    let kept = Kept::new();
    let first = kept.found();
    let config = kept.folder.path().join("toolcrib.toml");
    fs::write(&config, "[search.synonyms]\ngizmo = [\"thing\"]\n").unwrap();
    let asked = || {
        let mut command = crate::fixture::program(&["search", "gizmo 7", config.to_str().unwrap()]);
        command.env("XDG_CACHE_HOME", kept.folder.path().join("cache")).output().unwrap()
    };
    assert!(asked().status.success());
    assert_eq!(kept.files("index").len(), 2);
    kept.write("Fetches");
    assert!(kept.found() != first);
    assert_eq!(kept.files("index").len(), 3);
}

#[cfg(unix)]
#[test]
fn an_index_is_for_its_owner_alone() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let kept = Kept::new();
    let fresh = kept.found();
    let index = kept.files("index").remove(0);
    assert_eq!(fs::metadata(&index).unwrap().mode() & 0o777, 0o600);
    fs::set_permissions(&index, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(kept.found(), fresh);
    assert_eq!(fs::metadata(&index).unwrap().mode() & 0o777, 0o600, "it was replaced");
}
