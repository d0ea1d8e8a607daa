//! Forms of pages. A form is accepted only from a page of this server, and only from the person who read that page. Each
//! check holds without the others, and none is of a crate: `CsrfLayer` of `tower-http` knows neither the value nor a
//! public name behind a proxy.
//!
//! 1. The origin of the request, where the browser sends it (`Hosts::check`).
//! 2. The site of the request, where the browser sends it.
//! 3. A value in the form, which no other site can read: it is made from the cookie of the session, or for people without a
//!    session, from their name and a key of the server.

use axum::body::Body;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderName, Method};

use super::body;
use super::browser::{Browser, Visitor};
use super::metrics::Route;
use crate::response::{Problem, ProblemCode};
use toolcrib_gateway::exec::Caller;

const FORM_KEY: &str = "toolcrib 2026 form of a page";
/// Header in which a browser names the relation between the sending page and this server.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Name of the field with the value.
const FORM_FIELD: &str = "csrf";

/// The fields of a form, in the order of the page.
pub(super) type Fields = Vec<(String, String)>;

/// Takes the value of a field.
pub(super) fn take_field(fields: &mut Fields, name: &str) -> String {
    let place = fields.iter().position(|(known, _)| known == name);
    place.map(|place| fields.remove(place).1).unwrap_or_default()
}

/// Returns true if a request may send the form of a page. Only handlers that read the form with [`Browser::form`] answer it.
pub(super) fn may_send_form(request: &Parts) -> bool {
    let is_page = matches!(Route::of(request), Route::Page | Route::Doc);
    request.method == Method::POST && is_page && is_form(request)
}

fn is_form(request: &Parts) -> bool {
    let kind = request.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The value of a form whose browser has this cookie. The cookie cannot be found from it.
pub(super) fn form_value(secret: &str) -> String {
    blake3::Hash::from_bytes(blake3::derive_key(FORM_KEY, secret.as_bytes())).to_hex().to_string()
}

pub(super) fn is_form_value(secret: &str, csrf: &str) -> bool {
    is_equal(&form_value(secret), csrf)
}

/// Compares two values in constant time, as hashes.
fn is_equal(own: &str, sent: &str) -> bool {
    blake3::Hash::from_hex(own).is_ok_and(|own| blake3::Hash::from_hex(sent).is_ok_and(|sent| sent == own))
}

impl Browser<'_> {
    /// The value in the forms on this person's pages.
    pub(super) async fn csrf(self, caller: &Caller) -> Result<String, Problem> {
        let visitor = self.request.extensions.get::<Visitor>();
        if let Some(csrf) = visitor.map(|visitor| &visitor.csrf).filter(|csrf| !csrf.is_empty()) {
            return Ok(csrf.clone());
        }
        let key = self.key().await?;
        Ok(blake3::keyed_hash(&key, format!("{FORM_KEY}\n{}", caller.name).as_bytes()).to_hex().to_string())
    }

    /// The fields of a form that this person sent from a page of this server.
    pub(super) async fn form(self, caller: &Caller, body: Body) -> Result<Fields, Problem> {
        let mut fields = self.fields(&caller.name, body).await?;
        let own = self.csrf(caller).await?;
        let sent = take_field(&mut fields, FORM_FIELD);
        if is_equal(&own, &sent) { Ok(fields) } else { Err(form_refused()) }
    }

    /// The fields of a form, whose value is not checked yet.
    pub(super) async fn fields(self, caller: &str, body: Body) -> Result<Fields, Problem> {
        if self.request.headers.get_all(FETCH_SITE).iter().any(|site| site != "same-origin") {
            return Err(form_refused());
        }
        if !is_form(self.request) {
            let message = "this address takes a form of its own pages";
            return Err(Problem::new(ProblemCode::UnsupportedMediaType, message)
                .next("use the page in a browser, or send `Authorization: Bearer TOKEN` to /v1"));
        }
        let body = body::whole(self.shared, caller, body).await?;
        Ok(form_urlencoded::parse(&body).into_owned().collect())
    }
}

/// The problem of a form from elsewhere.
pub(super) fn form_refused() -> Problem {
    Problem::new(ProblemCode::FormRefused, "this form is of another session, or of another site")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_belongs_to_one_cookie() {
        assert!(is_form_value("a", &form_value("a")));
        for csrf in ["", "0", &"0".repeat(64), &form_value("b")] {
            assert!(!is_form_value("a", csrf), "{csrf}");
        }
    }
}
