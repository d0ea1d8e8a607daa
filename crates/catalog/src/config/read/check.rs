//! Checks what types cannot express.

use super::workspace::{FILE_NAME, Workspace};
use crate::config::address::public_url_problem;
use crate::config::exec::ApprovalNotice;
use crate::config::lint::Lint;
use crate::config::profile::EVERY_PROFILE;
use crate::config::proxy::ServeProxy;
use crate::config::search::problem_of_api;
use crate::config::selector::Selectors;
use crate::config::server::Server;
use crate::config::settings::Config;
use crate::config::source::{Source, Trust};
use crate::results::check_select;
use toolcrib_definition::document::pointer_join;
use toolcrib_definition::finding::{Code, Finding, Place, nearest};

/// A finding about the setting at a pointer.
pub(super) fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Finding {
    Finding::new(Code::ConfigInvalid, message).at(Place::new(FILE_NAME, pointer))
}

/// A finding about a field of a table, or about the table itself if the field is empty.
fn invalid_field(table: &str, (field, message): (impl AsRef<str>, impl Into<String>)) -> Finding {
    match field.as_ref() {
        "" => invalid(table, message),
        field => invalid(format!("{table}/{field}"), message),
    }
}

/// Checks what types cannot express. A search model without a usable address is dropped.
pub(super) fn check(workspace: &mut Workspace) {
    let Workspace { config, findings, .. } = workspace;
    check_serve(config, findings);
    findings.extend(config.sources.iter().enumerate().filter_map(source_mistake));
    let named = config.servers.iter().map(|(name, server)| (pointer_join("/server", name), server));
    let sources = config.sources.iter().enumerate();
    let live = sources.filter_map(|(at, source)| Some((format!("/source/{at}/mcp"), source.mcp.as_ref()?)));
    let of_auth =
        |(at, server): (String, &Server)| Some(invalid_field(&format!("{at}/auth"), server.auth_problem()?));
    findings.extend(named.chain(live).filter_map(of_auth));
    let search = &mut config.search;
    let problem = search.semantic.as_ref().and_then(|model| problem_of_api(&model.url, &model.model));
    if let Some(problem) = problem {
        search.semantic = None;
        findings.push(invalid_field("/search/semantic", problem));
    }
    if let Some(problem) = search.llm.as_ref().and_then(|model| problem_of_api(&model.url, &model.model)) {
        search.llm = None;
        findings.push(invalid_field("/search/llm", problem));
    }
    if let Some(problem) = config.approval.problem() {
        config.approval = ApprovalNotice::default();
        findings.push(invalid_field("/approval", problem));
    }
    check_served_profiles(config, findings);
    check_selectors(config, findings);
    for (index, overlay) in config.overlays.iter().enumerate() {
        if let Some(Err(problem)) = overlay.result.as_deref().map(check_select) {
            findings.push(invalid(format!("/overlay/{index}/result"), format!("`result` {problem}")));
        }
        for (name, argument) in &overlay.arguments {
            if argument.value.is_some() == argument.env.is_some() {
                let pointer = pointer_join(&format!("/overlay/{index}/arguments"), name);
                let message = "an argument has a `value`, or the name of a variable in `env`";
                findings.push(invalid(pointer, message));
            }
        }
    }
    check_codes(&config.lint, findings);
}

/// The mistake of a source: each has a path or a server, and not both.
fn source_mistake((index, source): (usize, &Source)) -> Option<Finding> {
    let at = |field: &str| format!("/source/{index}{field}");
    Some(match &source.mcp {
        Some(_) if source.trust == Trust::Run => invalid(
            at("/trust"),
            "tools of a live server are never trusted to name programs; `[exec.trust_hints]` is for its effects",
        ),
        None if source.address().is_some() && source.trust == Trust::Run => invalid(
            at("/trust"),
            "definitions at an address are never trusted to name programs; write `backend` in an `[[overlay]]`",
        ),
        None if source.path.is_empty() => invalid(at(""), "a source has a `path`, or a server under `mcp`"),
        Some(_) if !source.path.is_empty() => {
            invalid(at("/path"), "a source has a `path` or `mcp`, not both")
        }
        Some(server) => invalid(at("/mcp"), server.problem()?),
        None => return None,
    })
}

/// Checks the proxy, the issuers of tokens, and the address that their tokens are for.
fn check_serve(config: &Config, findings: &mut Vec<Finding>) {
    let serve = &config.serve;
    let public = serve.public_url.as_deref().and_then(public_url_problem);
    findings.extend(public.map(|problem| invalid("/serve/public_url", problem)));
    let proxy = serve.proxy.as_ref().and_then(ServeProxy::problem);
    findings.extend(proxy.map(|problem| invalid_field("/serve/proxy", problem)));
    for (index, issuer) in serve.issuers.iter().enumerate() {
        let table = format!("/serve/issuer/{index}");
        findings.extend(issuer.problem().map(|problem| invalid_field(&table, problem)));
        if serve.issuers[..index].iter().any(|other| other.issuer == issuer.issuer) {
            findings.push(invalid(format!("{table}/issuer"), "another `[[serve.issuer]]` has this name"));
        }
    }
}

/// Checks that the profiles of the server and of its tokens exist.
fn check_served_profiles(config: &Config, findings: &mut Vec<Finding>) {
    let mut check = |names: &[String], list: String, may_be_every: bool| {
        let is_known =
            |name: &str| config.profiles.contains_key(name) || (may_be_every && name == EVERY_PROFILE);
        for (place, name) in names.iter().enumerate().filter(|(_, name)| !is_known(name)) {
            let near = nearest(name, config.profiles.keys().map(String::as_str));
            let finding = invalid(format!("{list}/{place}"), format!("there is no profile \"{name}\""));
            findings.push(finding.did_you_mean(&near, "each profile has a table `[profile.NAME]`"));
        }
    };
    check(config.serve.profiles.as_deref().unwrap_or_default(), "/serve/profiles".into(), true);
    for (index, token) in config.serve.tokens.iter().enumerate() {
        check(&token.profiles, format!("/serve/token/{index}/profiles"), false);
    }
    for (issuer, configured) in config.serve.issuers.iter().enumerate() {
        for (index, grant) in configured.grants.iter().enumerate() {
            check(&grant.profiles, format!("/serve/issuer/{issuer}/grant/{index}/profiles"), true);
        }
    }
}

/// Checks that selectors can be read.
fn check_selectors(config: &Config, findings: &mut Vec<Finding>) {
    let mut check = |selectors: &Selectors, pointer: String| {
        for error in selectors.errors() {
            let help = "selectors are names, globs such as `create_*`, or `category:`, `tag:`, `source:`, `server:`, `effect:`";
            let finding = Finding::new(Code::SelectorInvalid, error).help(help);
            findings.push(finding.at(Place::new(FILE_NAME, &pointer)));
        }
    };
    for (index, overlay) in config.overlays.iter().enumerate() {
        check(&overlay.tools, format!("/overlay/{index}/match"));
    }
    for (name, profile) in &config.profiles {
        for (field, list) in profile.lists() {
            check(list, format!("{}/{field}", pointer_join("/profile", name)));
        }
    }
    for (index, ignore) in config.lint.ignore.iter().enumerate() {
        check(&ignore.tools, format!("/lint/ignore/{index}/match"));
    }
}

/// Checks that the codes of findings exist.
fn check_codes(lint: &Lint, findings: &mut Vec<Finding>) {
    let ignored = lint.ignore.iter().enumerate();
    let ignored = ignored.map(|(index, rule)| (&rule.code, format!("/lint/ignore/{index}/code")));
    let severities = lint.severity.keys().map(|code| (code, pointer_join("/lint/severity", code)));
    for (code, pointer) in ignored.chain(severities).filter(|(code, _)| Code::parse(code).is_none()) {
        let near = nearest(code, Code::ALL.iter().map(|code| code.as_str()));
        let finding = invalid(pointer, format!("there is no finding code \"{code}\""));
        findings.push(finding.did_you_mean(&near, "docs/findings.md lists all codes"));
    }
}
