//! Profiles: the tools that one kind of agent gets, and how much of each is sent (DOC-4, DOC-6).

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::config;
use crate::tool::Tool;
use toolcrib_definition::DescriptionMode;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place, nearest};

/// The tools of one profile, in catalog order.
#[derive(Debug)]
pub struct Profile<'a> {
    /// Its name; `None` for the whole catalog.
    pub name: Option<&'a str>,
    /// The kind of agent that the profile is for.
    pub description: Option<&'a str>,
    pub tools: Vec<ProfileTool<'a>>,
    /// Whether its full tools were picked for one request. Picked tools are sent in every mode.
    pub picked: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct ProfileTool<'a> {
    pub tool: &'a Tool,
    /// Description mode of the tool in this profile.
    pub mode: DescriptionMode,
}

/// A catalog has no profile of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile \"{name}\"; {}", self.known_ones())]
pub struct UnknownProfile {
    pub name: String,
    /// The profile that may have been meant.
    pub nearest: Option<String>,
    /// Every profile of the catalog.
    pub known: Vec<String>,
}

impl UnknownProfile {
    fn known_ones(&self) -> String {
        match &self.nearest {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if self.known.is_empty() => "this catalog has no profiles".into(),
            None => format!("profiles are: {}", self.known.join(", ")),
        }
    }
}

impl<'a> Profile<'a> {
    /// The tools that are sent in full.
    pub fn full(&self) -> impl Iterator<Item = &'a Tool> {
        self.tools.iter().filter(|entry| entry.mode == DescriptionMode::Full).map(|entry| entry.tool)
    }

    /// Makes the picked tools full, and defers all others.
    pub fn with_picked(mut self, picked: &dyn Fn(&Tool) -> bool) -> Self {
        for entry in &mut self.tools {
            entry.mode = if picked(entry.tool) { DescriptionMode::Full } else { DescriptionMode::Deferred };
        }
        self.picked = true;
        self
    }
}

impl Catalog {
    /// The profile of this name, or the whole catalog.
    pub fn profile<'a>(&'a self, name: Option<&'a str>) -> Result<Profile<'a>, UnknownProfile> {
        let mode = self.modes(name)?;
        let entry = |tool: &'a Arc<Tool>| Some(ProfileTool { tool, mode: mode(tool)? });
        let tools = self.tools.iter().filter_map(entry).collect();
        let described = name.and_then(|name| self.config.profiles.get(name));
        let description = described.and_then(|profile| profile.description.as_deref());
        Ok(Profile { name, description, tools, picked: false })
    }

    /// Description mode of each tool of a profile; `None` for a tool outside it.
    pub fn modes<'a>(
        &'a self,
        profile: Option<&str>,
    ) -> Result<impl Fn(&Tool) -> Option<DescriptionMode> + 'a, UnknownProfile> {
        let profile = match profile {
            Some(name) => Some(self.config.profiles.get(name).ok_or_else(|| self.unknown_profile(name))?),
            None => None,
        };
        let has = |profile: &config::Profile, tool: &Tool| {
            let facts = tool.facts();
            (profile.include.is_empty() || profile.include.contains(&facts))
                && !profile.exclude.contains(&facts)
        };
        Ok(move |tool: &Tool| {
            profile.is_none_or(|profile| has(profile, tool)).then(|| self.mode(tool, profile))
        })
    }

    /// The most specific setting: first the profile's lists, then the tool, the profile, the catalog.
    fn mode(&self, tool: &Tool, profile: Option<&config::Profile>) -> DescriptionMode {
        let listed = profile.and_then(|profile| {
            let facts = tool.facts();
            let deferred = profile.deferred.contains(&facts).then_some(DescriptionMode::Deferred);
            deferred.or_else(|| profile.full.contains(&facts).then_some(DescriptionMode::Full))
        });
        listed
            .or(tool.labels.mode)
            .or_else(|| profile.and_then(|profile| profile.description_mode))
            .or(self.config.description_mode)
            .unwrap_or_default()
    }

    fn unknown_profile(&self, name: &str) -> UnknownProfile {
        let known = &self.config.profiles;
        let nearest = nearest(name, known.keys().map(String::as_str)).first().map(ToString::to_string);
        UnknownProfile { name: name.to_string(), nearest, known: known.keys().cloned().collect() }
    }
}

/// Reports selectors of profiles that select nothing.
pub(super) fn check(catalog: &Catalog, findings: &mut Vec<Finding>) {
    let facts: Vec<_> = catalog.tools.iter().map(|tool| tool.facts()).collect();
    for (name, profile) in &catalog.config.profiles {
        for (field, selectors) in profile.lists() {
            for unused in selectors.unused(&facts) {
                let message = format!("`{unused}` in profile \"{name}\" matches no tool");
                let pointer = format!("{}/{field}", pointer_join("/profile", name));
                let near = nearest(unused, catalog.tools.iter().map(|tool| tool.names.canonical.as_str()));
                let finding =
                    Finding::new(Code::ProfileUnused, message).at(Place::new("toolcrib.toml", pointer));
                findings.push(finding.did_you_mean(&near, "correct it, or remove it"));
            }
        }
    }
}
