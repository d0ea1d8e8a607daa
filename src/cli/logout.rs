//! `toolcrib logout`: the end of a sign-in.

use super::catalog::{CatalogArgs, credentials};
use super::login::servers;
use super::{CommandError, CommandResult, failed, print, print_note};
use crate::config::Environment;
use crate::tool::clean_line;

/// End your sign-in to a server: its tokens are revoked where that is possible, and removed.
///
/// Ends all sign-ins of this name; with a catalog, the one to the server that is configured there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Try it:\n  toolcrib logout github")]
pub(super) struct LogoutArgs {
    /// The server, by the name with which you signed in.
    server: String,
    #[command(flatten)]
    catalog: CatalogArgs,
}

impl LogoutArgs {
    pub(super) fn run(self) -> CommandResult {
        let name = clean_line(&self.server);
        let credentials = credentials(Environment::default());
        let url = self.url()?;
        let ended = credentials.sign_out(&name, url.as_deref());
        let ended = super::runtime()?.block_on(ended).map_err(failed)?;
        if ended.is_empty() {
            let mut known: Vec<String> =
                credentials.sign_ins().into_iter().map(|sign_in| sign_in.server).collect();
            known.dedup();
            let hint =
                if known.is_empty() { String::new() } else { format!("; you are at {}", known.join(", ")) };
            return Err(failed(format!("you are not signed in to `{name}`{}", clean_line(&hint))));
        }
        for sign_out in ended {
            print(&format!("signed out of `{name}` at {}\n", clean_line(&sign_out.issuer)))?;
            if let Some(why) = sign_out.not_revoked {
                print_note(format!(
                    "its tokens are removed here, and end there by themselves: {}",
                    clean_line(&why)
                ));
            }
        }
        Ok(())
    }

    /// The address of the server in the catalog that is named; `None` where it has no such server any more.
    fn url(&self) -> Result<Option<String>, CommandError> {
        if !self.catalog.is_named() {
            return Ok(None);
        }
        let workspace = self.catalog.workspace()?;
        let found = servers(&workspace).into_iter().find(|(name, _)| *name == self.server);
        Ok(found.and_then(|(_, server)| server.url.clone()))
    }
}
