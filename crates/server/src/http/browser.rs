//! The browser of a request: its cookies, the person at it, and the address by which it reached this server. The key of
//! cookies comes from state, which replicas share, and from the configured callers, so that a change of these ends all
//! cookies.

use cookie::{Cookie, SameSite};
use http::header::{COOKIE, HOST, SET_COOKIE};
use http::request::Parts;
use http::{HeaderName, HeaderValue};

use super::request_context::{OpenRequest, RequestContext, Shared};
use super::session_cookie::Session;
use crate::response::Problem;
use crate::site::Person;
use toolcrib_definition::clean_line;
use toolcrib_gateway::exec::Caller;
use toolcrib_gateway::state::{StateError, now};

/// Longest value of a cookie, in bytes: browsers keep 4,096 with the name and the attributes.
pub(super) const MAX_COOKIE: usize = 3_800;

/// Most characters of a name that pages show.
const MAX_SHOWN: usize = 80;

const COOKIE_KEY: &str = "toolcrib 2026 cookie of a person at the pages";

/// The use of a cookie.
pub(super) const SESSION: &str = "session";
pub(super) const FORM: &str = "form";

/// A person who reads the pages.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) caller: Caller,
    /// The name that pages show.
    pub(super) name: String,
    /// The value in the form that signs the person out; empty for a person whom a proxy names.
    pub(super) csrf: String,
}

impl Visitor {
    /// The person who has sent a request, if it is known.
    pub(super) fn person_of(request: &Parts) -> Option<Person<'_>> {
        request.extensions.get::<Self>().map(Self::person)
    }

    /// The person as pages show them.
    pub(super) fn person(&self) -> Person<'_> {
        Person { name: &self.name, csrf: &self.csrf }
    }

    /// The person whom a proxy names.
    pub(super) fn of_proxy(caller: Caller) -> Self {
        let name = caller.name.rsplit_once('@').map_or(&*caller.name, |(name, _)| name);
        let name = shown(&percent_encoding::percent_decode_str(name).decode_utf8_lossy());
        Self { name, caller, csrf: String::new() }
    }
}

/// The browser of a request.
#[derive(Clone, Copy)]
pub(super) struct Browser<'r> {
    pub(super) shared: &'r Shared,
    pub(super) request: &'r Parts,
}

impl RequestContext {
    /// The browser of this request.
    pub(super) fn browser(&self) -> Browser<'_> {
        Browser { shared: &self.shared, request: &self.request }
    }
}

impl OpenRequest {
    /// The browser of this request.
    pub(super) fn browser(&self) -> Browser<'_> {
        Browser { shared: &self.shared, request: &self.request }
    }
}

impl Browser<'_> {
    /// The key that signs cookies.
    pub(super) async fn key(self) -> Result<[u8; 32], Problem> {
        let make = async || {
            let secret = self.shared.live.services().state.hash_key().await?;
            let callers = self.shared.authenticator.fingerprint();
            Ok(blake3::derive_key(COOKIE_KEY, format!("{secret}\n{callers}").as_bytes()))
        };
        let key = self.shared.cookie_key.get_or_try_init(make).await;
        key.copied().map_err(|error| no_state(&error))
    }

    /// The cookie of the session, and what it holds, if that has not ended.
    pub(super) async fn session(self) -> Result<Option<(String, Session)>, Problem> {
        let Some(value) = self.cookie(SESSION) else { return Ok(None) };
        match Session::read(&value, &self.key().await?, now()) {
            Some(session) => {
                let has_ended = self.shared.live.services().state.has_ended(&hash(&value)).await;
                Ok((!has_ended.map_err(|error| no_state(&error))?).then_some((value, session)))
            }
            None => Ok(None),
        }
    }

    /// Ends the session that the browser has, so that a copy of its cookie is of no use.
    pub(super) async fn end_session(self) -> Result<(), Problem> {
        if let Some((value, session)) = self.session().await? {
            let state = &self.shared.live.services().state;
            let ended = state.end_cookie(&hash(&value), session.verified.until).await;
            ended.map_err(|error| no_state(&error))?;
        }
        Ok(())
    }

    /// The address by which the browser reached this server, or the public one.
    pub(super) fn address(self) -> String {
        let public = self.shared.authenticator.public_url();
        match self.request.headers.get(HOST).and_then(|host| host.to_str().ok()) {
            Some(host) if public.starts_with("http://") => {
                format!("{}://{host}", self.shared.hosts.scheme(host))
            }
            _ => public.to_string(),
        }
    }

    /// The port of this machine at which the browser asks without TLS; only there a cookie does without `Secure`.
    fn loopback_port(self) -> Option<u16> {
        let is_https = self.shared.authenticator.public_url().starts_with("https://");
        if is_https { None } else { self.shared.hosts.loopback_port(self.request) }
    }

    /// The name of a cookie. Over TLS, no other host can set or read it; servers at other ports of this machine share cookies.
    fn cookie_name(self, kind: &str) -> String {
        match self.loopback_port() {
            Some(port) => format!("toolcrib-{kind}-{port}"),
            None => format!("__Host-toolcrib-{kind}"),
        }
    }

    /// The value of a cookie. A cookie that is sent twice counts as missing: another server of this machine may have set one.
    pub(super) fn cookie(self, kind: &str) -> Option<String> {
        let name = self.cookie_name(kind);
        let sent = self.request.headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut found = sent.flat_map(Cookie::split_parse).flatten().filter(|cookie| cookie.name() == name);
        let (Some(cookie), None) = (found.next(), found.next()) else { return None };
        Some(cookie.value().to_string()).filter(|value| !value.is_empty() && value.len() <= MAX_COOKIE)
    }

    /// The header that sets a cookie, until the browser ends or for these milliseconds.
    pub(super) fn set_cookie(
        self,
        kind: &str,
        value: String,
        ms: Option<i64>,
    ) -> Option<(HeaderName, HeaderValue)> {
        let mut cookie = Cookie::new(self.cookie_name(kind), value);
        cookie.set_path("/");
        cookie.set_http_only(true);
        cookie.set_secure(self.loopback_port().is_none());
        cookie.set_same_site(SameSite::Strict);
        cookie.set_max_age(ms.map(cookie::time::Duration::milliseconds));
        Some((SET_COOKIE, HeaderValue::try_from(cookie.to_string()).ok()?))
    }
}

pub(super) fn shown(name: &str) -> String {
    clean_line(name).chars().take(MAX_SHOWN).collect()
}

fn no_state(error: &StateError) -> Problem {
    Problem::of_state(error, "nobody can sign in now")
}

/// The hash by which state knows a cookie.
fn hash(cookie: &str) -> String {
    blake3::hash(cookie.as_bytes()).to_hex().to_string()
}
