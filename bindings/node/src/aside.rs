//! Jobs on the thread pool of Node.

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task};
use toolcrib_bindings::Made;

use crate::error::thrown;

type Job<T> = Box<dyn FnOnce() -> Made<T> + Send>;

/// A job, until a thread takes it.
pub struct Aside<T>(Option<Job<T>>);

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Aside<T> {
    type Output = Option<T>;
    type JsValue = Option<T>;

    fn compute(&mut self) -> napi::Result<Option<T>> {
        thrown(|| self.0.take().map(|job| job()).transpose())
    }

    fn resolve(&mut self, _env: Env, made: Option<T>) -> napi::Result<Option<T>> {
        Ok(made)
    }
}

/// A promise of what a job makes.
pub(crate) fn aside<T>(job: impl FnOnce() -> Made<T> + Send + 'static) -> AsyncTask<Aside<T>>
where
    Aside<T>: Task,
{
    AsyncTask::new(Aside(Some(Box::new(job))))
}
