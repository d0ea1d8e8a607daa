//! Responses while their events arrive: an [`assembly`] of calls, with every digit kept by [`raw_fields`].

pub(super) mod assembly;
pub(super) mod raw_fields;
