//! Names in addresses: percent-encoded, and back.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::response::{Problem, ProblemCode};

/// Characters to escape in a segment: all but the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as a segment of an address.
pub(super) fn encoded_address(name: &str) -> String {
    utf8_percent_encode(name, RESERVED).to_string()
}

/// A path without its escapes. Each `%` has two digits after it.
pub(super) fn decoded_address(path: &str) -> Result<Cow<'_, str>, Problem> {
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    if path.split('%').skip(1).all(is_escape) {
        percent_decode_str(path).decode_utf8().map_err(|_| badly_encoded())
    } else {
        Err(badly_encoded())
    }
}

fn badly_encoded() -> Problem {
    Problem::new(ProblemCode::BadRequest, "the address is not encoded as UTF-8 with percent signs")
}
