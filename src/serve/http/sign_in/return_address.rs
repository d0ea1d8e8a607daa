//! The page to which a person returns after signing in: always one of this server.

/// Longest address to return to, in bytes.
const MAX_LENGTH: usize = 2048;

/// Parameters of an address that are credentials: no page carries them on.
const CREDENTIALS: [&str; 5] = ["access_token", "code", "id_token", "refresh_token", "token"];

/// The address, if it is a path of this server; else the home page. A browser must read no host in it, however it mends
/// what is written. An address with credentials loses its parameters.
pub(super) fn safe(address: &str) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>');
    let is_path = address.starts_with('/') && !address.starts_with("//");
    let is_ours = is_path && address.len() <= MAX_LENGTH && address.bytes().all(is_plain);
    match address.split_once('?') {
        _ if !is_ours || is_of_sign_in(address) => "/",
        Some((path, query)) if has_credentials(query) => path,
        _ => address,
    }
}

fn has_credentials(query: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| CREDENTIALS.contains(&&*name))
}

/// Whether an address is one of signing in, which is not worth returning to.
fn is_of_sign_in(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.split('/').any(|part| part == "sign-in" || part == "sign-out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_returned_to() {
        for good in ["/", "/tools/get_me.html", "/search.html?q=a%20b&c=//x", "/p/creator/", "/a//b", "/a@b"]
        {
            assert_eq!(safe(good), good);
        }
        assert_eq!(safe("/search.html?q=a&access_token=b"), "/search.html");
        assert_eq!(safe("/?c%6fde=b"), "/");
        let long = format!("/{}", "a".repeat(MAX_LENGTH));
        for bad in [
            "", "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example/",
            "javascript:alert(1)", "evil.example", "/\t/evil.example", "/\n/evil.example", " //evil.example",
            "///evil.example", "/a\r\nset-cookie: x", "/ä", "/sign-in", "/sign-in?return=/", "/sign-out",
            "/p/x/sign-in/start", &long,
        ] {
            assert_eq!(safe(bad), "/", "{bad}");
        }
    }
}
