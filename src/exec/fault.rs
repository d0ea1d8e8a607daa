//! What a backend's fault means to the caller.

use std::time::Duration;

use super::Failure;
use super::backend::{Fault, FaultKind};
use crate::catalog::Tool;
use crate::refusal::ErrorCode;
use crate::tool::Effect;

/// The same in the words of an envelope.
pub(super) fn failed(tool: &Tool, fault: Fault) -> Failure {
    let changes = tool.effect != Effect::Read;
    let code = match fault.kind {
        FaultKind::Unconfigured => ErrorCode::NoBackend,
        FaultKind::Missing => ErrorCode::PermissionDenied,
        FaultKind::Unfit => ErrorCode::ValidationError,
        FaultKind::NotSent | FaultKind::Failed => ErrorCode::BackendError,
        FaultKind::Lost if changes => ErrorCode::OutcomeUnknown,
        FaultKind::Lost => ErrorCode::BackendError,
        FaultKind::TimedOut => ErrorCode::BackendTimeout,
    };
    let mut failure = Failure::new(code, fault.message, fault.next_action);
    if let Some(detail) = fault.detail {
        failure = failure.detail("backend", detail);
    }
    if changes && matches!(fault.kind, FaultKind::Lost | FaultKind::TimedOut) {
        failure = failure.detail("may_have_run", true);
    }
    failure
}

/// That a backend did not keep its time.
pub(super) fn too_late(time: Duration) -> Fault {
    Fault {
        kind: FaultKind::TimedOut,
        message: format!("there was no answer within {} seconds", time.as_secs()),
        detail: None,
        next_action: "look whether it was done before you send it again".into(),
    }
}
