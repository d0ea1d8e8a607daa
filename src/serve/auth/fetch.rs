//! Requests to issuers: within a time and a size, without redirects. An address in a document of an issuer leads into a
//! private network only if the issuer itself is there.

use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, StatusCode, Url};
use tokio::net::lookup_host;
use tokio::time::timeout;

/// Longest time of a request with its answer.
const WHOLE: Duration = Duration::from_secs(5);
/// Longest time to connect.
const CONNECTING: Duration = Duration::from_secs(3);
/// Longest answer, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// A client for the addresses that the configuration names.
#[derive(Debug, Default)]
pub(super) struct Fetcher(OnceLock<Result<Client, String>>);

impl Fetcher {
    /// The answer at an address of the configuration.
    pub(super) async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        bounded(async { read(self.client()?.get(url)).await }).await
    }

    fn client(&self) -> Result<&Client, String> {
        let client = self.0.get_or_init(|| builder().build().map_err(|error| error.to_string()));
        client.as_ref().map_err(Clone::clone)
    }
}

/// The answer at an address that a document of `issuer` names.
pub(super) async fn get_named_by(issuer: &str, url: &str) -> Result<Vec<u8>, String> {
    bounded(async { read(client_for(issuer, url).await?.get(url)).await }).await
}

/// A client for an address that a document of `issuer` names.
async fn client_for(issuer: &str, url: &str) -> Result<Client, String> {
    let (issuer, url) = (parsed(issuer)?, parsed(url)?);
    let near: Vec<Reach> = addresses(&issuer).await?.iter().map(|at| Reach::of(at.ip())).collect();
    let mut found = addresses(&url).await?;
    found.retain(|at| Reach::of(at.ip()).is_allowed_beside(&near));
    if found.is_empty() {
        return Err("its address is in a private network, and the issuer is not".to_string());
    }
    // The name is not resolved again, so that it cannot change in between.
    let host = url.host_str().unwrap_or_default();
    builder().resolve_to_addrs(host, &found).build().map_err(|error| error.to_string())
}

async fn bounded<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    timeout(WHOLE, work).await.unwrap_or_else(|_| Err("there was no answer in time".into()))
}

fn builder() -> ClientBuilder {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECTING)
        .timeout(WHOLE)
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
}

/// The body of a good answer. The error names neither the address nor anything that was sent.
async fn read(request: reqwest::RequestBuilder) -> Result<Vec<u8>, String> {
    let (status, body) = sent(request).await?;
    if status.is_success() { Ok(body) } else { Err(format!("the answer has status {}", status.as_u16())) }
}

/// Sends a request, and reads its answer.
async fn sent(request: reqwest::RequestBuilder) -> Result<(StatusCode, Vec<u8>), String> {
    let answer = request.send().await;
    let mut answer = answer.map_err(|error| match error.is_timeout() {
        true => "there was no answer in time".to_string(),
        false => "there was no connection".to_string(),
    })?;
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| "the answer broke off".to_string())? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_BYTES {
            return Err("the answer is too long".into());
        }
    }
    Ok((answer.status(), bytes))
}

fn parsed(url: &str) -> Result<Url, String> {
    Url::parse(url).map_err(|_| "this is no address".to_string())
}

async fn addresses(url: &Url) -> Result<Vec<SocketAddr>, String> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(443);
    let found = lookup_host((host, port)).await.map_err(|_| "its name has no address".to_string())?;
    Ok(found.collect())
}

/// The network of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Public,
    Private,
    Loopback,
    /// Link-local, multicast and others, where no issuer is; addresses of cloud metadata are among them.
    Reserved,
}

impl Reach {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            address if address.is_loopback() => Reach::Loopback,
            IpAddr::V4(address) => {
                let [first, second, ..] = address.octets();
                let is_shared = first == 100 && (64..128).contains(&second);
                let is_reserved = address.is_link_local()
                    || first == 0
                    || first >= 224
                    || (first == 192 && address.octets()[1..3] == [0, 0])
                    || (first == 198 && (18..20).contains(&second));
                match (is_reserved, address.is_private() || is_shared) {
                    (true, _) => Reach::Reserved,
                    (_, true) => Reach::Private,
                    _ => Reach::Public,
                }
            }
            IpAddr::V6(address) => match address.segments()[0] {
                first if first & 0xfe00 == 0xfc00 => Reach::Private,
                // Global unicast, without the prefixes that hold an address of version 4.
                first if first & 0xe000 == 0x2000 && first != 0x2002 => match address.segments()[..2] {
                    [0x2001, 0] => Reach::Reserved,
                    _ => Reach::Public,
                },
                _ => Reach::Reserved,
            },
        }
    }

    fn is_allowed_beside(self, issuer: &[Reach]) -> bool {
        self == Reach::Public || (self != Reach::Reserved && issuer.contains(&self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_leads_into_a_private_network_only_from_there() {
        let of = |address: &str| Reach::of(address.parse().unwrap());
        let cases = [
            ("93.184.216.34", Reach::Public),
            ("2606:4700::1", Reach::Public),
            ("10.1.2.3", Reach::Private),
            ("192.168.0.1", Reach::Private),
            ("100.64.0.1", Reach::Private),
            ("fd00::1", Reach::Private),
            ("::ffff:10.0.0.1", Reach::Private),
            ("127.0.0.2", Reach::Loopback),
            ("::1", Reach::Loopback),
            ("::ffff:127.0.0.1", Reach::Loopback),
            ("169.254.169.254", Reach::Reserved),
            ("fe80::1", Reach::Reserved),
            ("0.0.0.0", Reach::Reserved),
            ("::", Reach::Reserved),
            ("224.0.0.1", Reach::Reserved),
            ("255.255.255.255", Reach::Reserved),
            ("2002:7f00:1::", Reach::Reserved),
            ("64:ff9b::7f00:1", Reach::Reserved),
        ];
        for (address, reach) in cases {
            assert_eq!(of(address), reach, "{address}");
            assert_eq!(reach.is_allowed_beside(&[Reach::Public]), reach == Reach::Public, "{address}");
        }
        assert!(Reach::Private.is_allowed_beside(&[Reach::Private]));
        assert!(!Reach::Loopback.is_allowed_beside(&[Reach::Private]));
        assert!(!Reach::Reserved.is_allowed_beside(&[Reach::Reserved]));
    }
}
