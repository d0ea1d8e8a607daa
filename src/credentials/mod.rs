//! Tokens for servers: who signs in to them, where tokens lie, and how they stay valid.
