//! Limits of calls, by caller, role and tool.
