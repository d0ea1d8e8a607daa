//! Calls that wait for a person.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::database::{Access, Row, Sql, values};
use super::{StateError, StateStore, random_id};

/// A call that waits for a person's decision, or has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Id of the approval.
    pub id: String,
    /// The caller.
    pub caller: String,
    /// The session.
    pub session: Option<String>,
    /// The op.
    pub op: String,
    /// The arguments, for the person to see: whole, except `null` in place of hidden values. Erased once nobody needs
    /// to see them.
    pub arguments: Value,
    /// The hidden values of the arguments.
    pub hidden: Vec<HiddenValue>,
    /// A hash of op and arguments. It could reveal a short secret, so it is never shown.
    #[serde(skip)]
    pub fingerprint: String,
    /// A hash of the definition and of its backend as configured.
    #[serde(skip)]
    pub bound: String,
    /// Time of the request, in milliseconds of Unix time.
    pub asked_at: i64,
    /// Time at which it expires.
    pub until: i64,
    /// Status.
    pub status: ApprovalStatus,
    /// The person's reason.
    pub reason: Option<String>,
}

/// A value that an approval hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HiddenValue {
    /// JSON Pointer to it.
    pub pointer: String,
    /// Its length in bytes; for other values than texts that of the JSON.
    pub bytes: usize,
    /// Its hash, with a key of this state: equal values have equal hashes, and nobody without the key can try values.
    pub hash: String,
}

/// Result of asking for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalResponse {
    /// The approval of the call.
    pub approval: Approval,
    /// An approval that became void, since it is bound to another definition.
    pub void: Option<String>,
}

/// Status of an approval.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ApprovalStatus {
    /// Nobody has decided.
    Waiting,
    /// Yes, once.
    Approved,
    /// No.
    Denied,
    /// Approved, and run.
    Used,
    /// The tool or its backend has changed since.
    Void,
}

impl ApprovalStatus {
    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

const COLUMNS: &str =
    "id, caller, session, op, arguments, fingerprint, asked_at, until, status, reason, hidden, bound";

/// Sets the columns of arguments that nobody needs to see any more.
const ERASED: &str = "arguments = 'null', hidden = '[]'";

/// An approval that holds for its call.
const HOLDS: &str = "status IN ('waiting', 'approved', 'denied') AND until > NOW_MS";

impl StateStore {
    /// Queues a call for a person's decision. Returns the existing approval if the same caller has one for the same
    /// call (`fingerprint`) that is waiting, or decided and unused. Approvals of the same call that are bound to
    /// another definition become void.
    pub async fn request_approval(&self, request: &Approval) -> Result<ApprovalResponse, StateError> {
        let request = request.clone();
        self.ask(Access::Erase, move |sql| ask(sql, &request)).await
    }

    /// Uses an approval for one run, and erases its arguments; false where it cannot be used.
    pub async fn use_approval(&self, id: &str) -> Result<bool, StateError> {
        let id = values![*id];
        let update = format!(
            "UPDATE tool_approvals SET status = 'used', {ERASED} \
             WHERE id = ?1 AND status = 'approved' AND until > NOW_MS RETURNING 1"
        );
        self.ask(Access::Erase, move |sql| {
            erase_expired(sql)?;
            Ok(!sql.rows(&update, &id)?.is_empty())
        })
        .await
    }

    /// Undoes [`StateStore::use_approval`] for a call that was not sent.
    pub async fn give_back(&self, approval: &Approval) -> Result<(), StateError> {
        let update = "UPDATE tool_approvals SET status = 'approved', arguments = ?2, hidden = ?3 \
                      WHERE id = ?1 AND status = 'used'";
        let values = values![approval.id, approval.arguments.to_string(), hidden(approval)];
        self.rows(Access::Write, update, values).await.map(drop)
    }

    /// The random key of hashes that people see, made once and shared by all users of this state.
    pub async fn hash_key(&self) -> Result<String, StateError> {
        let fresh = values![[random_id("a"), random_id("b"), random_id("c")].concat()];
        self.ask(Access::Write, move |sql| {
            sql.rows("INSERT INTO tool_hash_key (one, key) VALUES (1, ?1) ON CONFLICT DO NOTHING", &fresh)?;
            Ok(sql.row("SELECT key FROM tool_hash_key", &[])?.map(|mut row| row.string()).unwrap_or_default())
        })
        .await
    }

    /// The waiting approvals, or all stored ones, oldest first.
    pub async fn approvals(&self, waiting_only: bool) -> Result<Vec<Approval>, StateError> {
        let wanted = if waiting_only { "status = 'waiting' AND until > NOW_MS" } else { "TRUE" };
        let select = format!("SELECT {COLUMNS} FROM tool_approvals WHERE {wanted} ORDER BY asked_at, id");
        let rows = self.ask(Access::Read, move |sql| sql.rows(&select, &[])).await?;
        rows.into_iter().map(approval).collect()
    }

    /// Approves or denies a waiting call; a denial erases its arguments. `None` where there is no such approval; else
    /// its new state.
    pub async fn decide_approval(
        &self,
        id: &str,
        yes: bool,
        reason: Option<&str>,
    ) -> Result<Option<Approval>, StateError> {
        let (status, erased) = match yes {
            true => (ApprovalStatus::Approved, String::new()),
            false => (ApprovalStatus::Denied, format!(", {ERASED}")),
        };
        let update = format!(
            "UPDATE tool_approvals SET status = ?2, reason = ?3{erased} \
             WHERE id = ?1 AND status = 'waiting' AND until > NOW_MS"
        );
        let decision = values![*id, *status.as_str(), reason.map(String::from)];
        self.ask(Access::Erase, move |sql| {
            erase_expired(sql)?;
            sql.rows(&update, &decision)?;
            let select = format!("SELECT {COLUMNS} FROM tool_approvals WHERE id = ?1");
            sql.row(&select, &decision[..1])?.map(approval).transpose()
        })
        .await
    }
}

/// Queues a call, unless it is queued.
fn ask(sql: &mut dyn Sql, request: &Approval) -> Result<ApprovalResponse, StateError> {
    erase_expired(sql)?;
    // Requests for the same call wait for each other.
    sql.lock(&format!("{} {}", request.caller, request.fingerprint))?;
    let same = values![request.caller, request.fingerprint, request.bound];
    let change = format!(
        "UPDATE tool_approvals SET status = 'void', {ERASED} \
         WHERE caller = ?1 AND fingerprint = ?2 AND bound <> ?3 AND {HOLDS} RETURNING id"
    );
    let void = sql.rows(&change, &same)?.pop().and_then(|mut row| row.text());
    let select = format!(
        "SELECT {COLUMNS} FROM tool_approvals WHERE caller = ?1 AND fingerprint = ?2 AND bound = ?3 AND {HOLDS} \
         ORDER BY status = 'denied' DESC, status = 'approved' DESC, asked_at DESC, id LIMIT 1"
    );
    if let Some(row) = sql.row(&select, &same)? {
        return Ok(ApprovalResponse { approval: approval(row)?, void });
    }
    let insert = format!(
        "INSERT INTO tool_approvals ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
         ON CONFLICT DO NOTHING"
    );
    let Approval { id, caller, session, op, fingerprint, bound, asked_at, until, reason, .. } = request;
    let (arguments, hidden) = (request.arguments.to_string(), hidden(request));
    let status = request.status.as_str();
    sql.rows(
        &insert,
        &values![
            id, caller, session, op, arguments, fingerprint, asked_at, until, *status, reason, hidden, bound
        ],
    )?;
    Ok(ApprovalResponse { approval: request.clone(), void })
}

/// Erases the arguments of expired approvals.
pub(super) fn erase_expired(sql: &mut dyn Sql) -> Result<(), StateError> {
    let update = format!("UPDATE tool_approvals SET {ERASED} WHERE until <= NOW_MS AND arguments <> 'null'");
    sql.rows(&update, &[]).map(drop)
}

fn hidden(approval: &Approval) -> String {
    serde_json::to_string(&approval.hidden).unwrap_or_else(|_| "[]".into())
}

fn approval(mut row: Row) -> Result<Approval, StateError> {
    Ok(Approval {
        id: row.string(),
        caller: row.string(),
        session: row.text(),
        op: row.string(),
        arguments: row.json()?,
        fingerprint: row.string(),
        asked_at: row.int(),
        until: row.int(),
        // An unknown word is not an approval.
        status: row.string().parse().unwrap_or(ApprovalStatus::Denied),
        reason: row.text(),
        hidden: row.json()?,
        bound: row.string(),
    })
}
