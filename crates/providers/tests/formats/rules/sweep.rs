//! Makes the payloads of every real catalog in every mode, and holds them to one provider's rules.
//!
//! Tools are bound a hundred at a time, which every provider takes, so that every tool of every catalog is judged on
//! every provider. Modes that do not depend on the tools (gateway, files), and variants of `full` (compact
//! schemas, search by the client, marks for the cache, a payload made twice), are judged on the first hundred
//! of each catalog only.

use toolcrib_catalog::config::{self, Deferred, Mode, SearchBy};
use toolcrib_catalog::{Catalog, Checked, Profile, ProfileTool, functions};
use toolcrib_definition::DescriptionMode;
use toolcrib_providers::{Payload, PayloadError, PayloadRequest};

use super::judge::{self, Case, Judge};
use super::mode;
use super::report::Report;
use super::schema::Schema;
use crate::fixture;

/// Tools bound at a time.
const AT_A_TIME: usize = 100;
/// Of so many tools one is bound in full.
const FULL_OF: usize = 5;

/// All real catalogs, judged.
pub fn catalogs(judge: &Judge) {
    let mut report = Report::default();
    for file in fixture::CATALOGS {
        catalog(judge, file, fixture::catalog(file).1, &mut report);
    }
    report.close();
}

/// One catalog, judged.
pub fn catalog(judge: &Judge, name: &str, checked: &Checked, report: &mut Report) {
    let catalog = &checked.catalog;
    for (index, chunk) in mixed(catalog).chunks(AT_A_TIME).enumerate() {
        let whole = profile(chunk);
        let mut sweep = Sweep { judge, name, catalog, profile: &whole, report };
        for (mode, options) in everywhere(judge) {
            sweep.check(mode, options);
        }
        // A tool that is named like a function of ours is bound where ours is not; elsewhere it clashed.
        let others: Vec<ProfileTool<'_>> = chunk
            .iter()
            .filter(|entry| functions().named(&entry.tool.names.canonical).is_none())
            .copied()
            .collect();
        let others = profile(&others);
        let mut sweep = Sweep { judge, name, catalog, profile: &others, report };
        if others.tools.len() < chunk.len() {
            everywhere(judge).into_iter().for_each(|(mode, options)| sweep.check(mode, options));
        }
        if index == 0 {
            sweep.samples();
        }
    }
}

/// The tools of a catalog: one of five in full, the others deferred.
pub fn mixed(catalog: &Catalog) -> Vec<ProfileTool<'_>> {
    let mode = |index: usize| match index % FULL_OF {
        0 => DescriptionMode::Full,
        _ => DescriptionMode::Deferred,
    };
    catalog.tools.iter().enumerate().map(|(index, tool)| ProfileTool { tool, mode: mode(index) }).collect()
}

/// A profile of these tools.
pub fn profile<'a>(tools: &[ProfileTool<'a>]) -> Profile<'a> {
    Profile { name: None, description: None, tools: tools.to_vec(), picked: false }
}

/// Modes and options on which schemas differ.
fn everywhere(judge: &Judge) -> Vec<(Mode, config::Payload)> {
    let plain = config::Payload::default();
    let mut all = vec![(Mode::Full, plain), (Mode::Hybrid, plain)];
    if judge.native {
        all.push((Mode::Native, plain));
    }
    all
}

struct Sweep<'a, 'r> {
    judge: &'a Judge,
    name: &'a str,
    catalog: &'a Catalog,
    profile: &'a Profile<'a>,
    report: &'r mut Report,
}

impl<'a> Sweep<'a, '_> {
    /// Payloads that are judged once a catalog.
    fn samples(&mut self) {
        let plain = config::Payload::default();
        self.check(Mode::Gateway, plain);
        self.check(Mode::Files, plain);
        self.check(Mode::Hybrid, config::Payload { deferred: Deferred::Compact, ..plain });
        let by_client = config::Payload { search: SearchBy::Client, ..plain };
        self.check(Mode::Native, by_client);
        self.check(Mode::Native, config::Payload { search: SearchBy::Regex, ..plain });
        // Elsewhere native is what hybrid is.
        let hybrid_and_native = &[Mode::Hybrid, Mode::Native][..1 + usize::from(self.judge.native)];
        for cache in [true, false] {
            for mode in hybrid_and_native {
                self.check(*mode, config::Payload { cache: Some(cache), ..plain });
            }
        }
        for mode in hybrid_and_native {
            let (mode, options) = (*mode, by_client);
            let first = self.payload(mode, options).body.to_string();
            let second = self.payload(mode, options).body.to_string();
            self.report.demand(first == second, "the same payload twice", "");
        }
        let fallen = self.payload(Mode::Native, plain);
        let is_native = fallen.mode == Mode::Native;
        self.report.demand(
            is_native == self.judge.native,
            "native where the provider defers, else hybrid",
            "",
        );
        let says_so = fallen.notes.iter().any(|note| note.contains("this is the mode"));
        self.report.demand(is_native != says_so, "a note where the mode is another", "");
    }

    fn payload(&self, mode: Mode, options: config::Payload) -> Payload<'a> {
        let (catalog, profile, provider) = (self.catalog, self.profile, self.judge.provider);
        toolcrib_providers::payload(PayloadRequest { catalog, profile, provider, mode, options })
            .unwrap_or_else(|error| panic!("{} {} {}: {error}", self.name, provider.as_str(), mode.as_str()))
    }

    fn check(&mut self, asked: Mode, options: config::Payload) {
        let (catalog, profile, provider) = (self.catalog, self.profile, self.judge.provider);
        let made =
            toolcrib_providers::payload(PayloadRequest { catalog, profile, provider, mode: asked, options });
        let how =
            format!("{} {:?} {:?} {:?}", asked.as_str(), options.deferred, options.search, options.cache,);
        self.report.payload = format!("{} · {} · {how}", self.name, provider.as_str());
        self.report.tool.clear();
        match made {
            Ok(payload) => {
                let case = Case { options, payload: &payload };
                judged(self.judge, &case, self.report);
                mode::judged(self.judge, &case, profile, self.report);
            }
            Err(PayloadError::Clash { first, second, .. }) if first == second => {
                self.report.demand(
                    functions().named(&first).is_some(),
                    "a clash with a function of ours",
                    "",
                );
            }
            Err(error) => self.report.demand(false, &format!("a payload: {error}"), ""),
        }
    }
}

/// Holds one payload to the rules that need nothing but its JSON.
pub fn judged(judge: &Judge, case: &Case<'_>, report: &mut Report) {
    let found = (judge.found)(case.body());
    judge::names(judge, &found, report);
    (judge.shape)(case, report);
    for function in &found {
        let Some(root) = function.schema else { continue };
        // The same schema came by in another mode, unless this is the first.
        if report.is_new((function.strict, root)) {
            report.tool = function.name.to_string();
            (judge.schema)(&Schema::new(root, &function.schema_pointer, function.strict), report);
        }
    }
    report.tool.clear();
}
