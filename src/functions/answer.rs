//! The answer of a function.

use std::sync::OnceLock;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::exec::backend::{DataBlock, McpAnswer};
use crate::refusal::{ErrorCode, Refusal};
use crate::search::semantic::SemanticStatus;
use crate::state::{StateError, StateStore, StoredResult, now, random_id};

/// The answer to a call: `{"ok": true, ..., "meta": {...}}`, or `{"ok": false, "error": {...}, "meta": {...}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    body: Body,
    text: Option<String>,
    error: Option<ErrorCode>,
    refusal: Option<Box<Refusal>>,
    semantic: Option<String>,
    /// Answers of MCP servers as they came, each with the index of its call in a batch.
    originals: Vec<(usize, McpAnswer)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    /// Made for this call.
    Fields(Map<String, Value>),
    /// JSON that was made before, whole; parsed only for a reader of its fields.
    Json(Bytes, OnceLock<Map<String, Value>>),
}

impl Answer {
    /// An answer with these fields. `text` says the same for a model, where JSON is not the best form.
    pub(super) fn new(fields: Map<String, Value>, text: Option<String>) -> Self {
        let mut body = Map::with_capacity(fields.len() + 2);
        body.insert("ok".into(), true.into());
        body.extend(fields);
        Self {
            body: Body::Fields(body),
            text,
            error: None,
            refusal: None,
            semantic: None,
            originals: Vec::new(),
        }
    }

    /// An answer that was made before: one JSON object with `ok` and `meta`.
    pub(super) fn from_json(json: Bytes) -> Self {
        Self {
            body: Body::Json(json, OnceLock::new()),
            text: None,
            error: None,
            refusal: None,
            semantic: None,
            originals: Vec::new(),
        }
    }

    /// An answer with an envelope of its own, `ok` and `meta` included.
    pub(super) fn enveloped(fields: Map<String, Value>, error: Option<ErrorCode>) -> Self {
        Self {
            body: Body::Fields(fields),
            text: None,
            error,
            refusal: None,
            semantic: None,
            originals: Vec::new(),
        }
    }

    /// The same answer with those of MCP servers as they came.
    pub(super) fn with_originals(mut self, originals: impl IntoIterator<Item = (usize, McpAnswer)>) -> Self {
        self.originals.extend(originals);
        self
    }

    /// Answers of MCP servers as they came, each with the index of its call in a batch.
    pub fn originals(&self) -> &[(usize, McpAnswer)] {
        &self.originals
    }

    /// The answer of the MCP server that ran the call at this index, as it came.
    pub fn original(&self, index: usize) -> Option<&McpAnswer> {
        self.originals.iter().find(|(of, _)| *of == index).map(|(_, original)| original)
    }

    /// The fields, of an answer that was made for this call.
    pub(super) fn fields_mut(&mut self) -> Option<&mut Map<String, Value>> {
        match &mut self.body {
            Body::Fields(fields) => Some(fields),
            Body::Json(..) => None,
        }
    }

    /// Whether there is a result.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// The error code, if there is one.
    pub fn error(&self) -> Option<ErrorCode> {
        self.error
    }

    /// Seconds after which a call that came too soon may be sent again.
    pub fn retry_after(&self) -> Option<u64> {
        self.error.filter(|code| *code == ErrorCode::RateLimited)?;
        let error = self.body().get("error")?;
        let facts = error.get("details").or_else(|| error.get("hints"))?;
        facts.get("retry_after")?.as_u64()
    }

    /// The answer as a JSON object.
    pub fn body(&self) -> &Map<String, Value> {
        match &self.body {
            Body::Fields(fields) => fields,
            Body::Json(json, read) => read.get_or_init(|| serde_json::from_slice(json).unwrap_or_default()),
        }
    }

    /// The fields of the answer without `ok` and `meta`; else the refusal.
    pub(super) fn into_result(self) -> Result<Map<String, Value>, Refusal> {
        if let Some(refusal) = self.refusal {
            return Err(*refusal);
        }
        let mut fields = match self.body {
            Body::Fields(fields) => fields,
            Body::Json(..) => self.body().clone(),
        };
        fields.shift_remove("ok");
        fields.shift_remove("meta");
        Ok(fields)
    }

    /// The answer as JSON on one line.
    pub fn json(&self) -> Bytes {
        match &self.body {
            Body::Fields(fields) => serde_json::to_vec(fields).unwrap_or_default().into(),
            Body::Json(json, _) => json.clone(),
        }
    }

    /// The text for a model: the text where there is one, else the JSON on one line.
    pub fn text(&self) -> String {
        match (&self.text, &self.body) {
            (Some(text), _) => text.clone(),
            (None, Body::Fields(fields)) => serde_json::to_string(fields).unwrap_or_default(),
            (None, Body::Json(json, _)) => String::from_utf8_lossy(json).into_owned(),
        }
    }

    /// Bytes of the text for a model.
    pub(super) fn bytes(&self) -> usize {
        match (&self.text, &self.body) {
            (Some(text), _) => text.len(),
            (None, Body::Json(json, _)) => json.len(),
            (None, Body::Fields(_)) => self.json().len(),
        }
    }

    /// The verdict, where the answer is that of a search.
    pub(super) fn verdict(&self) -> Option<&str> {
        match &self.body {
            Body::Fields(fields) => fields.get("verdict")?.as_str(),
            Body::Json(..) => None,
        }
    }

    /// Whether [`Answer::text`] is markdown rather than JSON.
    pub fn is_markdown(&self) -> bool {
        self.text.is_some()
    }

    /// Adds to `meta.semantic` whether the search used meaning.
    pub fn with_semantic_status(mut self, semantic: &SemanticStatus) -> Self {
        self.semantic = Some(semantic.to_string());
        self
    }

    pub(super) fn with_registry_version(mut self, registry_version: &str) -> Self {
        let semantic = self.semantic.take();
        if let Body::Fields(fields) = &mut self.body {
            let mut meta = json!({ "registry_version": registry_version });
            if let Some(semantic) = semantic {
                meta["semantic"] = semantic.into();
            }
            match (fields.get_mut("meta"), meta) {
                (Some(Value::Object(told)), Value::Object(meta)) => told.extend(meta),
                (_, meta) => {
                    fields.insert("meta".into(), meta);
                }
            }
        }
        self
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let error = serde_json::to_value(&refusal).unwrap_or_default();
        let body =
            [("ok".to_string(), Value::Bool(false)), ("error".to_string(), error)].into_iter().collect();
        let error = Some(refusal.code);
        Self {
            body: Body::Fields(body),
            text: None,
            error,
            refusal: Some(Box::new(refusal)),
            semantic: None,
            originals: Vec::new(),
        }
    }
}

/// Milliseconds that a link holds, as the rest of a long result.
const LINK_TTL_MS: i64 = 3_600_000;

/// Servers pad base64 or do not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Media types by the ending of a file.
const ENDINGS: [(&str, &str); 14] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("audio/wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("video/mp4", "mp4"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("text/plain", "txt"),
];

/// The data of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockData {
    /// The media type, where the server sent one.
    pub media_type: Option<String>,
    /// The decoded data.
    pub bytes: Vec<u8>,
}

impl BlockData {
    /// The data of a block; `None` where it is not base64.
    fn of(block: &DataBlock<'_>) -> Option<Self> {
        let bytes = LENIENT.decode(block.data).ok()?;
        Some(Self { media_type: block.media_type.map(str::to_string), bytes })
    }

    /// The ending of a file with this data.
    pub fn ending(&self) -> &'static str {
        let media_type = self.media_type.as_deref().and_then(|media| media.split(';').next());
        let known = ENDINGS.iter().find(|(media, _)| media_type.is_some_and(|own| own.trim() == *media));
        known.map_or("bin", |(_, ending)| ending)
    }
}

impl Answer {
    /// The data of all blocks, with the index of the call in a batch and of the block in its result.
    pub fn data(&self) -> Vec<(usize, usize, BlockData)> {
        let blocks = self.originals().iter().flat_map(|(call, original)| {
            original
                .data_blocks()
                .into_iter()
                .filter_map(|block| Some((*call, block.index, BlockData::of(&block)?)))
        });
        blocks.collect()
    }

    /// Adds a field to the description of a block, such as its link.
    pub fn describe_data(&mut self, call: usize, block: usize, name: &str, value: Value) {
        let Some(body) = self.fields_mut() else { return };
        let meta = match body.contains_key("results") {
            true => body.get_mut("results").and_then(|results| results.get_mut(call)?.get_mut("meta")),
            false => body.get_mut("meta"),
        };
        let described = meta.and_then(|meta| meta.get_mut("blocks")?.as_array_mut());
        let own = described.into_iter().flatten().find(|own| own.get("block") == Some(&block.into()));
        if let Some(fields) = own.and_then(Value::as_object_mut) {
            fields.insert(name.to_string(), value);
        }
    }

    /// Stores the data of all blocks for their caller, and adds a link to each.
    pub async fn link_data(&mut self, state: &StateStore, caller: &str) -> Result<(), StateError> {
        let mut links = Vec::new();
        for (call, original) in self.originals() {
            let blocks: Map<String, Value> = original.data_blocks().iter().map(stored).collect();
            if blocks.is_empty() {
                continue;
            }
            let indexes: Vec<usize> = original.data_blocks().iter().map(|block| block.index).collect();
            let (id, text) = (random_id("bl"), Value::Object(blocks).to_string());
            let kept = StoredResult { id, caller: caller.to_string(), text, until: now() + LINK_TTL_MS };
            state.store_result(&kept).await?;
            links.extend(
                indexes
                    .into_iter()
                    .map(|block| (*call, block, format!("/v1/results/{}/blocks/{block}", kept.id))),
            );
        }
        for (call, block, link) in links {
            self.describe_data(call, block, "link", link.into());
        }
        Ok(())
    }
}

fn stored(block: &DataBlock<'_>) -> (String, Value) {
    let media_type = block.media_type.map(|media| ("mimeType".to_string(), media.into()));
    let data = [("data".to_string(), block.data.into())];
    (block.index.to_string(), Value::Object(data.into_iter().chain(media_type).collect()))
}

/// The data behind a link, for the caller whose call it was.
pub async fn linked_data(
    state: &StateStore,
    caller: &str,
    (id, block): (&str, &str),
) -> Result<Option<BlockData>, StateError> {
    if !id.starts_with("bl_") {
        return Ok(None);
    }
    let Some(kept) = state.stored_result(caller, id).await? else { return Ok(None) };
    let blocks: Value = serde_json::from_str(&kept.text).unwrap_or_default();
    let data = blocks.get(block).and_then(|stored| {
        let media_type = stored.get("mimeType").and_then(Value::as_str).map(str::to_string);
        Some(BlockData { media_type, bytes: LENIENT.decode(stored.get("data")?.as_str()?).ok()? })
    });
    Ok(data)
}
