//! Callers see nothing of each other.
