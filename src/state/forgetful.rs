//! State that keeps nothing, for who has none.

use std::time::Duration;

use serde_json::Value;

use super::{
    Approval, Claim, Claimed, Event, Events, Health, Kept, Pending, Session, Settled, State, StateError,
};

/// Keeps nothing, and says so to who would rely on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

fn nothing<'a, T: Default + Send + 'a>() -> Pending<'a, T> {
    Box::pin(std::future::ready(Ok(T::default())))
}

fn refused<'a, T: Send + 'a>() -> Pending<'a, T> {
    Box::pin(std::future::ready(Err(StateError("nothing is kept here".into()))))
}

impl State for Forgetful {
    fn record(&self, _: Event) {}
    fn health(&self) -> Health {
        Health { is_volatile: true, ..Health::default() }
    }
    fn claim<'a>(&'a self, _: &'a Claim, _: Duration) -> Pending<'a, Claimed> {
        refused()
    }
    fn settle<'a>(&'a self, _: &'a Claim, _: Settled) -> Pending<'a, ()> {
        nothing()
    }
    fn ask<'a>(&'a self, _: &'a Approval) -> Pending<'a, Approval> {
        refused()
    }
    fn take<'a>(&'a self, _: &'a str) -> Pending<'a, bool> {
        nothing()
    }
    fn approvals(&self, _: bool) -> Pending<'_, Vec<Approval>> {
        nothing()
    }
    fn decide<'a>(&'a self, _: &'a str, _: bool, _: Option<&'a str>) -> Pending<'a, Option<Approval>> {
        nothing()
    }
    fn give<'a>(&'a self, _: &'a Session, _: &'a str, _: &'a str) -> Pending<'a, ()> {
        nothing()
    }
    fn given<'a>(&'a self, _: &'a Session, _: &'a str) -> Pending<'a, Option<String>> {
        nothing()
    }
    fn fail<'a>(&'a self, _: &'a Session, _: &'a str) -> Pending<'a, u32> {
        nothing()
    }
    fn context<'a>(&'a self, _: &'a Session) -> Pending<'a, Option<Value>> {
        nothing()
    }
    fn shift<'a>(&'a self, _: &'a Session, _: &'a Value) -> Pending<'a, ()> {
        nothing()
    }
    fn keep<'a>(&'a self, _: &'a Kept) -> Pending<'a, ()> {
        refused()
    }
    fn kept<'a>(&'a self, _: &'a str, _: &'a str) -> Pending<'a, Option<Kept>> {
        nothing()
    }
    fn events<'a>(&'a self, _: &'a Events) -> Pending<'a, Vec<Event>> {
        nothing()
    }
    fn forget(&self, _: Duration) -> Pending<'_, ()> {
        nothing()
    }
    fn flush(&self) -> Pending<'_, ()> {
        nothing()
    }
}
