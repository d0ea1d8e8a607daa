//! The keyring of the system, in builds that have it (`system`); without it, tokens lie in files (`absent`).

#[cfg(not(feature = "keyring"))]
mod absent;
#[cfg(feature = "keyring")]
mod system;

#[cfg(not(feature = "keyring"))]
pub(super) use absent::Keyring;
#[cfg(feature = "keyring")]
pub(super) use system::Keyring;
