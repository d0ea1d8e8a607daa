//! Attacks on tokens, sign-ins and sessions, each refused with its status.
