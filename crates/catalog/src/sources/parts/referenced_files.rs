//! The files that the definitions of one file lead to, each read once.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use toolcrib_definition::document::{Document, MAX_BYTES, SchemaNames, open, percent_decoded};
use toolcrib_definition::finding::{Code, Finding};
use toolcrib_definition::ground::is_within;
use toolcrib_definition::guard::locked;

/// Most files that one definition file may lead to.
const MAX_FILES: usize = 4096;

/// Longest chain of files, each of which refers to the next.
const MAX_CHAIN: usize = 64;

/// The files of one catalog that a `$ref` leads to, each read once.
pub(in super::super) struct Parts<'a> {
    folder: &'a Path,
    read: Mutex<HashMap<String, Arc<Part>>>,
}

/// A file, or the reason why it was not read.
type Part = Result<(Document, SchemaNames), Reason>;

/// The reason why a `$ref` to a file leads to nothing.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub(super) code: Code,
    pub(super) what: String,
    pub(super) help: &'static str,
}

impl Reason {
    fn unreadable(why: impl std::fmt::Display) -> Self {
        let help = "correct the path, which is relative to the file that has the `$ref`, or the file itself";
        Self { code: Code::ReferenceUnreadable, what: format!("cannot be read: {why}"), help }
    }

    fn outside(what: &str) -> Self {
        let help =
            "move the file into the folder of the catalog, or name a folder that holds both as the catalog";
        Self { code: Code::SchemaReferenceRemote, what: format!("{what}, and is never read"), help }
    }

    fn nowhere(file: &str) -> Self {
        let help = "correct the part behind `#`, a JSON Pointer from the root of that file";
        let what = format!("points nowhere in {file}; anything is accepted there");
        Self { code: Code::SchemaReferenceBroken, what, help }
    }

    pub(super) fn too_large() -> Self {
        let help = "split the schema, or refer to less of the file";
        Self { help, ..Self::unreadable("the definitions that it leads to are too large to bundle") }
    }

    /// Whether the place accepts anything, and its tool can be called.
    pub(super) fn leaves_open(&self) -> bool {
        self.code == Code::SchemaReferenceBroken
    }
}

impl<'a> Parts<'a> {
    pub(in super::super) fn new(folder: &'a Path) -> Self {
        Self { folder, read: Mutex::default() }
    }

    fn part(&self, file: &str) -> Arc<Part> {
        let known = || locked(&self.read);
        if let Some(part) = known().get(file) {
            return Arc::clone(part);
        }
        let part = Arc::new(self.open(file));
        Arc::clone(known().entry(file.to_string()).or_insert(part))
    }

    fn open(&self, file: &str) -> Part {
        let path = self.folder.join(file);
        let metadata = path.metadata().map_err(Reason::unreadable)?;
        if !is_within(self.folder, &path) {
            return Err(Reason::outside("is a link out of the folder of the catalog"));
        }
        if !metadata.is_file() {
            return Err(Reason::unreadable("it is no regular file"));
        }
        let document = open(&path, file).map_err(|unread| {
            let Finding { message, place, .. } = unread.finding;
            let at = place.and_then(|place| Some(format!(" at {}:{}", place.line?, place.column?)));
            Reason::unreadable(format!("{message}{}", at.unwrap_or_default()))
        })?;
        let names = SchemaNames::of(&document.value, &["$id"]);
        Ok((document, names))
    }
}

/// The files that the definitions of one file lead to.
pub(in super::super) struct References<'p> {
    parts: &'p Parts<'p>,
    /// Each file with its distance from the definitions.
    read: HashMap<String, (Arc<Part>, usize)>,
    bytes: u64,
    /// Every file that was looked for, also those that do not exist.
    pub(in super::super) files: BTreeSet<String>,
}

/// The target of a `$ref`: a place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PartTarget {
    pub(super) file: String,
    pub(super) pointer: String,
}

impl<'p> References<'p> {
    pub(in super::super) fn new(parts: &'p Parts<'p>) -> Self {
        Self { parts, read: HashMap::new(), bytes: 0, files: BTreeSet::new() }
    }

    /// The place outside or inside its own file that a `$ref` leads to. `None` for an address: it is never fetched, and
    /// reported elsewhere.
    pub(super) fn target(&mut self, reference: &str, file: &str) -> Option<Result<PartTarget, Reason>> {
        self.target_within(reference, file, MAX_CHAIN)
    }

    fn target_within(
        &mut self,
        reference: &str,
        file: &str,
        hops: usize,
    ) -> Option<Result<PartTarget, Reason>> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let target = match path {
            "" => Ok(file.to_string()),
            path if is_path(path) => beside(file, &percent_decoded(path)),
            _ => return None,
        };
        Some(target.and_then(|target| {
            let fragment = percent_decoded(fragment);
            let part = self.read(&target, file)?;
            let (document, names) = part.as_ref().as_ref().map_err(Clone::clone)?;
            let pointer = match &*fragment {
                "" => Some(String::new()),
                path if path.starts_with('/') => Some(path.to_string()),
                anchor => names.pointer(&format!("#{anchor}")).map(str::to_string),
            };
            let pointer = pointer.ok_or_else(|| Reason::nowhere(&target))?;
            if document.value.pointer(&pointer).is_some() {
                return Ok(PartTarget { pointer, file: target });
            }
            // Its way may lead through another `$ref`, such as that of `components`.
            let through = hops.checked_sub(1).zip(through(&document.value, &pointer));
            let through = through.and_then(|(hops, (reference, rest))| {
                let PartTarget { file, pointer } = self.target_within(reference, &target, hops)?.ok()?;
                self.target_within(&format!("#{pointer}{rest}"), &file, hops)
            });
            through.unwrap_or_else(|| Err(Reason::nowhere(&target)))
        }))
    }

    /// A file that was read.
    pub(super) fn part(&self, file: &str) -> Option<&Document> {
        self.read.get(file).and_then(|(part, _)| Some(&part.as_ref().as_ref().ok()?.0))
    }

    /// The value at a target.
    pub(super) fn value(&self, target: &PartTarget) -> Option<&Value> {
        self.part(&target.file)?.value.pointer(&target.pointer)
    }

    /// The texts of all files that were read, to show mistakes in them.
    pub(in super::super) fn texts(&self) -> impl Iterator<Item = Document> {
        let read = self.files.iter().filter_map(|file| self.part(file));
        read.map(|Document { file, format, text, .. }| Document {
            file: file.clone(),
            format: *format,
            text: Arc::clone(text),
            value: Value::Null,
            repairs: Vec::new(),
        })
    }

    fn read(&mut self, file: &str, from: &str) -> Result<Arc<Part>, Reason> {
        if let Some((part, _)) = self.read.get(file) {
            return Ok(Arc::clone(part));
        }
        let chain = self.read.get(from).map_or(0, |(_, chain)| *chain) + 1;
        if self.read.len() >= MAX_FILES || chain > MAX_CHAIN {
            let most = format!("more than {MAX_FILES} files, or a chain of more than {MAX_CHAIN}");
            return Err(Reason::unreadable(format!("the definitions are in {most}")));
        }
        self.files.insert(file.to_string());
        let part = self.parts.part(file);
        if let Ok((document, _)) = part.as_ref() {
            self.bytes += document.text.len() as u64;
        }
        if self.bytes > MAX_BYTES {
            return Err(Reason::unreadable("the files that the definitions lead to are too large in sum"));
        }
        self.read.insert(file.to_string(), (Arc::clone(&part), chain));
        Ok(part)
    }
}

/// The `$ref` at which a pointer leaves a value, and the rest of the pointer behind it.
fn through<'v>(value: &'v Value, pointer: &'v str) -> Option<(&'v str, &'v str)> {
    let ends = pointer.match_indices('/').map(|(end, _)| end);
    let referring = ends.rev().find_map(|end| value.pointer(&pointer[..end]).map(|value| (value, end)));
    referring.and_then(|(value, end)| Some((value.get("$ref")?.as_str()?, &pointer[end..])))
}

/// Whether a reference names a file rather than an address or a place in its own document.
fn is_path(path: &str) -> bool {
    let is_scheme =
        |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_address = path.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme));
    !is_address && !path.starts_with("//")
}

/// The file at a path relative to another file, named from the folder of the catalog. Decided by the path alone, so that
/// nothing outside is touched.
fn beside(file: &str, path: &str) -> Result<String, Reason> {
    let outside = || Reason::outside("lies outside the folder of the catalog");
    if path.starts_with('/') || path.contains(['\\', '\0']) || Path::new(file).is_absolute() {
        return Err(outside());
    }
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut segments: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or_else(outside)?;
            }
            segment => segments.push(segment),
        }
    }
    let is_hidden = segments.iter().any(|segment| segment.starts_with('.'));
    if is_hidden || segments.last().is_none_or(|name| *name == "toolcrib.toml") {
        return Err(Reason::outside("is hidden, or the configuration"));
    }
    Ok(segments.join("/"))
}

/// The name of a file without folder and extension.
pub(super) fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
