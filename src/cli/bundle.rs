//! `toolcrib bundle`: a catalog as one file, with a signature beside it.
//!
//! 1. [`build`] makes it; [`show`] tells what is in it, and whether all of it is as it was built.
//! 2. `bundle_signature` signs it and checks that, and `bundle_file` is the way in which every command reads one.

mod build;
mod show;

use std::fs::File;
use std::path::PathBuf;

use clap::Subcommand;

use super::bundle_file::KeyArgs;
use super::bundle_signature as signature;
use super::{CommandResult, failed, print, print_note};
use crate::catalog::Manifest;
use crate::render::folder::write_whole;
use signature::signature_file;

/// Build, inspect and sign bundles: a catalog as one file, which every command takes as a catalog.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Try it:
  toolcrib bundle build examples/github -o tools.crib
  toolcrib bundle show tools.crib
  toolcrib serve tools.crib")]
pub(super) struct BundleArgs {
    #[command(subcommand)]
    command: BundleCommand,
}

#[derive(Debug, Subcommand)]
enum BundleCommand {
    Build(build::BuildArgs),
    Show(show::ShowArgs),
    Verify(show::VerifyArgs),
    Sign(SignArgs),
    Keygen(KeygenArgs),
}

/// Sign a bundle: writes `FILE.minisig`, as minisign does.
#[derive(Debug, clap::Args)]
struct SignArgs {
    /// The bundle.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The secret key, as `bundle keygen` or `minisign -G` makes it. The variable TOOLCRIB_BUNDLE_PASSWORD has its password,
    /// where it has one and nobody can be asked.
    #[arg(long, value_name = "FILE")]
    secret_key: PathBuf,
}

/// Make a pair of keys: the secret one in FILE, without a password, the public one in FILE.pub.
#[derive(Debug, clap::Args)]
struct KeygenArgs {
    /// The file of the secret key.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl BundleArgs {
    pub(super) fn run(self) -> CommandResult {
        match self.command {
            BundleCommand::Build(command) => command.run(),
            BundleCommand::Show(command) => command.run(),
            BundleCommand::Verify(command) => command.run(),
            BundleCommand::Sign(command) => command.run(),
            BundleCommand::Keygen(command) => command.run(),
        }
    }
}

impl SignArgs {
    fn run(self) -> CommandResult {
        let bundle = show::existing(&self.file, &KeyArgs::default())?;
        let manifest = Manifest::of(&bundle).map_err(failed)?;
        let secret = signature::secret_key(&self.secret_key).map_err(failed)?;
        let comment = format!("toolcrib bundle {} registry {}", bundle.version(), manifest.registry_version);
        let file = File::open(&self.file).map_err(failed)?;
        let signature = signature::sign(&file, &secret, &comment).map_err(failed)?;
        let out = signature_file(&self.file);
        write_whole(&out, signature.as_bytes())
            .map_err(|error| failed(format!("cannot write {}: {error}", out.display())))?;
        print_note(format!("wrote {}", out.display()));
        Ok(())
    }
}

impl KeygenArgs {
    fn run(self) -> CommandResult {
        let mut public = self.file.clone().into_os_string();
        public.push(".pub");
        let public = PathBuf::from(public);
        let key = signature::generate(&self.file, &public).map_err(failed)?;
        print_note(format!(
            "the secret key is in {}, for you alone and without a password; the public key is in {}",
            self.file.display(),
            public.display()
        ));
        print(&format!("{key}\n"))
    }
}
