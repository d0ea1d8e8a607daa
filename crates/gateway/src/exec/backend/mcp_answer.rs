//! The unchanged answer of an MCP server, with the data in its blocks and its value for an envelope.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use toolcrib_definition::document::from_others;
use toolcrib_front::mcp::FilledSecrets;

/// The unchanged answer of an MCP server, without secrets, for a client that calls the tool by name.
#[derive(Clone, Debug, PartialEq)]
pub enum McpAnswer {
    /// The result: `content`, and where the server sent them `structuredContent`, `isError` and `_meta`.
    Result(Value),
    /// The error of the protocol.
    Error {
        /// Its JSON-RPC code.
        code: i32,
        message: String,
        data: Option<Value>,
    },
}

/// A block with data in base64: a picture, a sound or the content of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataBlock<'a> {
    /// The index of the block in `content`.
    pub index: usize,
    /// `image`, `audio` or `resource`.
    pub kind: &'a str,
    /// The media type, where the server sent one.
    pub media_type: Option<&'a str>,
    /// The data, in base64.
    pub data: &'a str,
}

/// A block with data, as the `meta` of an envelope describes it.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DescribedData {
    /// The index of the block in `content`.
    pub block: usize,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(rename = "mimeType")]
    pub media_type: Option<String>,
    pub bytes: usize,
    /// The path from which the data can be read.
    pub link: Option<String>,
    /// The file that the data was written to.
    pub file: Option<String>,
}

impl McpAnswer {
    /// The same answer without these secrets.
    pub(crate) fn without(self, secrets: &FilledSecrets) -> Self {
        match self {
            McpAnswer::Result(result) => McpAnswer::Result(secrets.hide_in(result)),
            McpAnswer::Error { code, message, data } => {
                let data = data.map(|data| secrets.hide_in(data));
                McpAnswer::Error { code, message: secrets.hide(&message), data }
            }
        }
    }

    /// The blocks of the result.
    pub fn blocks(&self) -> &[Value] {
        match self {
            McpAnswer::Result(result) => blocks(result),
            McpAnswer::Error { .. } => &[],
        }
    }

    /// The blocks that are no text.
    pub fn other_blocks(&self) -> impl Iterator<Item = &Value> {
        self.blocks().iter().filter(|block| text_of(block).is_none())
    }

    /// The structured content, where there is any.
    pub fn structured(&self) -> Option<&Value> {
        match self {
            McpAnswer::Result(result) => result.get("structuredContent"),
            McpAnswer::Error { .. } => None,
        }
    }

    /// Whether the texts say the structured content, which not every client shows. SDKs put a result that is no object into a
    /// field of one, and write a list as one text for each item.
    pub fn says_its_data(&self) -> bool {
        let Some(data) = self.structured() else { return true };
        let texts: Vec<&str> = self.blocks().iter().filter_map(text_of).collect();
        let is = |text: &str, value: &Value| {
            value.as_str() == Some(text)
                || from_others(text.as_bytes()).is_ok_and(|said: Value| said == *value)
        };
        let only =
            data.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
        only.into_iter().chain([data]).any(|value| {
            let items = value.as_array().filter(|items| !items.is_empty() && items.len() == texts.len());
            texts.iter().any(|text| is(text, value))
                || items.is_some_and(|items| texts.iter().zip(items).all(|(text, item)| is(text, item)))
        })
    }

    /// Whether the server said whether the result is an error.
    pub fn says_is_error(&self) -> bool {
        matches!(self, McpAnswer::Result(result) if result.get("isError").is_some())
    }

    pub fn data_blocks(&self) -> Vec<DataBlock<'_>> {
        data_blocks(self.blocks())
    }

    /// Type and size of the blocks with data, for the `meta` of an envelope.
    pub(crate) fn described_data(&self) -> Vec<DescribedData> {
        self.data_blocks().iter().map(DataBlock::described).collect()
    }
}

impl DataBlock<'_> {
    /// Bytes of the decoded data.
    pub fn bytes(&self) -> usize {
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=').count();
        (self.data.len() - padding) * 3 / 4
    }

    fn described(&self) -> DescribedData {
        DescribedData {
            block: self.index,
            kind: self.kind.to_string(),
            media_type: self.media_type.map(str::to_string),
            bytes: self.bytes(),
            link: None,
            file: None,
        }
    }

    /// The words that stand for the data in a value.
    fn summary(&self) -> String {
        format!("[{}, {} bytes]", self.media_type.unwrap_or(self.kind), self.bytes())
    }
}

/// The value of a result: its structured content, else its JSON, else its text, else its blocks. Type and size stand in
/// place of data.
pub(super) fn value_of(result: &Value) -> Value {
    let blocks = blocks(result);
    let data = data_blocks(blocks);
    match result.get("structuredContent") {
        Some(structured) if data.is_empty() => structured.clone(),
        Some(structured) => without_data(structured, &data),
        None => value_of_blocks(blocks, &data),
    }
}

fn value_of_blocks(blocks: &[Value], data: &[DataBlock<'_>]) -> Value {
    let texts: Option<Vec<&str>> = blocks.iter().map(text_of).collect();
    match texts.as_deref() {
        None => blocks.iter().map(|block| without_data(block, data)).collect(),
        Some([]) => Value::Null,
        Some([only]) => of_text(only),
        Some(several) => several.iter().copied().map(Value::from).collect(),
    }
}

/// A text, or the JSON object or list that it holds.
fn of_text(text: &str) -> Value {
    let may_be_json = text.trim_start().starts_with(['{', '[']);
    let json = may_be_json.then(|| from_others(text.as_bytes()).ok()).flatten();
    json.unwrap_or_else(|| text.into())
}

/// A value in which a summary stands for the data of each block.
fn without_data(value: &Value, data: &[DataBlock<'_>]) -> Value {
    match value {
        Value::String(text) => {
            let same = data.iter().find(|block| block.data == text);
            same.map_or_else(|| text.as_str().into(), |block| block.summary().into())
        }
        Value::Array(items) => items.iter().map(|item| without_data(item, data)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), without_data(field, data))).collect()
        }
        plain => plain.clone(),
    }
}

pub(super) fn blocks(result: &Value) -> &[Value] {
    result.get("content").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a block of text.
fn text_of(block: &Value) -> Option<&str> {
    if block["type"] == "text" { block["text"].as_str() } else { None }
}

fn data_blocks(blocks: &[Value]) -> Vec<DataBlock<'_>> {
    blocks.iter().enumerate().filter_map(|(index, block)| data_block(index, block)).collect()
}

fn data_block(index: usize, block: &Value) -> Option<DataBlock<'_>> {
    let kind = block.get("type")?.as_str()?;
    let (holder, data) = match kind {
        "image" | "audio" => (block, block.get("data")?),
        "resource" => (block.get("resource")?, block.get("resource")?.get("blob")?),
        _ => return None,
    };
    let media_type = holder.get("mimeType").and_then(Value::as_str);
    Some(DataBlock { index, kind, media_type, data: data.as_str()? })
}
