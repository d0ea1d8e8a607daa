//! Stands for objects of S3 in a program that is built without the feature `object-store`.

use reqwest::Url;

use super::fetched::Tagged;

/// The reason why there is no object.
pub(super) fn get(_: &Url, _: Option<&str>, _: u64) -> Result<Option<Tagged>, String> {
    Err("this toolcrib is built without the feature `object-store`, which s3:// needs; use the https:// address of the \
         object, or build it with `--features object-store`"
        .into())
}
