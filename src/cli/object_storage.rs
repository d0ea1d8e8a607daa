//! Objects of S3 and of what speaks like it. Credentials, region and endpoint come from the variables `AWS_*`, or from the
//! machine.

use std::io::{Cursor, Read};

use object_store::aws::AmazonS3Builder;
use object_store::{Error, GetOptions, ObjectStore, path::Path};
use reqwest::Url;

use super::fetched::Tagged;

/// The tag and the content of `s3://BUCKET/KEY`, unless it still has this tag; nothing above so many bytes.
pub(super) fn get(url: &Url, tag: Option<&str>, max: u64) -> Result<Option<Tagged>, String> {
    // The program has one cryptography provider; a second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bucket = url.host_str().ok_or("the address is s3://BUCKET/KEY")?;
    let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
    let store = store.map_err(|error| error.to_string())?;
    let key = Path::from_url_path(url.path()).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let options = GetOptions { if_none_match: tag.map(str::to_string), ..GetOptions::default() };
        let found = match store.get_opts(&key, options).await {
            Err(Error::NotModified { .. }) if tag.is_some() => return Ok(None),
            found => found.map_err(told)?,
        };
        if found.meta.size > max {
            return Err(format!("it is over {} MiB", max >> 20));
        }
        let tag = found.meta.e_tag.clone();
        let bytes = found.bytes().await.map_err(told)?;
        Ok(Some((tag, Box::new(Cursor::new(bytes)) as Box<dyn Read>)))
    })
}

/// The reason in one line, without the answer of the server.
fn told(error: Error) -> String {
    match error {
        Error::NotFound { .. } => "there is no such object".into(),
        Error::Unauthenticated { .. } | Error::PermissionDenied { .. } => "access is denied".into(),
        error => error.to_string().lines().next().unwrap_or_default().chars().take(200).collect(),
    }
}
