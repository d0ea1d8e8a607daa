//! Files that definitions refer to by `$ref`, such as `schemas/pet.yaml#/Pet`.
//!
//! Only files in the folder of the catalog are read, within limits: nothing outside of it, nothing hidden, no
//! configuration. Nothing is ever fetched.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::RawTool;
use super::formats::RESULT_KEYS;
use super::openapi::{DefinitionKeys, TOOL_BUDGET, TOTAL_BUDGET, refs_in, weight};
use toolcrib_definition::finding::{
    Code, Document, Finding, MAX_BYTES, Place, SchemaNames, open, percent_decoded, pointer_join,
    pointer_split, pointer_to,
};
use toolcrib_definition::ground::is_within;
use toolcrib_definition::guard::locked;
use toolcrib_definition::{Schema, clean_line};

/// Most files that one definition file may lead to.
const MAX_FILES: usize = 4096;
/// Longest chain of files, each of which refers to the next.
const MAX_CHAIN: usize = 64;

/// The files of one catalog that a `$ref` leads to, each read once.
pub(super) struct Parts<'a> {
    folder: &'a Path,
    read: Mutex<HashMap<String, Arc<Part>>>,
}

/// A file, or the reason why it was not read.
type Part = Result<(Document, SchemaNames), Reason>;

/// The reason why a `$ref` to a file leads to nothing.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    code: Code,
    what: String,
    help: &'static str,
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
    pub(super) fn new(folder: &'a Path) -> Self {
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
pub(super) struct References<'p> {
    parts: &'p Parts<'p>,
    /// Each file with its distance from the definitions.
    read: HashMap<String, (Arc<Part>, usize)>,
    bytes: u64,
    /// Every file that was looked for, also those that do not exist.
    pub(super) files: BTreeSet<String>,
}

/// Target of a `$ref`: a place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target {
    pub(super) file: String,
    pub(super) pointer: String,
}

impl<'p> References<'p> {
    pub(super) fn new(parts: &'p Parts<'p>) -> Self {
        Self { parts, read: HashMap::new(), bytes: 0, files: BTreeSet::new() }
    }

    /// The place outside or inside its own file that a `$ref` leads to. `None` for an address: it is never fetched, and
    /// reported elsewhere.
    pub(super) fn target(&mut self, reference: &str, file: &str) -> Option<Result<Target, Reason>> {
        self.target_within(reference, file, MAX_CHAIN)
    }

    fn target_within(&mut self, reference: &str, file: &str, hops: usize) -> Option<Result<Target, Reason>> {
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
                return Ok(Target { pointer, file: target });
            }
            // Its way may lead through another `$ref`, such as that of `components`.
            let through =
                through(&document.value, &pointer).filter(|_| hops > 0).and_then(|(reference, rest)| {
                    let Target { file, pointer } = self.target_within(reference, &target, hops - 1)?.ok()?;
                    self.target_within(&format!("#{pointer}{rest}"), &file, hops - 1)
                });
            through.unwrap_or_else(|| Err(Reason::nowhere(&target)))
        }))
    }

    /// A file that was read.
    pub(super) fn part(&self, file: &str) -> Option<&Document> {
        self.read.get(file).and_then(|(part, _)| Some(&part.as_ref().as_ref().ok()?.0))
    }

    /// The value at a target.
    pub(super) fn value(&self, target: &Target) -> Option<&Value> {
        self.part(&target.file)?.value.pointer(&target.pointer)
    }

    /// The texts of all files that were read, to show mistakes in them.
    pub(super) fn texts(&self) -> impl Iterator<Item = Document> {
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

/// Whether a document, or a schema, has a `$ref` to something outside itself.
pub(super) fn refers_outside(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, child)| match child {
            Value::String(reference) => key == "$ref" && !reference.starts_with('#'),
            child => refers_outside(child),
        }),
        Value::Array(items) => items.iter().any(refers_outside),
        _ => false,
    }
}

/// Keywords whose values are data: a `$ref` in them refers to nothing.
const DATA: [&str; 5] = ["const", "enum", "default", "example", "value"];
/// Keywords whose values are named by their author: the names are no keywords.
const NAMED: [&str; 14] = [
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas", "parameters",
    "responses", "headers", "examples", "requestBodies", "pathItems", "paths", "content",
];

/// Visits the objects below a value that may be a `$ref`, with their pointers. `is_named`: the keys of the value are names.
pub(super) fn visit_objects(
    value: &mut Value,
    pointer: &str,
    is_named: bool,
    visit: &mut impl FnMut(&mut Map<String, Value>, &str),
) {
    match value {
        Value::Object(object) => {
            visit(object, pointer);
            for (key, child) in object.iter_mut().filter(|(_, child)| child.is_object() || child.is_array()) {
                let is_list_of_data = key == "examples" && child.is_array();
                if is_named || !(DATA.contains(&key.as_str()) || is_list_of_data) {
                    let names = !is_named && NAMED.contains(&key.as_str());
                    visit_objects(child, &pointer_join(pointer, key), names, visit);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                visit_objects(item, &pointer_join(pointer, index), false, visit);
            }
        }
        _ => {}
    }
}

/// The name of a file without folder and extension.
pub(super) fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Places of values that come from other files, and the references that lead to nothing.
#[derive(Debug, Default)]
pub struct PartPlaces {
    /// The place of a value, by its pointer in the document that was put together.
    places: HashMap<String, Place>,
    /// Each `$ref` that leads to nothing, by its pointer.
    reasons: HashMap<String, (String, Reason)>,
}

impl PartPlaces {
    pub(super) fn add(&mut self, pointer: String, target: &Target) {
        self.places.insert(pointer, Place::new(&target.file, target.pointer.clone()));
    }

    pub(super) fn refuse(&mut self, pointer: String, reference: &str, reason: Reason) {
        self.reasons.insert(pointer, (clean_line(reference), reason));
    }

    /// Puts the place of a finding into the file that has the mistake, and says why a `$ref` leads to nothing.
    pub fn explain(&self, finding: &mut Finding) {
        let Some(place) = &mut finding.place else { return };
        if matches!(finding.code, Code::SchemaReferenceRemote | Code::SchemaReferenceBroken)
            && let Some((reference, reason)) = self.reasons.get(&place.pointer)
        {
            finding.code = reason.code;
            finding.severity = finding.severity.min(reason.code.severity());
            finding.message = format!("`{reference}` {}", reason.what);
            finding.help = Some(reason.help.into());
        }
        if let Some(own) = self.place(&place.pointer) {
            *place = own;
        }
    }

    /// The place of a value in its own file; `None` where that is the document itself.
    pub(super) fn place(&self, pointer: &str) -> Option<Place> {
        let mut end = pointer.len();
        loop {
            let (above, below) = pointer.split_at(end);
            if let Some(part) = self.places.get(above) {
                return Some(part.below(below));
            }
            end = above.rfind('/')?;
        }
    }

    /// The findings about references that lead to nothing; `which` of them.
    pub(super) fn findings(&self, tool: &RawTool, which: impl Fn(&Reason) -> bool) -> Vec<Finding> {
        let refused = self.reasons.iter().filter(|(_, (_, reason))| which(reason));
        let mut pointers: Vec<&String> = refused.map(|(pointer, _)| pointer).collect();
        pointers.sort_unstable();
        let finding = |pointer: &String| {
            let place = Place::new(&tool.place.file, pointer.clone());
            let mut finding =
                Finding::new(Code::SchemaReferenceBroken, "").tool(&tool.definition.name).at(place);
            self.explain(&mut finding);
            finding
        };
        pointers.into_iter().map(finding).collect()
    }
}

/// The key of the other files.
const PARTS: &str = "x-toolcrib-parts";

/// Adds the files that a document in `file` refers to. The places are those of values in the other files.
pub(super) fn combine(document: &mut Value, file: &str, references: &mut References<'_>) -> PartPlaces {
    let mut combining = Combining { file, references, places: PartPlaces::default(), parts: IndexSet::new() };
    if refers_outside(document) {
        combining.references_in(document, file, "", false);
    }
    let mut parts = Map::new();
    while let Some(part) = combining.parts.get_index(parts.len()).cloned() {
        let read = combining.references.part(&part);
        let mut value = read.map(|read| read.value.clone()).unwrap_or_default();
        let pointer = place_of(&part);
        combining.references_in(&mut value, &part, &pointer, true);
        combining.places.add(pointer, &Target { file: part.clone(), pointer: String::new() });
        parts.insert(part.clone(), serde_json::json!({ stem(&part): value }));
    }
    if let (false, Value::Object(root)) = (parts.is_empty(), document) {
        root.insert(PARTS.into(), parts.into());
    }
    combining.places
}

/// The pointer of a file in the combined value. Its last segment names the schema in a file of its own.
fn place_of(file: &str) -> String {
    pointer_to("", &[PARTS, file, stem(file)])
}

struct Combining<'c, 'p> {
    /// The file of the document.
    file: &'c str,
    references: &'c mut References<'p>,
    places: PartPlaces,
    /// The files to add, in the order in which they are referred to.
    parts: IndexSet<String>,
}

impl Combining<'_, '_> {
    /// Rewrites the references below a value of `file`; `pointer` is its place in the combined value.
    fn references_in(&mut self, value: &mut Value, file: &str, pointer: &str, is_named: bool) {
        visit_objects(value, pointer, is_named, &mut |object, pointer| {
            let reference = object.get("$ref").and_then(Value::as_str);
            if let Some(rewritten) = reference.and_then(|reference| self.rewritten(reference, file, pointer))
            {
                object.insert("$ref".into(), rewritten.into());
            }
        });
    }

    /// The reference within the combined value; `None` if it stays as it is.
    fn rewritten(&mut self, reference: &str, file: &str, pointer: &str) -> Option<String> {
        // Names are known in the whole value.
        let is_anchor = || !matches!(reference.as_bytes(), [b'#'] | [b'#', b'/', ..]);
        let is_local = reference.starts_with('#');
        if is_local && (file == self.file || is_anchor()) {
            return None;
        }
        let target = match self.references.target(reference, file)? {
            Ok(target) => target,
            // Many authors mean the document that refers to their file.
            Err(_) if is_local => return None,
            Err(reason) => {
                self.places.refuse(pointer_join(pointer, "$ref"), reference, reason);
                return None;
            }
        };
        let Target { file, pointer } = target;
        let pointer = if file == self.file { pointer } else { format!("{}{pointer}", place_of(&file)) };
        if file != self.file {
            self.parts.insert(file);
        }
        Some(format!("#{}", pointer.replace('%', "%25")))
    }
}

// Schemas of tools that refer to other files, bundled: everything that they refer to is in their own `$defs`. The author's
// schema stays as it is where it refers to no file. References within a file stay references, so that recursive schemas stay
// recursive.

/// Names that a schema gives itself. They would make the references in it relative to themselves.
const OWN_NAMES: [&str; 5] = ["$id", "id", "$schema", "$anchor", "$dynamicAnchor"];

/// Bundles the schemas of tools that refer to other files.
pub(super) fn bundle_all(
    document: &Document,
    tools: &mut [RawTool],
    references: &mut References<'_>,
    findings: &mut Vec<Finding>,
) {
    let mut budget = TOTAL_BUDGET;
    for tool in tools {
        let file = document.file.as_str();
        let mut bundled = |schema: &mut Option<Schema>, at: &str| {
            let written = schema.as_ref()?.value();
            let (value, places) = bundle(written, file, at, references, &mut budget)?;
            if value != *written {
                *schema = Some(Schema::from_value(value));
            }
            Some(places)
        };
        let at = tool.parameters.as_ref().unwrap_or(&tool.place.pointer);
        let of_parameters = bundled(&mut tool.definition.parameters, at);
        let others = [
            (&mut tool.definition.result_schema, &RESULT_KEYS[..]),
            (&mut tool.definition.provider_schema, &["provider_schema", "providerSchema"][..]),
        ];
        let of_others = others.map(|(schema, keys)| {
            schema.as_ref()?;
            let mut pointers = keys.iter().map(|key| pointer_join(&tool.body, key));
            let at = pointers.find(|at| document.value.pointer(at).is_some_and(Value::is_object));
            bundled(schema, &at.unwrap_or_default())
        });
        // The catalog reports the other references in parameters, and checks no other schema.
        findings.extend(of_parameters.iter().flat_map(|places| places.findings(tool, Reason::leaves_open)));
        findings.extend(of_others.iter().flatten().flat_map(|places| places.findings(tool, |_| true)));
        tool.part_places = of_parameters.map(Arc::new);
    }
}

/// The bundle of a schema at `pointer` in `file`; `None` if it refers to no other file. `budget` is the memory that is
/// left for the bundles of this file.
fn bundle(
    schema: &Value,
    file: &str,
    pointer: &str,
    references: &mut References<'_>,
    budget: &mut usize,
) -> Option<(Value, PartPlaces)> {
    if !refers_outside(schema) {
        return None;
    }
    let mut bundle = Bundle {
        references,
        keys: DefinitionKeys::default(),
        names: SchemaNames::of(schema, &["$id", "id"]),
        pointer,
        targets: IndexSet::new(),
        places: PartPlaces::default(),
        budget: TOOL_BUDGET.min(*budget),
    };
    let written = schema.get("$defs").and_then(Value::as_object);
    written.into_iter().flat_map(Map::keys).for_each(|key| bundle.keys.reserve(key));
    let mut value = schema.clone();
    let before = bundle.budget;
    bundle.references_in(&mut value, file, false, "");
    let definitions = bundle.definitions();
    *budget -= before - bundle.budget;
    if let Value::Object(root) = &mut value
        && !definitions.is_empty()
    {
        match root.entry("$defs").or_insert_with(|| Map::new().into()) {
            Value::Object(written) => written.extend(definitions),
            wrong => *wrong = definitions.into(),
        }
    }
    let mut places = bundle.places;
    open_root(&mut value, pointer, &mut places);
    Some((value, places))
}

struct Bundle<'b, 'p> {
    references: &'b mut References<'p>,
    keys: DefinitionKeys,
    /// The names within the author's schema.
    names: SchemaNames,
    /// Place of the author's schema.
    pointer: &'b str,
    targets: IndexSet<Target>,
    places: PartPlaces,
    budget: usize,
}

impl Bundle<'_, '_> {
    /// The definitions that the schema needs, and those that they need in turn.
    fn definitions(&mut self) -> Map<String, Value> {
        let mut definitions = Map::new();
        let mut at = 0;
        while let Some(target) = self.targets.get_index(at).cloned() {
            at += 1;
            let Some(mut value) = self.references.value(&target).cloned() else { continue };
            let key = self.key(&target);
            let pointer = pointer_join("/$defs", &key);
            self.references_in(&mut value, &target.file, true, &pointer);
            self.places.add(format!("{}{pointer}", self.pointer), &target);
            definitions.insert(key, value);
        }
        definitions
    }

    fn key(&mut self, target: &Target) -> String {
        let whole = pointer_to("", &[&target.file, stem(&target.file)]);
        self.keys.of(&format!("{whole}{}", target.pointer))
    }

    /// Points the references to files, below a value of `file`, into the `$defs` of the bundle.
    fn references_in(&mut self, value: &mut Value, file: &str, is_part: bool, pointer: &str) {
        visit_objects(value, pointer, false, &mut |object, pointer| {
            if is_part {
                object.retain(|key, value| !OWN_NAMES.contains(&key.as_str()) || !value.is_string());
            }
            self.reference(object, file, is_part, pointer);
        });
    }

    fn reference(&mut self, object: &mut Map<String, Value>, file: &str, is_part: bool, pointer: &str) {
        let Some(reference) = object.get("$ref").and_then(Value::as_str) else { return };
        let is_own = reference.starts_with('#') || self.names.pointer(reference).is_some();
        if !is_part && (is_own || !self.names.base(pointer).is_empty()) {
            return;
        }
        let target = self.references.target(reference, file);
        let reference = reference.to_string();
        match target.map(|target| target.and_then(|target| self.take(target))) {
            None => {}
            Some(Ok(key)) => {
                object.insert("$ref".into(), format!("#/$defs/{key}").into());
            }
            Some(Err(reason)) => {
                let leaves_open = reason.leaves_open();
                self.places.refuse(format!("{}{pointer}/$ref", self.pointer), &reference, reason);
                if leaves_open {
                    object.shift_remove("$ref");
                } else if reference.starts_with('#') {
                    // Later stages know by the name of a file that it was not followed.
                    object.insert("$ref".into(), format!("{}{reference}", file).into());
                }
            }
        }
    }

    /// The key of a target in `$defs`.
    fn take(&mut self, target: Target) -> Result<String, Reason> {
        if !self.targets.contains(&target) {
            let weight = self.references.value(&target).map(weight).unwrap_or_default();
            self.budget = self.budget.checked_sub(weight).ok_or_else(Reason::too_large)?;
            self.targets.insert(target.clone());
        }
        Ok(self.key(&target))
    }
}

/// A root that only refers to a definition is replaced by the definition, since arguments are the properties of the
/// root.
fn open_root(schema: &mut Value, pointer: &str, places: &mut PartPlaces) {
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return };
    let is_alone =
        schema.as_object().is_some_and(|root| root.keys().all(|key| key == "$ref" || key == "$defs"));
    let Some(at) = reference.strip_prefix('#').filter(|_| is_alone) else { return };
    let Some(Value::Object(target)) = schema.pointer(at).cloned() else { return };
    let key = pointer_split(at).map(|(_, key)| key.into_owned()).unwrap_or_default();
    let Some(origin) = places.place(&format!("{pointer}{at}")) else { return };
    if target.contains_key("$ref") || target.contains_key("$defs") {
        return;
    }
    places.add(pointer.to_string(), &Target { file: origin.file, pointer: origin.pointer });
    let Some(Value::Object(mut definitions)) = schema.get_mut("$defs").map(Value::take) else { return };
    let mut needed = IndexSet::new();
    refs_in(&Value::Object(target.clone()), &mut needed);
    definitions.iter().for_each(|(_, definition)| refs_in(definition, &mut needed));
    if !needed.contains(&key) {
        definitions.shift_remove(&key);
    }
    *schema = Value::Object(target);
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
}
