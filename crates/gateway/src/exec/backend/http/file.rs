//! Files in arguments: a `data:` URL or base64 becomes bytes, and other text is sent as it is.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use toolcrib_definition::document::percent_decoded;
use toolcrib_definition::schema::FileContent;
use toolcrib_definition::secret::REDACTED;

/// Characters from which on text in the alphabet of base64 is read as base64, even without padding: words are shorter.
const SURELY_ENCODED: usize = 16;

/// The content of a file.
pub(super) struct File<'v> {
    pub(super) bytes: Cow<'v, [u8]>,
    pub(super) media: Option<&'v str>,
    pub(super) name: Option<Cow<'v, str>>,
}

/// The file that a text stands for; `None` where it should be encoded, and is not.
pub(super) fn file<'v>(text: &'v str, schema: FileContent<'v>) -> Option<File<'v>> {
    let of = |bytes| File { bytes, media: None, name: None };
    let mut file = match data_url(text) {
        Some(file) => file?,
        None if schema.is_encoded && text != REDACTED => of(decoded(text)?.into()),
        None if may_be_encoded(text) => of(decoded(text).map_or(text.as_bytes().into(), Cow::Owned)),
        None => of(text.as_bytes().into()),
    };
    file.media = file.media.or(schema.media);
    Some(file)
}

/// The file of a `data:` URL, if the text is one; without a file if its base64 is broken.
fn data_url(text: &str) -> Option<Option<File<'_>>> {
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
    let (head, data) = text[scheme.len()..].split_once(',')?;
    let mut words = head.split(';');
    let media = words.next().filter(|media| media.contains('/'));
    let is_encoded = head.rsplit(';').next().is_some_and(|word| word.eq_ignore_ascii_case("base64"));
    let name = words.find_map(|word| word.strip_prefix("name=").or_else(|| word.strip_prefix("filename=")));
    let data = percent_decoded(data);
    let bytes = if is_encoded { decoded(&data) } else { Some(data.into_owned().into_bytes()) };
    Some(bytes.map(|bytes| File { bytes: bytes.into(), media, name: name.map(percent_decoded) }))
}

/// The bytes of base64 in either alphabet, with or without padding, on one line or on several.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    let alphabet = if text.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&alphabet, config).decode(text).ok()
}

/// Whether a text that may also be plain looks like base64: whole groups of four, and padded or too long for a word.
fn may_be_encoded(text: &str) -> bool {
    let length = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).count();
    let is_in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(&byte);
    text.bytes().all(is_in_alphabet)
        && length > 0
        && length.is_multiple_of(4)
        && (text.trim_end().ends_with('=') || length >= SURELY_ENCODED)
}

#[cfg(test)]
mod file_tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT_OR_FILE: FileContent<'_> = FileContent { is_encoded: false, media: Some("text/csv") };
    const ENCODED: FileContent<'_> = FileContent { is_encoded: true, media: None };

    #[track_caller]
    fn check(schema: FileContent<'_>, text: &str, bytes: &[u8], media: Option<&str>) {
        let file = file(text, schema).unwrap();
        assert_eq!((&*file.bytes, file.media), (bytes, media), "{text}");
    }

    #[test]
    fn a_text_becomes_the_file_that_it_stands_for() {
        check(TEXT_OR_FILE, "data:image/png;base64,AP+A", b"\0\xff\x80", Some("image/png"));
        check(TEXT_OR_FILE, "data:;base64,AP-A", b"\0\xff\x80", Some("text/csv"));
        check(TEXT_OR_FILE, "DATA:text/plain,a%20b", b"a b", Some("text/plain"));
        check(TEXT_OR_FILE, "aGVsbG8=", b"hello", Some("text/csv"));
        check(TEXT_OR_FILE, "aGVsbG8gd29ybGQh", b"hello world!", Some("text/csv"));
        for plain in ["text", "a,b\n1,2\n", "", "data: none", "YWJj ZGVm", "aGVsbG8gd29ybGQhx"] {
            check(TEXT_OR_FILE, plain, plain.as_bytes(), Some("text/csv"));
        }
        check(ENCODED, "text", b"\xb5\xec\x6d", None);
        check(ENCODED, "aGVs\r\nbG8", b"hello", None);
        assert!(file("no base64!", ENCODED).is_none() && file("data:a/b;base64,?", TEXT_OR_FILE).is_none());
        let named = file("data:a/b;name=c%20d.txt;base64,AA==", TEXT_OR_FILE).unwrap();
        assert_eq!(named.name.as_deref(), Some("c d.txt"));
    }

    proptest! {
        #[test]
        fn every_file_arrives_whole(bytes in proptest::collection::vec(any::<u8>(), 12..64)) {
            let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
            let url = format!("data:a/b;base64,{text}");
            for (schema, text) in [(TEXT_OR_FILE, &text), (ENCODED, &text), (TEXT_OR_FILE, &url), (ENCODED, &url)] {
                prop_assert_eq!(&*file(text, schema).unwrap().bytes, &*bytes);
            }
        }
    }
}
