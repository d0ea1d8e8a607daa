//! Fixtures: catalogs in temporary folders, folders read back, runs of the program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use toolcrib::catalog::{Checked, Tool};
use toolcrib::cli::{self, Io};
use toolcrib::finding;
use toolcrib::render::{Docs, Templates};
use walkdir::WalkDir;

#[path = "../fixture/catalogs.rs"]
mod catalogs;
#[path = "../fixture/opened.rs"]
mod opened;

pub use catalogs::{CATALOGS, catalog};
pub use opened::{folder, open, open_text};

/// The files of a folder by relative path; what toolcrib keeps for itself is left out.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// The folder of the package.
pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Writes one file, and the folders above it.
pub fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The only tool of a catalog.
pub fn only(checked: &Checked) -> &Tool {
    assert_eq!(checked.catalog.tools.len(), 1, "{:#?}", checked.findings);
    &checked.catalog.tools[0]
}

/// The codes that were found, with line and JSON pointer.
pub fn codes(checked: &Checked) -> Vec<(&'static str, Option<usize>, String)> {
    let of = |finding: &finding::Finding| {
        let place = finding.place.clone().unwrap_or_default();
        (finding.code.as_str(), place.line, place.pointer)
    };
    checked.findings.iter().map(of).collect()
}

/// Writes the docs of a profile.
pub fn render(checked: &Checked, profile: Option<&str>, out: &Path) {
    let templates = Templates::from(toolcrib::BUILT_IN);
    let profile = checked.catalog.profile(profile).unwrap();
    Docs::new(&checked.catalog, profile, &templates).write(out, &|_| {}).unwrap();
}

/// Reads a folder back.
pub fn tree(root: &Path) -> Tree {
    let files =
        WalkDir::new(root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let read = |entry: walkdir::DirEntry| {
        let name = entry.path().strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        (name, fs::read(entry.path()).unwrap())
    };
    files.map(read).filter(|(name, _)| !name.split('/').any(|part| part.starts_with(".toolcrib"))).collect()
}

/// Fails with the names of the files that differ.
#[track_caller]
pub fn assert_same_tree(got: &Tree, expect: &Tree) {
    let names: std::collections::BTreeSet<&String> = got.keys().chain(expect.keys()).collect();
    let differ: Vec<&&String> = names.iter().filter(|name| got.get(**name) != expect.get(**name)).collect();
    assert!(differ.is_empty(), "these files differ: {differ:?}");
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolcrib");

/// The program with these arguments, to be run in the package's folder, with a folder of state that is not the user's.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(package());
    command.envs(own_folders());
    command
}

/// The variables of folders that are not the user's.
fn own_folders() -> [(&'static str, PathBuf); 2] {
    let own = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    [("XDG_STATE_HOME", own("state")), ("XDG_CACHE_HOME", own("cache"))]
}

/// Output and exit code of the program.
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// Everything else.
    pub stderr: String,
}

/// Runs the program to its end: in this process, unless it speaks over the streams of a process.
pub fn run(arguments: &[&str]) -> Run {
    run_with(arguments, "", &[])
}

/// The same with this text on stdin and these variables set.
pub fn run_with(arguments: &[&str], stdin: &str, variables: &[(&str, &str)]) -> Run {
    run_with_bytes(arguments, stdin.as_bytes(), variables)
}

/// The same with bytes on stdin.
pub fn run_with_bytes(arguments: &[&str], stdin: &[u8], variables: &[(&str, &str)]) -> Run {
    if arguments.contains(&"--stdio") {
        return started_with(arguments, stdin, variables);
    }
    let streams = (Cursor::new(stdin.to_vec()), Pipe::default(), Pipe::default());
    let (stdout, stderr) = (streams.1.clone(), streams.2.clone());
    let (_, thread) = in_thread(arguments, streams, variables);
    let code = thread.join().unwrap();
    Run { code, stdout: stdout.text(), stderr: stderr.text() }
}

/// Runs the program in a thread of this process, with these streams and variables; its handle, and its exit code.
pub fn in_thread(
    arguments: &[&str],
    (stdin, stdout, stderr): (impl Read + Send + 'static, Pipe, impl Write + Send + 'static),
    variables: &[(&str, &str)],
) -> (Io, JoinHandle<i32>) {
    let mut own = own_folders().map(|(name, folder)| (name.to_string(), folder.into_os_string())).to_vec();
    own.extend(variables.iter().map(|(name, value)| (name.to_string(), value.into())));
    let own: BTreeMap<String, OsString> = own.into_iter().collect();
    let variable = move |name: &str| own.get(name).cloned().or_else(|| std::env::var_os(name));
    let io = Io::new(PROGRAM.into(), stdin, stdout, stderr, variable);
    let arguments: Vec<OsString> = ["toolcrib"].iter().chain(arguments).map(OsString::from).collect();
    // With the stack of the main thread of a program.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let of_run = io.clone();
    (io, thread.spawn(move || cli::run(arguments, &of_run).into()).unwrap())
}

/// The other end of a stream of a run in this process.
#[derive(Clone, Default)]
pub struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Pipe {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Runs the program to its end in a process of its own, with bytes on stdin and these variables set.
pub fn started_with(arguments: &[&str], stdin: &[u8], variables: &[(&str, &str)]) -> Run {
    let mut command = program(arguments);
    command
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    ended(child.wait_with_output().unwrap())
}

/// The result of a program that has ended.
pub fn ended(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder of the data of others that tests read.
pub fn data(folder: &str) -> PathBuf {
    package().join("tests/data").join(folder)
}
