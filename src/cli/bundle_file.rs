//! Opens bundles that the command line names. Nothing of a bundle is read before its signature is checked, where a key is
//! given; then every part is checked.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use minisign::PublicKey;

use super::bundle_signature as signature;
use super::trust::cache_folder;
use super::{CommandError, failed};
use crate::bundle::{Bundle, BundleError};
use crate::config::{self, Workspace, is_bundle, unreadable_bundle};
use crate::finding::{Code, Finding, Place};
use crate::private_file::StagedFile;
use crate::tool::clean_line;

/// The key that bundles are signed with.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct KeyArgs {
    /// Use bundles only that are signed with this key of minisign, and no other catalog: the public key, or the file that has
    /// it.
    #[arg(long, value_name = "PUBLIC KEY", env = "TOOLCRIB_BUNDLE_KEY", hide_env_values = true,
          value_parser = signature::public_key)]
    pub(super) key: Option<PublicKey>,
}

/// Lifetime of a bundle that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// One command.
    Once,
    /// A server, which a file that is written over must not reach.
    Long,
}

impl KeyArgs {
    /// The workspace of the catalog at a path. A bundle that cannot be used has none of its content, and a finding.
    pub(super) fn workspace(&self, path: &Path, used: Use) -> Workspace {
        let refused = |finding| Workspace { findings: vec![finding], ..Workspace::default() }.without_files();
        match (&self.key, is_bundle(path)) {
            (None, false) => config::read(path),
            (Some(_), false) => refused(untrusted(path, "it is no bundle, and only signed bundles are used")),
            (key, true) => match open(path, key.as_ref(), used) {
                Ok(bundle) => Workspace::of_bundle(path, Ok(bundle)),
                Err(finding) => refused(finding),
            },
        }
    }
}

/// A bundle with its signature and every part checked.
pub(super) fn open(path: &Path, key: Option<&PublicKey>, used: Use) -> Result<Bundle, Finding> {
    let unreadable = |error: BundleError| unreadable_bundle(path, &error);
    let file = File::open(path).map_err(|error| unreadable(error.into()))?;
    let is_private = key.is_some() || used == Use::Long;
    let content = if is_private { Content::private(file) } else { Ok(Content::File(file)) };
    let content = content.map_err(|error| unreadable(error.into()))?;
    if let Some(key) = key {
        let checked = signature::read(path).and_then(|signature| content.check(&signature, key));
        checked.map_err(|problem| untrusted(path, &problem))?;
    }
    content.bundle().map_err(unreadable)
}

/// The bundle in a file, with every part checked.
pub(super) fn verified(file: File) -> Result<Bundle, BundleError> {
    Content::File(file).bundle()
}

/// The bytes of a bundle.
enum Content {
    File(File),
    Memory(Vec<u8>),
}

impl Content {
    /// A copy without a name, which nobody can change or cut short; in memory where there is no folder for it.
    fn private(file: File) -> io::Result<Self> {
        let mut whole = file.take(Bundle::MAX_BYTES);
        let staged = cache_folder().and_then(|folder| StagedFile::new(&folder.join("bundles/copy")).ok());
        if let Some(mut copy) = staged.and_then(|staged| staged.file.try_clone().ok()) {
            if io::copy(&mut whole, &mut copy).is_ok() {
                return Ok(Self::File(copy));
            }
            // The disk is full.
            whole.get_mut().rewind()?;
            whole.set_limit(Bundle::MAX_BYTES);
        }
        let mut bytes = Vec::new();
        whole.read_to_end(&mut bytes)?;
        Ok(Self::Memory(bytes))
    }

    fn check(&self, signature: &str, key: &PublicKey) -> Result<(), String> {
        match self {
            Self::File(file) => signature::check(file, signature, key),
            Self::Memory(bytes) => signature::check(Cursor::new(bytes), signature, key),
        }
    }

    /// The bundle, with every part checked.
    fn bundle(self) -> Result<Bundle, BundleError> {
        let bundle = match self {
            Self::File(file) => Bundle::of_file(file),
            Self::Memory(bytes) => Bundle::from_bytes(bytes),
        }?;
        bundle.verify()?;
        Ok(bundle)
    }
}

fn untrusted(path: &Path, problem: &str) -> Finding {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let finding = Finding::new(Code::BundleUntrusted, format!("the bundle is refused: {problem}"));
    let help = "sign it with `toolcrib bundle sign`, or give the key that it is signed with; without `--key` and \
        TOOLCRIB_BUNDLE_KEY, no signature is asked for";
    finding.at(Place::new(&*file, "")).help(help)
}

/// Fails where the catalog is a bundle that cannot be used.
pub(super) fn refuse_unusable<'f>(errors: impl IntoIterator<Item = &'f Finding>) -> Result<(), CommandError> {
    let is_about =
        |finding: &&Finding| matches!(finding.code, Code::BundleUnreadable | Code::BundleUntrusted);
    errors.into_iter().find(is_about).map_or(Ok(()), |finding| Err(told(finding)))
}

/// The error of a command about a bundle.
pub(super) fn told(finding: &Finding) -> CommandError {
    let file = finding.place.as_ref().map_or("", |place| &place.file);
    let help = finding.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
    let (message, code) = (clean_line(&finding.message), finding.code.as_str());
    failed(format!("{}: {message} [{code}]{help}", clean_line(file)))
}
