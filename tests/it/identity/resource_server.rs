//! Tokens of an issuer, checked by the server.
