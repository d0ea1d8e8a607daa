//! The reasons why a request has no caller.

/// Longest token, in bytes.
pub(super) const MAX_TOKEN: usize = 16 * 1024;

/// The mistake in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwtProblem {
    /// It is not a signed access token.
    #[error("this is no access token")]
    Malformed,
    /// Its algorithm is not allowed.
    #[error("this token has an algorithm that is not allowed")]
    Algorithm,
    /// The issuer has no key with its id.
    #[error("this token is signed with an unknown key")]
    UnknownKey,
    /// The signature is wrong.
    #[error("the signature of this token is wrong")]
    Signature,
    /// It is of another issuer.
    #[error("this token is of another issuer")]
    Issuer,
    /// It is for another audience.
    #[error("this token is for another resource")]
    Audience,
    /// It has expired, or does not say when it expires.
    #[error("this token has expired")]
    Expired,
    /// It is not valid yet.
    #[error("this token is not valid yet")]
    NotYet,
}

/// The reason why a request has no caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No token.
    #[error("this server needs a token")]
    Missing,
    /// An unknown token.
    #[error("this token is not known")]
    Wrong,
    /// Several headers `Authorization`.
    #[error("the request has several headers `Authorization`, but only one is allowed")]
    Twice,
    /// A header `Authorization` without a bearer token.
    #[error("the header `Authorization` has no bearer token: send `Bearer` and the token")]
    NotBearer,
    /// A token that is longer than any real token.
    #[error("this token has more than {} bytes", MAX_TOKEN)]
    TooLong,
    /// The token of an issuer is not valid.
    #[error(transparent)]
    Invalid(#[from] JwtProblem),
    /// The claims of the token do not name a caller.
    #[error("this token does not name its caller")]
    Nameless,
    /// The token is valid, but no grant matches it.
    #[error("this token gives no rights here")]
    NoGrant,
    /// The issuer does not answer.
    #[error("the issuer of this token does not answer")]
    IssuerAway,
    /// Headers that only the proxy may send come from somebody else, or come twice.
    #[error("this request has headers that only the proxy may send")]
    Forged,
}
