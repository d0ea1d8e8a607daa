//! The lists of servers, remembered in files, so that a catalog is whole before its servers have started.
//!
//! A file is named by the hash of the server's configuration, without values of variables and headers. It has a line with
//! facts about the list, and the list as the server gave it. Another program may have written it: it counts only if
//! nobody else can write to it, its hash fits, and it is a list of tools.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::endpoint::Endpoint;
use super::lists::{MAX_BYTES, MAX_TOOLS};
use toolcrib_catalog::sources::{Introduction, Listing};
use toolcrib_definition::private_file;

/// Most lists that are remembered; the ones written first are forgotten.
const MAX_FILES: usize = 256;
/// Most bytes of a file: a list, with its commas and its first line.
const MAX_FILE: u64 = (MAX_BYTES + MAX_TOOLS * 2 + 4096) as u64;

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The format of the file.
    version: u32,
    /// What the server says of itself.
    introduction: Option<Introduction>,
    /// Whether the server speaks the older protocol.
    is_older: bool,
    /// The hash of the list.
    hash: String,
}

const VERSION: u32 = 2;

/// The list of a server, as it was last.
pub(super) fn read(folder: &Path, endpoint: &Endpoint) -> Option<Listing> {
    let text = private_file::read(&file(folder, endpoint), MAX_FILE).ok()?;
    let (head, tools) = text.split_once('\n')?;
    let head: Head = serde_json::from_str(head).ok()?;
    let is_ours = head.version == VERSION && head.hash == hash(tools);
    let count = is_ours.then(|| number_of_tools(tools)).flatten()?;
    let Head { introduction, is_older, .. } = head;
    Some(Listing { tools: Some(tools.into()), count, introduction, is_older, ..Listing::default() })
}

/// Writes the list of a server, whole or not at all.
pub(super) fn write(folder: &Path, endpoint: &Endpoint, listing: &Listing) -> io::Result<()> {
    let Some(tools) = &listing.tools else { return Ok(()) };
    let introduction = listing.introduction.clone();
    let head = Head { version: VERSION, introduction, is_older: listing.is_older, hash: hash(tools) };
    let file = file(folder, endpoint);
    private_file::create_folder(folder)?;
    if !file.exists() {
        make_room(folder)?;
    }
    private_file::write(&file, format!("{}\n{tools}", serde_json::to_string(&head)?).as_bytes())
}

fn file(folder: &Path, endpoint: &Endpoint) -> PathBuf {
    folder.join(format!("{}.tools", identity(endpoint)))
}

/// Forgets the oldest lists, so that there is room for one more.
fn make_room(folder: &Path) -> io::Result<()> {
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut files: Vec<_> = fs::read_dir(folder)?.flatten().filter_map(dated).collect();
    files.sort();
    let excess = (files.len() + 1).saturating_sub(MAX_FILES);
    files.iter().take(excess).for_each(|(_, file)| _ = fs::remove_file(file));
    Ok(())
}
/// A hash of everything that decides which server it is. Values of variables and headers may be secrets.
fn identity(endpoint: &Endpoint) -> String {
    let server = &endpoint.server;
    let facts = serde_json::json!({
        "command": server.command,
        "env": server.env.keys().collect::<Vec<_>>(),
        "cwd": endpoint.folder(),
        "url": server.url,
        "headers": server.headers.keys().collect::<Vec<_>>(),
    });
    blake3::hash(facts.to_string().as_bytes()).to_hex().to_string()
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Number of tools in a list; `None` if the text is not a tool list.
fn number_of_tools(text: &str) -> Option<usize> {
    let listed: Value = serde_json::from_str(text).ok()?;
    let tools = listed.get("tools")?.as_array()?;
    let is_tool = |tool: &Value| tool.get("name").is_some_and(Value::is_string);
    (tools.len() <= MAX_TOOLS && tools.iter().all(is_tool)).then_some(tools.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_catalog::config::Server;

    const TOOLS: &str = "{\"tools\": [\n{\"name\":\"x\"}\n]}\n";

    fn endpoint(token: &str) -> Endpoint {
        let mut server = Server { url: Some("http://127.0.0.1/mcp".into()), ..Server::default() };
        server.headers.insert("Authorization".into(), token.into());
        Endpoint::new("sky", &server, Path::new("/x"))
    }

    fn listing() -> Listing {
        Listing {
            tools: Some(TOOLS.into()),
            count: 1,
            introduction: Some(Introduction::default()),
            is_older: true,
            ..Listing::default()
        }
    }

    #[test]
    fn a_list_is_remembered_whatever_the_token_and_its_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let folder = &folder.path().join("servers");
        assert_eq!(read(folder, &endpoint("one")), None);
        write(folder, &endpoint("one"), &listing()).unwrap();
        assert_eq!(read(folder, &endpoint("two")), Some(listing()));
        let files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(fs::metadata(&files[0]).unwrap().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_file_that_was_damaged_or_written_by_others_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let path = file(folder, &endpoint("x"));
        write(folder, &endpoint("x"), &listing()).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        let (head, _) = whole.split_once('\n').unwrap();
        let forged = |tools: &str| {
            let head = Head { version: VERSION, introduction: None, is_older: false, hash: hash(tools) };
            format!("{}\n{tools}", serde_json::to_string(&head).unwrap())
        };
        for text in [
            "",
            "{}",
            head,
            &whole[..whole.len() - 2],
            &whole.replace('x', "y"),
            &forged("[]"),
            &forged("{}"),
            &forged("{\"tools\": [1]}"),
            &forged("not json"),
            &forged("{\"tools\": [{\"name\": 1}]}"),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(read(folder, &endpoint("x")), None, "{text}");
        }
        fs::write(&path, &whole).unwrap();
        assert!(read(folder, &endpoint("x")).is_some());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
            assert_eq!(read(folder, &endpoint("x")), None);
        }
    }

    #[test]
    fn the_oldest_lists_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for number in 0..MAX_FILES + 3 {
            fs::write(folder.join(format!("{number}.tools")), "").unwrap();
        }
        write(folder, &endpoint("x"), &listing()).unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), MAX_FILES);
    }
}
