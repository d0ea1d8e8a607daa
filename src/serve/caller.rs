//! Who asks. The HTTP layer finds out; every door passes it on.

/// Somebody who asks, after authentication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The roles of the token that was shown, sorted; `None` where no tokens are configured, which stands for all.
    pub roles: Option<Vec<String>>,
}
