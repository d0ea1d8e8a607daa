//! A browser as a person uses it: it keeps cookies for each origin, sends the origin of forms, and follows redirects.

use std::collections::BTreeMap;

use reqwest::blocking::Response;
use reqwest::{Method, Url};

use crate::serve::{client, header};

/// A browser with its cookies.
#[derive(Clone, Default)]
pub struct Browser {
    /// Cookies by origin and name.
    cookies: BTreeMap<(String, String), String>,
    /// Every address that it has opened.
    pub visited: Vec<String>,
}

/// A page.
pub struct Page {
    pub url: Url,
    pub status: u16,
    pub text: String,
    pub headers: reqwest::header::HeaderMap,
}

impl Browser {
    /// Opens an address, and follows redirects.
    pub fn open(&mut self, url: &str) -> Page {
        self.follow(Method::GET, url, None)
    }

    /// Sends a form of a page with these fields beside the hidden ones, and follows redirects.
    pub fn submit(&mut self, page: &Page, action: &str, fields: &[(&str, &str)]) -> Page {
        let form = page.form(action);
        let hidden = form.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let body: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(hidden.filter(|(name, _)| fields.iter().all(|(other, _)| other != name)))
            .extend_pairs(fields)
            .finish();
        self.follow(Method::POST, page.url.join(action).unwrap().as_str(), Some(body))
    }

    /// A cookie of an origin whose name begins with this.
    pub fn cookie(&self, origin: &str, name: &str) -> Option<(String, String)> {
        let mut own = self.cookies.iter().filter(|((at, _), _)| at == origin);
        let ((_, name), value) = own.find(|((_, known), _)| known.starts_with(name))?;
        Some((name.clone(), value.clone()))
    }

    /// Sets a cookie, as somebody who can write to this browser would.
    pub fn plant(&mut self, origin: &str, (name, value): (String, String)) {
        self.cookies.insert((origin.into(), name), value);
    }

    fn follow(&mut self, mut method: Method, url: &str, mut body: Option<String>) -> Page {
        let mut url = Url::parse(url).unwrap();
        for _ in 0..10 {
            let page = self.send(method, &url, body.take());
            let Some(next) = page.headers.get("location").filter(|_| (300..400).contains(&page.status))
            else {
                return page;
            };
            url = url.join(next.to_str().unwrap()).unwrap();
            method = Method::GET;
        }
        panic!("redirects without an end: {:?}", self.visited)
    }

    fn send(&mut self, method: Method, url: &Url, body: Option<String>) -> Page {
        let origin = url.origin().ascii_serialization();
        let own = self.cookies.iter().filter(|((at, _), _)| *at == origin);
        let cookies: Vec<String> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        let mut request = client().request(method, url.clone()).header("accept", "text/html,*/*;q=0.8");
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        if let Some(body) = body {
            request = request.header("origin", &origin).body(body);
            request = request.header("content-type", "application/x-www-form-urlencoded");
        }
        let response = request.send().unwrap();
        self.visited.push(url.to_string());
        self.keep(&origin, &response);
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Page { url: url.clone(), status, headers, text: response.text().unwrap() }
    }

    fn keep(&mut self, origin: &str, response: &Response) {
        for set in response.headers().get_all("set-cookie") {
            let set = set.to_str().unwrap();
            let (cookie, attributes) = set.split_once(';').unwrap();
            let (name, value) = cookie.split_once('=').unwrap();
            let key = (origin.to_string(), name.to_string());
            match attributes.contains("Max-Age=0") {
                true => self.cookies.remove(&key),
                false => self.cookies.insert(key, value.to_string()),
            };
        }
    }
}

impl Page {
    /// Hidden fields of the form with this action.
    pub fn form(&self, action: &str) -> Vec<(String, String)> {
        let start =
            self.text.find(&format!("action=\"{action}\"")).unwrap_or_else(|| panic!("{}", self.text));
        let form = self.text[start..].split("</form>").next().unwrap();
        let inputs = form.split("<input type=\"hidden\" ").skip(1);
        let attribute = |input: &str, name: &str| {
            let value = input.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
            value.replace("&quot;", "\"").replace("&amp;", "&")
        };
        inputs.map(|input| (attribute(input, "name"), attribute(input, "value"))).collect()
    }

    /// A header.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Every `Set-Cookie` of a response.
pub fn set_cookies(response: &Response) -> Vec<String> {
    let all = response.headers().get_all("set-cookie").iter();
    all.map(|value| value.to_str().unwrap().to_string()).collect()
}

/// The status of a request with these headers, and its `Location`.
pub fn told(response: &Response) -> (u16, String) {
    (response.status().as_u16(), header(response, "location").to_string())
}
