//! One tool of `registry.json`: everything that its definition says but the backend, which may name hosts and programs.
//! `sources` reads it back.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::names::op_parts;
use crate::schema::Callable;
use crate::tool::Tool;
use toolcrib_definition::{DescriptionMode, Effect};

/// One tool of `registry.json`: everything that its definition says but the backend, which may name hosts and programs.
/// `sources` reads it back.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    tool: &'a Tool,
    mode: Option<DescriptionMode>,
}

impl<'a> Record<'a> {
    /// The record of a tool; `mode` is its mode in a profile.
    pub fn of(tool: &'a Tool, mode: Option<DescriptionMode>) -> Self {
        Self { tool, mode }
    }
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tool, mode } = *self;
        let (group, entity, action) = op_parts(&tool.names.op);
        let mut record = Fields(serializer.serialize_map(None)?);
        record.put("op", &tool.names.op)?;
        record.put("tool_name", &tool.names.canonical)?;
        record.put("safe_name", &tool.names.safe)?;
        record.put_some("server", &tool.origin.server)?;
        record.put_some("title", &tool.names.title)?;
        record.put_any("aliases", &tool.names.aliases)?;
        record.put("group", group)?;
        record.put("kind", if tool.rules.effect == Effect::Read { "read" } else { "write" })?;
        record.put("effect", &tool.rules.effect)?;
        record.put_some("entity", &entity)?;
        record.put("action", action)?;
        record.put("categories", &tool.labels.categories)?;
        record.put_any("tags", &tool.labels.tags)?;
        record.put_some("description_mode", &mode)?;
        record.put("short_description", &tool.texts.short)?;
        record.put("description", &tool.texts.description)?;
        record.put("callable", &!matches!(tool.input.parameters.callable(), Callable::No(_)))?;
        record.put_some("parameters_schema", &tool.input.schema)?;
        record.put_some("result_schema", &tool.output)?;
        match &tool.input.call {
            Some(arguments) if tool.texts.examples.is_empty() => {
                record.put("examples", &[BTreeMap::from([("arguments", arguments)])])?;
            }
            _ => record.put("examples", &tool.texts.examples)?,
        }
        record.put_any("fill_in", &tool.input.fill_in)?;
        record.put_some("policy", &tool.texts.policy)?;
        record.put_some("returns", &tool.texts.written.returns)?;
        record.put_any("errors", &tool.texts.written.errors)?;
        record.put_any("notes", &tool.texts.written.notes)?;
        record.put_some("safe", &tool.rules.safe)?;
        record.put_some("approval", &tool.rules.approval)?;
        record.put_some("dry_run", &tool.rules.dry_run)?;
        record.put_some("context_shift", &tool.rules.context_shift)?;
        record.put_any("allowed_callers", &tool.rules.callers)?;
        record.put_any("allowed_roles", &tool.rules.roles)?;
        record.put_some("when_forbidden", &tool.rules.when_forbidden)?;
        record.put_some("cost", &tool.labels.cost)?;
        record.put_any("capabilities", &tool.labels.capabilities)?;
        record.put_some("strict", &tool.input.strict)?;
        record.put_some("provider_schema", &tool.input.provider_schema)?;
        record.put_some("allow_no_schema", &tool.input.allow_no_schema.then_some(true))?;
        record.put_some("no_schema_mode", &tool.input.no_schema_mode)?;
        record.put_some("deprecated", &tool.labels.deprecated)?;
        record.put_some("replaced_by", &tool.labels.replaced_by)?;
        record.0.end()
    }
}

/// Writes the fields of a record.
struct Fields<M>(M);

impl<M: SerializeMap> Fields<M> {
    fn put(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), M::Error> {
        self.0.serialize_entry(name, value)
    }

    fn put_some(&mut self, name: &str, value: &Option<impl Serialize>) -> Result<(), M::Error> {
        value.as_ref().map_or(Ok(()), |value| self.put(name, value))
    }

    fn put_any(&mut self, name: &str, values: &[impl Serialize]) -> Result<(), M::Error> {
        if values.is_empty() { Ok(()) } else { self.put(name, values) }
    }
}
