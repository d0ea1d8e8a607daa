//! Credentials of a service, and tokens exchanged for callers.
