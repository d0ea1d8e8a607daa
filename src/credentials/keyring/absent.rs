//! No keyring.

/// A keyring that has nothing and takes nothing.
pub(crate) struct Keyring;

impl Keyring {
    /// The secret of this name.
    pub(crate) fn read(_name: &str) -> Result<Option<String>, String> {
        Err("its tokens are in the keyring of the system, which this build of toolcrib does not read".into())
    }

    /// Keeps a secret; whether the keyring has it now.
    pub(crate) fn write(_name: &str, _secret: &str) -> bool {
        false
    }

    /// Removes a secret.
    pub(crate) fn remove(_name: &str) {}
}
