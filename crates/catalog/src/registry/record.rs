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
        let definition = &tool.definition;
        let (group, entity, action) = op_parts(&tool.op);
        let mut record = Fields(serializer.serialize_map(None)?);
        record.put("op", &tool.op)?;
        record.put("tool_name", &tool.name)?;
        record.put("safe_name", &tool.safe_name)?;
        record.put_some("server", &tool.server)?;
        record.put_some("title", &definition.title)?;
        record.put_any("aliases", &tool.aliases)?;
        record.put("group", group)?;
        record.put("kind", if tool.effect == Effect::Read { "read" } else { "write" })?;
        record.put("effect", &tool.effect)?;
        record.put_some("entity", &entity)?;
        record.put("action", action)?;
        record.put("categories", &tool.categories)?;
        record.put_any("tags", &definition.tags)?;
        record.put_some("description_mode", &mode)?;
        record.put("short_description", &tool.short)?;
        record.put("description", &tool.description)?;
        record.put("callable", &!matches!(tool.parameters.callable(), Callable::No(_)))?;
        record.put_some("parameters_schema", &definition.parameters)?;
        record.put_some("result_schema", &definition.result_schema)?;
        match &tool.call {
            Some(arguments) if tool.examples.is_empty() => {
                record.put("examples", &[BTreeMap::from([("arguments", arguments)])])?;
            }
            _ => record.put("examples", &tool.examples)?,
        }
        record.put_any("fill_in", &tool.fill_in)?;
        record.put_some("policy", &tool.policy)?;
        record.put_some("returns", &definition.returns)?;
        record.put_any("errors", &definition.errors)?;
        record.put_any("notes", &definition.notes)?;
        record.put_some("safe", &definition.safe)?;
        record.put_some("approval", &definition.approval)?;
        record.put_some("dry_run", &definition.dry_run)?;
        record.put_some("context_shift", &definition.context_shift)?;
        record.put_any("allowed_callers", &definition.allowed_callers)?;
        record.put_any("allowed_roles", &definition.allowed_roles)?;
        record.put_some("when_forbidden", &definition.when_forbidden)?;
        record.put_some("cost", &definition.cost)?;
        record.put_any("capabilities", &definition.capabilities)?;
        record.put_some("strict", &definition.strict)?;
        record.put_some("provider_schema", &definition.provider_schema)?;
        record.put_some("allow_no_schema", &definition.allow_no_schema.then_some(true))?;
        record.put_some("no_schema_mode", &definition.no_schema_mode)?;
        record.put_some("deprecated", &definition.deprecated)?;
        record.put_some("replaced_by", &definition.replaced_by)?;
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
