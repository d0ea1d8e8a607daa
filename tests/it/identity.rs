//! Identity, towards the servers behind toolcrib and towards its callers, against a local issuer.

mod attacks;
mod browser;
mod no_secret_leaks;
mod operate;
mod people;
mod protected;
mod protected_api;
mod proxy;
mod resource_server;
mod service;
mod sign_in;
mod tenants;
mod try_it;
