//! `tool_help`: ops, groups and entities, short or in full, each with what a call needs. What is told of one of them is
//! made once for each edition, and sent as it is from then on.

mod again;
mod kept;
mod place;
mod session;

use std::collections::HashSet;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Context, Edition, ErrorCode, Perhaps, Refusal, arguments};
use crate::help::{self, Format, Wanted};
pub(super) use kept::Kept;
use place::{Place, find};

#[derive(Deserialize)]
struct Arguments {
    path: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    format: Spoken,
    #[serde(default = "yes")]
    include_examples: bool,
    #[serde(default)]
    include_schemas: bool,
}

/// The word for a format.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Spoken {
    #[default]
    Short,
    Full,
}

fn yes() -> bool {
    true
}

/// Answers a call.
pub(super) fn run(context: &Context, arguments: Value) -> Perhaps {
    let asked: Arguments = match arguments::read("tool_help", arguments) {
        Ok(asked) => asked,
        Err(refusal) => return Perhaps::Now(Err(refusal)),
    };
    let wanted = Wanted {
        format: match asked.format {
            Spoken::Short => Format::Short,
            Spoken::Full => Format::Full,
        },
        examples: asked.include_examples,
        schemas: asked.include_schemas,
    };
    if asked.paths.is_empty() {
        let path = asked.path.unwrap_or_default();
        return match find(&context.edition, &path) {
            Err(refusal) if context.caller.session.is_none() => Perhaps::Now(Err(refusal)),
            Err(_) => later(context, vec![path], wanted, true),
            Ok(Place::Session) => later(context, vec![path], wanted, true),
            Ok(place) => Perhaps::Now(kept(&context.edition, &place, wanted).map(Answer::kept)),
        };
    }
    let paths: Vec<String> = asked.path.into_iter().chain(asked.paths).collect();
    later(context, paths, wanted, false)
}

/// Answers what may have to wait for the trace of a session.
fn later(context: &Context, paths: Vec<String>, wanted: Wanted, is_alone: bool) -> Perhaps {
    let context = context.clone();
    Perhaps::Later(Box::pin(async move {
        let asked = paths.join("\n");
        let answer = match (is_alone, paths.first().map(|path| find(&context.edition, path))) {
            (true, Some(Err(refusal))) => Err(refusal),
            (true, _) => session::told(&context).await.map(|fields| Answer::new(fields, None)),
            (false, _) => several(&context, paths, wanted).await,
        };
        match answer {
            Err(refusal) => Err(again::answer(&context, &asked, refusal).await),
            answer => answer,
        }
    }))
}

/// Each path by itself: one that is wrong does not lose the others.
async fn several(context: &Context, paths: Vec<String>, wanted: Wanted) -> Result<Answer, Refusal> {
    let (mut results, mut refusals, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for path in paths {
        let told = match find(&context.edition, &path) {
            Ok(place) if !seen.insert(place.clone()) => continue,
            Ok(Place::Session) => session::told(context).await,
            Ok(place) => fields(&context.edition, &place, wanted),
            Err(refusal) => Err(refusal),
        };
        let mut entry = Map::from_iter([("asked".to_string(), Value::from(path))]);
        match told {
            Ok(fields) => entry.extend(fields),
            Err(refusal) => {
                entry.insert("error".into(), serde_json::to_value(&refusal).unwrap_or_default());
                refusals.push(refusal);
            }
        }
        results.push(Value::Object(entry));
    }
    if results.len() == refusals.len() {
        let all = refusals.into_iter().reduce(|mut all, next| {
            all.message = format!("{}; {}", all.message, next.message);
            all.nearest.extend(next.nearest);
            all
        });
        return Err(all.unwrap_or_else(|| broken("no path was given")));
    }
    Ok(Answer::new(Map::from_iter([("results".to_string(), results.into())]), None))
}

/// The answer on one place as JSON, made when it is first asked for.
fn kept(edition: &Edition, place: &Place, wanted: Wanted) -> Result<Bytes, Refusal> {
    let make = || {
        let mut answer = Map::from_iter([("ok".to_string(), Value::Bool(true))]);
        answer.extend(fields(edition, place, wanted)?);
        answer.insert("meta".into(), json!({ "registry_version": edition.catalog().version }));
        serde_json::to_vec(&answer).map(Bytes::from).map_err(|error| broken(&error.to_string()))
    };
    let Some(kept) = edition.help().place(edition, place, wanted) else { return make() };
    if let Some(kept) = kept.get() {
        return Ok(kept.clone());
    }
    let made = make()?;
    Ok(kept.get_or_init(|| made).clone())
}

/// What is told of one place.
fn fields(edition: &Edition, place: &Place, wanted: Wanted) -> Result<Map<String, Value>, Refusal> {
    let catalog = edition.catalog();
    match place {
        Place::Op(index) => {
            let (Some(tool), Some(page)) = (catalog.tools.get(*index), edition.page(*index)) else {
                return Err(broken("this tool has no place"));
            };
            if edition.is_forbidden(*index) {
                return Err(super::discovery::not_authorized(&tool.op));
            }
            let page = page.as_ref().map_err(|error| broken(&error.to_string()))?;
            let mut fields = help::of_tool(tool, wanted);
            fields.insert("doc_version".into(), page.version.as_str().into());
            fields.insert("receipt".into(), page.receipt.as_str().into());
            Ok(fields)
        }
        Place::Group(group, only) => {
            Ok(help::directory(catalog, edition.help().groups(edition), *group, *only, wanted.format))
        }
        Place::Beginning(path) => {
            help::beginning(catalog, path, wanted.format).ok_or_else(|| place::unknown(edition, path))
        }
        Place::Session => Err(broken("a session is told of by its trace")),
    }
}

fn broken(problem: &str) -> Refusal {
    Refusal::new(ErrorCode::Internal, problem, "tell the operator of this server")
}
