//! `--pick`: chooses the tools that an input may need, before they are bound.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::catalog::CatalogArgs;
use super::error::CommandError;
use super::io::Io;
use super::progress::Spinner;
use super::runtime::runtime;
use super::services::for_command;
use super::word::word;
use crate::BUILT_IN;
use toolcrib_catalog::config::Mode;
use toolcrib_catalog::{Checked, Profile};
use toolcrib_definition::clean_line;
use toolcrib_definition::document::from_json;
use toolcrib_definition::grammar::counted;
use toolcrib_gateway::functions::pick::{ScorerKind, hint};
use toolcrib_gateway::functions::{CatalogView, FunctionContext};
use toolcrib_render::Templates;
use toolcrib_search::Verdict;
use toolcrib_search::pick::{self, Picked};

/// Options of `pick`.
#[derive(Debug, clap::Args)]
pub(super) struct PickArgs {
    /// Bind in full the tools that this input may need: a text, or JSON such as the messages so far.
    ///
    /// No other tool is bound, unless --mode names a mode for them.
    #[arg(long, value_name = "INPUT")]
    pick: Option<String>,
    /// Most tools to pick.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "pick", value_parser = clap::value_parser!(u16).range(1..))]
    max: u16,
    /// Least score of a picked tool, from 0 to 1.
    #[arg(long, hide_short_help = true, value_name = "SCORE", default_value_t = 0.05, requires = "pick", value_parser = share)]
    min_score: f32,
    /// Pick tools that are marked unsafe too.
    #[arg(long, hide_short_help = true, requires = "pick")]
    allow_unsafe: bool,
    /// The scorer: words, vectors ([search.semantic]), both, or a chat model ([search.llm]).
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = "keyword", requires = "pick", value_parser = word::<ScorerKind>())]
    scorer: ScorerKind,
}

impl PickArgs {
    /// Whether tools are to be picked.
    pub(super) fn is_wanted(&self) -> bool {
        self.pick.is_some()
    }

    /// The profile with the picked tools, and without the others where the mode would bind those in full too.
    pub(super) fn apply<'c>(
        &self,
        io: &Io,
        args: &CatalogArgs,
        checked: &'c Checked,
        profile: Profile<'c>,
        mode: Mode,
    ) -> Result<Profile<'c>, CommandError> {
        let Some(input) = &self.pick else { return Ok(profile) };
        let picked = self.picked(io, args, checked, profile.name, input)?;
        let mut profile = profile.with_picked(&|tool| picked.contains(&tool.names.canonical));
        if mode == Mode::Full {
            profile.tools.retain(|entry| picked.contains(&entry.tool.names.canonical));
        }
        Ok(profile)
    }

    /// Names of the tools that fit best; the reasons go to stderr.
    fn picked(
        &self,
        io: &Io,
        args: &CatalogArgs,
        checked: &Checked,
        profile: Option<&str>,
        input: &str,
    ) -> Result<HashSet<String>, CommandError> {
        let templates = Templates::from(BUILT_IN);
        let view = CatalogView::new(&checked.catalog, profile, None, Arc::new(templates))?;
        let runtime = runtime()?;
        let (services, waiting) = for_command(io, args, &checked.catalog);
        let context = FunctionContext { services: Arc::new(services), ..FunctionContext::of(Arc::new(view)) };
        let options = pick::Options {
            max_candidates: usize::from(self.max),
            min_score: self.min_score,
            allow_unsafe: self.allow_unsafe,
            ..pick::Options::default()
        };
        let chosen = runtime.block_on(context.pick(read(input)?, self.scorer, &options));
        waiting.iter().for_each(Spinner::finish);
        let chosen = chosen.map_err(|refusal| {
            CommandError::Usage(format!("{}\n  help: {}", refusal.message, refusal.next_action))
        })?;
        chosen.picks.fallback.iter().for_each(|fallback| io.note(clean_line(fallback)));
        let candidates = match chosen.verdict {
            Verdict::Match | Verdict::Unsure => chosen.picks.candidates,
            Verdict::UnknownLanguage | Verdict::NoMatch => {
                self.print_nearest(io, &chosen.picks.candidates, chosen.unsafe_tools);
                Vec::new()
            }
        };
        for picked in &candidates {
            let reason = picked.reason.as_deref().map(clean_line).unwrap_or_default();
            io.note(format!("picked {} ({:.2}): {reason}", picked.tool.names.canonical, picked.score));
        }
        if chosen.unsafe_tools > 0 {
            let unsafe_tools = counted(chosen.unsafe_tools, "unsafe tool");
            io.note(format!("{unsafe_tools} left out; --allow-unsafe lets them be picked"));
        }
        Ok(candidates.into_iter().map(|picked| picked.tool.names.canonical.clone()).collect())
    }

    /// Prints that no tool was picked, and the nearest ones.
    fn print_nearest(&self, io: &Io, nearest: &[Picked], unsafe_tools: usize) {
        if nearest.is_empty() {
            return io.note(format!("no tool is picked: {}", hint(unsafe_tools)));
        }
        let tools: Vec<String> =
            nearest.iter().map(|near| format!("{} ({:.2})", near.tool.names.canonical, near.score)).collect();
        io.note(format!("no tool is picked: none fits; the nearest are {}", tools.join(", ")));
        io.note(match self.scorer {
            ScorerKind::Llm => "say the task as an action and its object, or score by `keyword`",
            _ => {
                "say the task as an action and its object; `no_match_below = 0` under [search] in toolcrib.toml binds the nearest"
            }
        });
    }
}

/// JSON where it is an object or a list, else text.
fn read(input: &str) -> Result<Value, CommandError> {
    match from_json(input) {
        Ok(json) if json.is_object() || json.is_array() => Ok(json),
        Err(error) if error.is_data() => Err(CommandError::Usage(format!("in the input {error}"))),
        _ => Ok(input.into()),
    }
}

fn share(text: &str) -> Result<f32, String> {
    let share: f32 = text.parse().map_err(|_| "this is no number".to_string())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a score lies between 0 and 1".into()) }
}
