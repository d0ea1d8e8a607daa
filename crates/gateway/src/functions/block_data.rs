//! Binary data in answers of MCP servers. It is stored for its caller behind a link, since JSON is a poor place for it.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::answer::{Answer, Body};
use crate::exec::backend::DataBlock;
use crate::state::{Result, StateStore, StoredResult, now, random_id};

/// Milliseconds that a link holds, as the rest of a long result.
const LINK_TTL_MS: i64 = 3_600_000;

/// Servers pad base64 or do not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

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
        let Body::Fields(body) = &mut self.body else { return };
        let meta = if body.contains_key("results") {
            body.get_mut("results").and_then(|results| results.get_mut(call)?.get_mut("meta"))
        } else {
            body.get_mut("meta")
        };
        let described = meta.and_then(|meta| meta.get_mut("blocks")?.as_array_mut());
        let own = described.into_iter().flatten().find(|own| own.get("block") == Some(&block.into()));
        if let Some(fields) = own.and_then(Value::as_object_mut) {
            fields.insert(name.to_string(), value);
        }
    }

    /// Stores the data of all blocks for their caller, and adds a link to each.
    pub async fn link_data(&mut self, state: &StateStore, caller: &str) -> Result<()> {
        let mut links = Vec::new();
        for (call, original) in self.originals() {
            let blocks = original.data_blocks();
            if blocks.is_empty() {
                continue;
            }
            let text = Value::Object(blocks.iter().map(stored).collect()).to_string();
            let id = random_id("bl");
            let link = |block: &DataBlock<'_>| format!("/v1/results/{id}/blocks/{}", block.index);
            links.extend(blocks.iter().map(|block| (*call, block.index, link(block))));
            let kept = StoredResult { id, caller: caller.to_string(), text, until: now() + LINK_TTL_MS };
            state.store_result(kept).await?;
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
) -> Result<Option<BlockData>> {
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
