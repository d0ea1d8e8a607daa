//! Whether a path stays in a folder, however its links lead.

use std::path::{Path, PathBuf};

/// Returns true if a path leads into the folder once all links are followed. A path to nothing is judged by the place where a file
/// would be created.
pub fn is_within(folder: &Path, path: &Path) -> bool {
    real(folder).zip(real(path)).is_some_and(|(folder, path)| path.starts_with(folder))
}

/// The path without links. `None` where it is uncertain: behind a link to nothing, and for `..` behind nothing.
fn real(path: &Path) -> Option<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().ok().or_else(|| {
        let name = path.file_name()?;
        if path.is_symlink() { None } else { Some(real(path.parent()?)?.join(name)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_judged_by_the_place_that_it_leads_to() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("in");
        let outside = outer.path().join("out");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(folder.join("sub/a.json"), "").unwrap();
        std::fs::write(outside.join("b.json"), "").unwrap();
        let leads = |path: &str| is_within(&folder, &folder.join(path));
        for path in ["", ".", "sub", "sub/a.json", "sub/../sub/a.json", "new", "sub/new/newer", "sub/*.json"]
        {
            assert!(leads(path), "{path}");
        }
        let absolute = folder.join("sub/a.json");
        assert!(leads(absolute.to_str().unwrap()), "an absolute path into the folder");
        for path in ["..", "../out", "../out/b.json", "../new", "new/../../out/b.json", "sub/../../in2"] {
            assert!(!leads(path), "{path}");
        }
        assert!(!leads(outside.to_str().unwrap()));
        #[cfg(unix)]
        for (target, link, is_in) in [
            ("../out/b.json", "b.json", false),
            ("../out", "linked", false),
            ("../out/unmade.db", "unmade.db", false),
            ("loop", "loop", false),
            ("sub/a.json", "inner.json", true),
            ("sub", "inner", true),
        ] {
            std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
            assert_eq!(leads(link), is_in, "{link}");
            let below = format!("{link}/b.json");
            assert_eq!(leads(&below), is_in, "{below}");
        }
    }
}
