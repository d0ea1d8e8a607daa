//! The error of a transport, within those of the protocol.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};

/// The error of the transport, below those of the protocol.
pub(super) fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    match error.downcast_ref() {
        Some(ClientInitializeError::LegacyFallbackFailed { fallback, .. }) => {
            return innermost(fallback.as_ref());
        }
        Some(ClientInitializeError::TransportError { error, .. }) => return innermost(error.error.as_ref()),
        _ => {}
    }
    match error.downcast_ref() {
        Some(ServiceError::TransportSend(error)) => innermost(error.error.as_ref()),
        _ => error,
    }
}
