//! A call of a tool: admitted, run, recorded (EXEC-1..6). The door of the call is not known here.
//!
//! 1. [`CallRequest`] is the call as a [`Caller`] sent it, [`context`] its surroundings; [`call`] carries both.
//! 2. [`admit`] finds the tool, takes in its arguments and asks every gate; an admitted call does not change any more.
//! 3. [`mod@run`] runs it: an idempotency key and an approval count once, and a [`backend`] does the work. [`select`] takes
//!    fields of its result.
//!    A [`quota`] limits how many run.
//! 4. [`record`] counts what came of it, writes it down, and makes the [`CallResult`].
//!
//! A [`Refusal`](crate::refusal::Refusal) at any step takes the call to the last one.

mod admit;
mod answer_part;
pub mod backend;
mod call;
mod caller;
mod context;
mod fingerprint;
mod quota;
mod record;
mod request;
mod run;
mod select;

pub use answer_part::{part_of, reached};
pub use caller::{Caller, EVERY_ROLE, LackedRight};
pub use context::{CallContext, Doc, FunctionFuture};
pub use quota::{CallerPlace, CallerPlaces, Quotas};
pub use record::call_result::{CallResult, Outcome};
pub use record::standing_warnings::standing_scope;
pub use request::{CallRequest, EffectLimit};
pub use run::approval::binding;
pub use run::long_result::{Part, next_page};
pub use run::{refuse, run};
