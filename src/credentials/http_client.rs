//! The HTTP client for addresses of the configuration. It follows no redirects.

use std::sync::OnceLock;
use std::time::Duration;

/// Longest time to connect.
const CONNECTING: Duration = Duration::from_secs(10);

/// The client; the reason where none can be made.
pub(super) fn client() -> Result<&'static reqwest::Client, String> {
    static HTTP: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    let client = HTTP.get_or_init(|| {
        // The program has one cryptography provider; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECTING)
            // Requests may come from different runtimes, and a connection belongs to one.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.to_string())
    });
    client.as_ref().map_err(Clone::clone)
}
