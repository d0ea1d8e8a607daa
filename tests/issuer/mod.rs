//! An issuer of tokens for tests: OAuth and OpenID Connect on a local port, with faults on demand.
