//! The token endpoint of an authorization server that the configuration names: its address, and one form posted to it.

use serde_json::Value;

use super::SignInProblem;
use super::http_client::client as http;
use crate::config::{ClientAuthentication, ServerAuth, is_safe_address};

/// Longest answer, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A token endpoint.
pub(super) struct TokenEndpoint {
    url: String,
    /// The way in which clients prove themselves there.
    authentication: ClientAuthentication,
}

/// A client that asks for tokens.
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) authentication: Option<ClientAuthentication>,
}

/// The reason why a place has no metadata that counts.
enum NoMetadata {
    /// Nothing is there.
    Absent,
    Unusable(String),
}

impl<T: Into<String>> From<T> for NoMetadata {
    fn from(why: T) -> Self {
        Self::Unusable(why.into())
    }
}

/// The answer to a form.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl TokenEndpoint {
    /// The endpoint that the configuration names, or the one in the metadata of its issuer.
    pub(super) async fn of(auth: &ServerAuth) -> Result<Self, SignInProblem> {
        let authentication = ClientAuthentication::ClientSecretBasic;
        if let Some(url) = &auth.token_url {
            return Ok(Self { url: url.clone(), authentication });
        }
        let issuer = auth.issuer.as_deref().unwrap_or_default();
        let mut problems = Vec::new();
        for place in places(issuer) {
            match metadata(&place, issuer).await {
                Ok(endpoint) => return Ok(endpoint),
                Err(problem) => problems.push((place, problem)),
            }
        }
        Err(without_metadata(&problems))
    }

    /// Posts a form, with the client's proof. Redirects are not followed.
    pub(super) async fn ask(
        &self,
        mut form: Vec<(&str, String)>,
        client: &Client,
    ) -> Result<Reply, SignInProblem> {
        let mut request = http().map_err(SignInProblem::Refused)?.post(&self.url);
        let is_basic =
            client.authentication_or(self.authentication) == ClientAuthentication::ClientSecretBasic;
        match &client.secret {
            Some(secret) if is_basic => {
                request = request.basic_auth(encoded(&client.id), Some(encoded(secret)));
            }
            secret => {
                form.push(("client_id", client.id.clone()));
                form.extend(secret.clone().map(|secret| ("client_secret", secret)));
            }
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
        let reply = read(request).await.map_err(|why| {
            SignInProblem::Refused(format!("its authorization server cannot be asked: {why}"))
        })?;
        match reply.status {
            300..400 => {
                let message =
                    "its authorization server redirects, which is not followed; correct its address";
                Err(SignInProblem::Refused(message.into()))
            }
            _ => Ok(reply),
        }
    }
}

/// The problem of an issuer without metadata: its address is wrong where nothing is there, and the first problem says most elsewhere.
fn without_metadata(problems: &[(String, NoMetadata)]) -> SignInProblem {
    if problems.iter().all(|(_, problem)| matches!(problem, NoMetadata::Absent)) {
        let places: Vec<&str> = problems.iter().map(|(place, _)| path_of(place)).collect();
        return SignInProblem::Setting(format!(
            "its `issuer` has no metadata: it answered 404 to {}; correct `issuer`, or set `token_url`",
            places.join(" and ")
        ));
    }
    let said = |problem: &NoMetadata| match problem {
        NoMetadata::Absent => "it answered 404".to_string(),
        NoMetadata::Unusable(why) => why.clone(),
    };
    let problem = problems.first().map(|(place, problem)| format!("{}: {}", path_of(place), said(problem)));
    let problem = problem.unwrap_or_default();
    SignInProblem::Refused(format!("the metadata of its issuer cannot be read at {problem}"))
}

/// The path of an address. Callers see it, and not the host.
fn path_of(place: &str) -> &str {
    place
        .find("://")
        .and_then(|at| place[at + 3..].find('/').map(|path| &place[at + 3 + path..]))
        .unwrap_or(place)
}

/// The endpoint in a metadata document. It has to be of this issuer, so that no other one answers for it.
async fn metadata(place: &str, issuer: &str) -> Result<TokenEndpoint, NoMetadata> {
    let reply = read(http()?.get(place)).await?;
    match reply.status {
        200 => {}
        404 => return Err(NoMetadata::Absent),
        status => return Err(format!("it answered {status}").into()),
    }
    let document: Value = serde_json::from_slice(&reply.body).map_err(|_| "it is no JSON")?;
    if document["issuer"].as_str() != Some(issuer) {
        return Err("it is of another issuer".into());
    }
    let url = document["token_endpoint"].as_str().ok_or("it has no `token_endpoint`")?;
    if !is_safe_address(url) {
        return Err("its `token_endpoint` is not https".into());
    }
    let methods = document["token_endpoint_auth_methods_supported"].as_array();
    let takes = |method: &str| methods.is_none_or(|methods| methods.iter().any(|known| known == method));
    let is_post = !takes("client_secret_basic") && takes("client_secret_post");
    let authentication = match is_post {
        true => ClientAuthentication::ClientSecretPost,
        false => ClientAuthentication::ClientSecretBasic,
    };
    Ok(TokenEndpoint { url: url.to_string(), authentication })
}

/// The places of an issuer's metadata: as RFC 8414 has it, then as OpenID Connect has it.
fn places(issuer: &str) -> Vec<String> {
    let issuer = issuer.trim_end_matches('/');
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = issuer.split_at(issuer[host..].find('/').map_or(issuer.len(), |at| host + at));
    vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{issuer}/.well-known/openid-configuration"),
    ]
}

/// The text in a header of Basic (RFC 6749, section 2.3.1).
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Sends a request. The error names neither the address nor anything that was sent.
async fn read(request: reqwest::RequestBuilder) -> Result<Reply, String> {
    let answer = request.header("accept", "application/json").send().await;
    let mut answer = answer.map_err(|error| match (error.is_timeout(), error.is_builder()) {
        (true, _) => "there was no answer in time",
        (_, true) => "its address is no address",
        _ => "there was no connection",
    })?;
    let status = answer.status().as_u16();
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| "the answer broke off")? {
        if body.len() + piece.len() > MAX_BYTES {
            return Err("the answer is too long".into());
        }
        body.extend_from_slice(&piece);
    }
    Ok(Reply { status, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_at_its_usual_places() {
        let with_path = [
            "https://a.example/.well-known/oauth-authorization-server/t",
            "https://a.example/t/.well-known/openid-configuration",
        ];
        assert_eq!(places("https://a.example/t/"), with_path);
        assert_eq!(
            places("https://a.example")[0],
            "https://a.example/.well-known/oauth-authorization-server"
        );
    }

    #[test]
    fn a_client_is_encoded_before_it_goes_into_a_header() {
        assert_eq!(encoded("a:b c%"), "a%3Ab+c%25");
    }
}
