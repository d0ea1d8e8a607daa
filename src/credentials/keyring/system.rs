//! The keyring of the system.

use keyring::{Entry, Error};

/// The service under which secrets are kept.
const SERVICE: &str = "toolcrib";

/// The keyring of the system.
pub(crate) struct Keyring;

impl Keyring {
    /// The secret of this name.
    pub(crate) fn read(name: &str) -> Result<Option<String>, String> {
        match apart(|| Entry::new(SERVICE, name)?.get_password()) {
            Ok(secret) => Ok(Some(secret)),
            Err(Some(Error::NoEntry)) => Ok(None),
            Err(_) => Err("the keyring of the system does not answer".into()),
        }
    }

    /// Keeps a secret; whether the keyring has it now.
    pub(crate) fn write(name: &str, secret: &str) -> bool {
        apart(|| Entry::new(SERVICE, name)?.set_password(secret)).is_ok()
            && Self::read(name).is_ok_and(|kept| kept.as_deref() == Some(secret))
    }

    /// Removes a secret.
    pub(crate) fn remove(name: &str) {
        let _ = apart(|| Entry::new(SERVICE, name)?.delete_credential());
    }
}

/// Asks on a thread of its own: the keyring waits in its own way.
fn apart<T: Send>(ask: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Option<Error>> {
    std::thread::scope(|scope| scope.spawn(ask).join()).map_err(|_| None)?.map_err(Some)
}
