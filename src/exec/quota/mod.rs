//! Limits of calls, by caller, role and tool, as `[[serve.quota]]` sets them. Counts are those of one process.
//!
//! 1. [`Quotas`] keeps a [`Limiter`] for each quota of the configuration, also while that is read again.
//! 2. A call takes a place among those that run, then counts in every quota that is for it. A refused call counts in none.
//! 3. [`CallTimes`] is the memory of the rates, a time for each caller, bounded; [`CallerPlaces`] are the calls that run.

mod call_times;
mod caller_places;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use governor::RateLimiter;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;

use self::call_times::CallTimes;
pub use self::caller_places::{CallerPlace, CallerPlaces};
use super::Caller;
use crate::catalog::Tool;
use crate::config::Quota;
use crate::refusal::{ErrorCode, Refusal};

/// Seconds after which a call may be sent again that found too many others running: nobody knows when these end.
const PAUSE: Duration = Duration::from_secs(1);

/// The limits of calls.
#[derive(Default)]
pub struct Quotas {
    clock: QuotaClock,
    limiters: RwLock<Vec<Arc<Limiter>>>,
}

/// A monotonic clock, from any moment on.
#[derive(Clone)]
pub struct QuotaClock(Arc<dyn Fn() -> Duration + Send + Sync>);

/// One quota, with the counts of its callers.
struct Limiter {
    quota: Quota,
    rate: Option<Rate>,
    running: CallerPlaces,
}

/// The rate of a quota.
struct Rate {
    limiter: RateLimiter<Arc<str>, CallTimes, QuotaClock, NoOpMiddleware<Nanos>>,
    times: CallTimes,
    /// Time after which one more call may follow.
    interval: Duration,
}

impl Quotas {
    /// Quotas with this clock.
    pub fn with_clock(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { clock: QuotaClock(Arc::new(clock)), limiters: RwLock::default() }
    }

    /// Counts a call of a tool that is about to run, in every one of these quotas that is for it. It may be a step of other
    /// tools, whose places hold for it.
    pub(super) fn count(
        &self,
        configured: &[Quota],
        caller: &Caller,
        (tool, outer): (&Tool, &[&Tool]),
    ) -> Result<Vec<CallerPlace>, Refusal> {
        if configured.is_empty() {
            return Ok(Vec::new());
        }
        let (facts, roles) = (tool.facts(), caller.roles.as_deref().unwrap_or_default());
        let mut limiters = self.limiters(configured);
        limiters.retain(|limiter| limiter.quota.limits(&caller.name, roles) && limiter.quota.counts(&facts));
        let has_place = |quota: &Quota| outer.iter().any(|tool| quota.counts(&tool.facts()));
        let new_places = limiters.iter().filter(|limiter| !has_place(&limiter.quota));
        let running = new_places.map(|limiter| limiter.begin(&caller.name)).filter_map(Result::transpose);
        let running = running.collect::<Result<Vec<CallerPlace>, Refusal>>()?;
        for (index, limiter) in limiters.iter().enumerate() {
            if let Err(refusal) = limiter.count(&caller.name) {
                limiters.iter().take(index).for_each(|earlier| earlier.take_back(&caller.name));
                return Err(refusal);
            }
        }
        Ok(running)
    }

    /// The limiters of these quotas. A quota that has not changed keeps its counts.
    fn limiters(&self, configured: &[Quota]) -> Vec<Arc<Limiter>> {
        let known = self.limiters.read().unwrap_or_else(PoisonError::into_inner);
        if known.iter().map(|limiter| &limiter.quota).eq(configured) {
            return known.clone();
        }
        drop(known);
        let mut known = self.limiters.write().unwrap_or_else(PoisonError::into_inner);
        let limiter = |quota: &Quota| {
            let same = known.iter().find(|limiter| limiter.quota == *quota);
            same.cloned().unwrap_or_else(|| Arc::new(Limiter::new(quota.clone(), &self.clock)))
        };
        *known = configured.iter().map(limiter).collect();
        known.clone()
    }
}

impl Limiter {
    fn new(quota: Quota, clock: &QuotaClock) -> Self {
        let rate = quota.per_minute.and_then(NonZeroU32::new).map(|per_minute| {
            let burst = quota.burst.and_then(NonZeroU32::new).unwrap_or(per_minute);
            let allowed = governor::Quota::per_minute(per_minute).allow_burst(burst);
            let times = CallTimes::default();
            let limiter = RateLimiter::new(allowed, times.clone(), clock.clone());
            Rate { limiter, times, interval: allowed.replenish_interval() }
        });
        Self { quota, rate, running: CallerPlaces::default() }
    }

    /// Takes a place among the calls that run at once; `None` where their number has no limit.
    fn begin(&self, caller: &Arc<str>) -> Result<Option<CallerPlace>, Refusal> {
        let Some(most) = self.quota.at_once else { return Ok(None) };
        let refused = || rate_limited(format!("{most} of your calls run already, the most at once"), PAUSE);
        self.running.take(caller, most).map(Some).ok_or_else(refused)
    }

    /// Counts a call, unless there were too many.
    fn count(&self, caller: &Arc<str>) -> Result<(), Refusal> {
        let Some(rate) = &self.rate else { return Ok(()) };
        rate.limiter.check_key(caller).map_err(|refused| {
            let wait = refused.wait_time_from(rate.limiter.clock().now());
            let most = self.quota.per_minute.unwrap_or_default();
            rate_limited(format!("there were too many of your calls: you have {most} in a minute"), wait)
        })
    }

    /// Takes back a counted call that was not run.
    fn take_back(&self, caller: &Arc<str>) {
        if let Some(rate) = &self.rate {
            rate.times.earlier(caller, rate.interval);
        }
    }
}

/// The refusal of a call that may be sent again after this time.
fn rate_limited(message: String, wait: Duration) -> Refusal {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    let seconds = seconds.max(1);
    let unit = if seconds == 1 { "second" } else { "seconds" };
    let next = format!("wait {seconds} {unit}, then send the same call again");
    let message = format!("nothing was run: {message}");
    Refusal::new(ErrorCode::RateLimited, message, next).detail("retry_after", seconds)
}

impl Clock for QuotaClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        (self.0)().into()
    }
}

impl Default for QuotaClock {
    fn default() -> Self {
        let begun = Instant::now();
        Self(Arc::new(move || begun.elapsed()))
    }
}

impl fmt::Debug for Quotas {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Quotas")
    }
}
