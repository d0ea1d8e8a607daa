//! Binary data in answers of MCP servers. It is stored for its caller behind a link, since JSON is a poor place for it.

use std::collections::BTreeMap;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::answer::{Answer, Reply};
use crate::exec::Envelope;
use crate::exec::backend::DescribedData;
use crate::state::{Result, StateStore, StoredResult, now, random_id};

/// Milliseconds that a link holds, as the rest of a long result.
const LINK_TTL_MS: i64 = 3_600_000;

/// Servers pad base64 or do not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The data of a block.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockData {
    /// The data in base64.
    data: String,
    /// The media type, where the server sent one.
    #[serde(rename = "mimeType")]
    pub media_type: Option<String>,
}

impl BlockData {
    /// The decoded data; `None` where it is not base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        LENIENT.decode(&self.data).ok()
    }
}

impl Answer {
    /// The calls of tools with their indexes in a batch.
    fn calls(&mut self) -> Vec<(usize, &mut Envelope)> {
        match &mut self.reply {
            Ok(Reply::Call(envelope) | Reply::Discovered(envelope)) => vec![(0, &mut **envelope)],
            Ok(Reply::Batch(batch)) => {
                let calls = batch.results.iter_mut();
                calls
                    .flat_map(|call| {
                        call.answer.calls().into_iter().map(|(_, envelope)| (call.index, envelope))
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The data of all blocks, each with its description and the index of its call in a batch.
    pub fn data(&mut self) -> Vec<(usize, &mut DescribedData, BlockData)> {
        let calls = self.calls().into_iter();
        calls
            .flat_map(|(index, envelope)| data_of(envelope).map(move |(block, data)| (index, block, data)))
            .collect()
    }

    /// Stores the data of all blocks for their caller, and adds a link to each.
    pub async fn link_data(&mut self, state: &StateStore, caller: &str) -> Result<()> {
        for (_, envelope) in self.calls() {
            let blocks: Vec<_> = data_of(envelope).collect();
            if blocks.is_empty() {
                continue;
            }
            let all: BTreeMap<usize, &BlockData> =
                blocks.iter().map(|(block, data)| (block.block, data)).collect();
            let id = random_id("bl");
            let text = json!(all).to_string();
            let kept =
                StoredResult { id: id.clone(), caller: caller.to_string(), text, until: now() + LINK_TTL_MS };
            state.store_result(kept).await?;
            for (block, _) in blocks {
                block.link = Some(format!("/v1/results/{id}/blocks/{}", block.block));
            }
        }
        Ok(())
    }
}

/// The data of the blocks of a call, with their descriptions.
fn data_of(envelope: &mut Envelope) -> impl Iterator<Item = (&mut DescribedData, BlockData)> {
    let data = envelope.original.iter().flat_map(|original| original.data_blocks());
    let data = data.map(|block| BlockData {
        data: block.data.to_string(),
        media_type: block.media_type.map(str::to_string),
    });
    envelope.meta.blocks.iter_mut().zip(data)
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
    let mut blocks: BTreeMap<String, BlockData> = serde_json::from_str(&kept).unwrap_or_default();
    Ok(blocks.remove(block))
}
