//! A session and its jobs, as Node drives them.

use napi_derive::napi;
use toolcrib_bindings as core;

use crate::catalog::Catalog;
use crate::error::thrown;

/// The calls of one agent.
#[napi]
pub struct Session(core::Session);

/// A job until it is done.
#[napi]
pub struct Job(core::Job);

#[napi]
impl Session {
    /// A call of a tool by name.
    #[napi]
    pub fn call(&self, name: String, arguments: String) -> napi::Result<String> {
        thrown(|| self.0.call(&name, &arguments))
    }

    /// The job of one call.
    #[napi]
    pub fn run(&self, call: String) -> napi::Result<Job> {
        thrown(|| self.0.run(&call)).map(Job)
    }

    /// The job of all calls of a response.
    #[napi]
    pub fn answer(&self, provider: String, calls: String) -> napi::Result<Job> {
        thrown(|| self.0.answer(&provider, &calls)).map(Job)
    }
}

#[napi]
impl Job {
    /// The next step; takes the answer to the one before.
    #[napi]
    pub fn next(&mut self, answer: Option<String>) -> napi::Result<String> {
        thrown(|| self.0.next(answer.as_deref()))
    }
}

#[napi]
impl Catalog {
    /// The canonical name of a tool that a session may run.
    #[napi]
    pub fn runnable(&self, name: String) -> napi::Result<String> {
        thrown(|| self.0.runnable(&name))
    }

    /// A session of an agent.
    #[napi]
    pub fn session(
        &self,
        runnable: Vec<String>,
        profile: Option<String>,
        require_docs: Option<bool>,
    ) -> napi::Result<Session> {
        let settings = core::Settings { profile, require_docs, runnable };
        thrown(|| core::Session::new(&self.0, settings)).map(Session)
    }
}
