//! Calls that wait for a person.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bounds::{bounds, over_bounds};
use super::callers::Callers;
use super::database::{Access, Result, Row, Sql, insert, values};
use super::random_id::random_id;
use super::store::StateStore;

/// A call that waits for a person's decision, or has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Id of the approval.
    pub id: String,
    pub caller: String,
    pub session: Option<String>,
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
    /// The definition as people read it, to compare later ones with it. Only in requests.
    #[serde(skip)]
    pub definition: Value,
    /// Time of the request, in milliseconds of Unix time.
    pub asked_at: i64,
    /// Time at which it expires.
    pub until: i64,
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
    /// The caller's oldest approvals, which no longer wait because there is no room for them.
    pub displaced: Vec<String>,
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

/// The columns with nothing in place of the arguments, which can be long.
const WITHOUT_ARGUMENTS: &str =
    "id, caller, session, op, 'null', fingerprint, asked_at, until, status, reason, '[]', bound";

/// An approval that nobody has decided in time.
const WAITS: &str = "status = 'waiting' AND until > NOW_MS";

/// Sets the columns of arguments that nobody needs to see any more.
const ERASED: &str = "arguments = 'null', hidden = '[]'";

/// An approval that holds for its call.
const HOLDS: &str = "status IN ('waiting', 'approved', 'denied') AND until > NOW_MS";

impl StateStore {
    /// Queues a call for a person's decision. Returns the existing approval if the same caller has one for the same
    /// call (`fingerprint`) that is waiting, or decided and unused. Approvals of the same call that are bound to
    /// another definition become void.
    pub async fn request_approval(&self, request: &Approval) -> Result<ApprovalResponse> {
        let request = request.clone();
        self.ask(Access::Erase, move |sql| ask(sql, &request)).await
    }

    /// Uses an approval for one run, and erases its arguments; false where it cannot be used.
    pub async fn use_approval(&self, id: &str) -> Result<bool> {
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
    pub async fn give_back(&self, approval: &Approval) -> Result<()> {
        let update = "UPDATE tool_approvals SET status = 'approved', arguments = ?2, hidden = ?3 \
                      WHERE id = ?1 AND status = 'used'";
        let values = values![approval.id, approval.arguments.to_string(), hidden(approval)];
        self.rows(Access::Write, update, values).await.map(drop)
    }

    /// The random key of hashes that people see, made once and shared by all users of this state.
    pub async fn hash_key(&self) -> Result<String> {
        let fresh = values![[random_id("a"), random_id("b"), random_id("c")].concat()];
        self.ask(Access::Write, move |sql| {
            sql.rows("INSERT INTO tool_hash_key (one, key) VALUES (1, ?1) ON CONFLICT DO NOTHING", &fresh)?;
            Ok(sql.row("SELECT key FROM tool_hash_key", &[])?.map(|mut row| row.string()).unwrap_or_default())
        })
        .await
    }

    /// The waiting approvals, or all stored ones, oldest first.
    pub async fn approvals(&self, waiting_only: bool) -> Result<Vec<Approval>> {
        let wanted = if waiting_only { WAITS } else { "TRUE" };
        self.approvals_where(COLUMNS, &format!("{wanted} ORDER BY asked_at, id"), Vec::new()).await
    }

    /// A page of the approvals of these callers, without their arguments, and the number of all: the waiting ones, oldest
    /// first, or the newest others. Each caller has its first ones on the first page, however many others there are.
    pub async fn listed_approvals(
        &self,
        callers: &Callers,
        is_waiting: bool,
        skip: usize,
        limit: usize,
    ) -> Result<(Vec<Approval>, usize)> {
        let (not, order) = if is_waiting { ("", "ASC") } else { ("NOT", "DESC") };
        let mut values = Vec::new();
        let wanted = format!("{not} ({WAITS}) AND {}", callers.condition(&mut values));
        let turns = format!("ROW_NUMBER() OVER (PARTITION BY caller ORDER BY asked_at {order}, id)");
        let page = format!(
            "SELECT {WITHOUT_ARGUMENTS} FROM (SELECT *, {turns} AS turn FROM tool_approvals WHERE {wanted}) AS t \
             ORDER BY turn, asked_at {order}, id LIMIT {limit} OFFSET {skip}"
        );
        let count = format!("SELECT COUNT(*) FROM tool_approvals WHERE {wanted}");
        self.ask(Access::Read, move |sql| {
            let page = sql.rows(&page, &values)?.into_iter().map(approval).collect::<Result<_>>()?;
            let count = sql.row(&count, &values)?.map_or(0, |mut row| row.int());
            Ok((page, usize::try_from(count).unwrap_or_default()))
        })
        .await
    }

    /// One approval.
    pub async fn approval(&self, id: &str) -> Result<Option<Approval>> {
        Ok(self.approvals_where(COLUMNS, "id = ?1", values![id].to_vec()).await?.pop())
    }

    /// The last approval of an op that a person has given, among these callers and before this time.
    pub async fn last_approved(&self, op: &str, callers: &Callers, before: i64) -> Result<Option<Approval>> {
        let mut values = values![op, before].to_vec();
        let of_callers = callers.condition(&mut values);
        let which = format!(
            "op = ?1 AND asked_at < ?2 AND status IN ('approved', 'used') AND {of_callers} \
             ORDER BY asked_at DESC, id LIMIT 1"
        );
        Ok(self.approvals_where(WITHOUT_ARGUMENTS, &which, values).await?.pop())
    }

    async fn approvals_where(
        &self,
        columns: &str,
        which: &str,
        values: Vec<rusqlite::types::Value>,
    ) -> Result<Vec<Approval>> {
        let select = format!("SELECT {columns} FROM tool_approvals WHERE {which}");
        self.rows(Access::Read, &select, values).await?.into_iter().map(approval).collect()
    }

    /// The definition that a fingerprint (`bound`) of an approval belongs to.
    pub async fn approved_definition(&self, bound: &str) -> Result<Option<Value>> {
        let select = "SELECT definition FROM approval_definitions WHERE bound = ?1";
        let row = self.rows(Access::Read, select, values![bound]).await?.pop();
        row.map(|mut row| row.json()).transpose()
    }

    /// Approves or denies a waiting call; a denial erases its arguments. `None` where there is no such approval; else
    /// its new state, and whether this decision has made it.
    pub async fn decide_approval(
        &self,
        id: &str,
        yes: bool,
        reason: Option<&str>,
    ) -> Result<Option<(Approval, bool)>> {
        let (status, erased) = if yes {
            (ApprovalStatus::Approved, String::new())
        } else {
            (ApprovalStatus::Denied, format!(", {ERASED}"))
        };
        let update = format!(
            "UPDATE tool_approvals SET status = ?2, reason = ?3{erased} \
             WHERE id = ?1 AND {WAITS} RETURNING 1"
        );
        let decision = values![*id, *status.as_str(), reason.map(String::from)];
        self.ask(Access::Erase, move |sql| {
            erase_expired(sql)?;
            let is_decided = !sql.rows(&update, &decision)?.is_empty();
            let select = format!("SELECT {COLUMNS} FROM tool_approvals WHERE id = ?1");
            let found = sql.row(&select, &decision[..1])?.map(approval).transpose()?;
            Ok(found.map(|approval| (approval, is_decided)))
        })
        .await
    }
}

const UNLESS_KNOWN: &str = " ON CONFLICT DO NOTHING";

/// Queues a call, unless it is queued.
pub fn ask(sql: &mut dyn Sql, request: &Approval) -> Result<ApprovalResponse> {
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
        return Ok(ApprovalResponse { approval: approval(row)?, void, displaced: Vec::new() });
    }
    let Approval { id, caller, session, op, fingerprint, bound, asked_at, until, reason, .. } = request;
    let arguments = request.arguments.to_string();
    let hidden = hidden(request);
    let status = request.status.as_str();
    let row = values![
        id, caller, session, op, arguments, fingerprint, asked_at, until, *status, reason, hidden, bound
    ];
    insert(sql, &format!("tool_approvals ({COLUMNS})"), vec![row.to_vec()], UNLESS_KNOWN)?;
    if !request.definition.is_null() {
        let row = values![*bound, request.definition.to_string()];
        insert(sql, "approval_definitions (bound, definition)", vec![row.to_vec()], UNLESS_KNOWN)?;
    }
    let displaced = displace_oldest(sql, request)?;
    Ok(ApprovalResponse { approval: request.clone(), void, displaced })
}

/// Voids the oldest waiting approvals if those of the caller, or of all callers, have too many bytes. Returns the caller's.
fn displace_oldest(sql: &mut dyn Sql, request: &Approval) -> Result<Vec<String>> {
    let update = format!(
        "UPDATE tool_approvals SET status = 'void', reason = 'newer requests took its place', {ERASED} \
         WHERE {} RETURNING id, caller",
        over_bounds("id", "tool_approvals WHERE status = 'waiting'", "arguments", "asked_at")
    );
    let displaced =
        sql.rows(&update, &bounds(&request.id))?.into_iter().map(|mut row| (row.string(), row.string()));
    Ok(displaced.filter(|(_, caller)| *caller == request.caller).map(|(id, _)| id).collect())
}

/// Erases the arguments of expired approvals.
pub(super) fn erase_expired(sql: &mut dyn Sql) -> Result<()> {
    let update = format!("UPDATE tool_approvals SET {ERASED} WHERE until <= NOW_MS AND arguments <> 'null'");
    sql.rows(&update, &[]).map(drop)
}

fn hidden(approval: &Approval) -> String {
    serde_json::to_string(&approval.hidden).unwrap_or_else(|_| "[]".into())
}

fn approval(mut row: Row) -> Result<Approval> {
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
        definition: Value::Null,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{MAX_BYTES_OF_CALLER, now};

    #[tokio::test]
    async fn the_oldest_waiting_calls_of_a_caller_make_room_and_the_answer_names_them() {
        let state = StateStore::in_memory();
        let ask = async |caller: &str, number: i64, bytes: usize| {
            let request = Approval {
                id: format!("{caller}{number}"),
                caller: caller.into(),
                session: None,
                op: "note.add".into(),
                arguments: "x".repeat(bytes).into(),
                hidden: Vec::new(),
                fingerprint: format!("{number}"),
                bound: String::new(),
                definition: Value::Null,
                asked_at: now() + number,
                until: now() + 60_000,
                status: ApprovalStatus::Waiting,
                reason: None,
            };
            state.request_approval(&request).await.unwrap().displaced
        };
        let third = MAX_BYTES_OF_CALLER / 3 - 10;
        assert!(ask("bob", 0, 10).await.is_empty());
        for number in 1..=3 {
            assert!(ask("amy", number, third).await.is_empty(), "{number}");
        }
        assert_eq!(ask("amy", 4, third).await, ["amy1"]);
        assert_eq!(ask("amy", 5, MAX_BYTES_OF_CALLER + 10).await, ["amy2", "amy3", "amy4"]);
        let waiting: Vec<String> =
            state.approvals(true).await.unwrap().into_iter().map(|approval| approval.id).collect();
        assert_eq!(waiting, ["bob0", "amy5"]);
        let all = state.approvals(false).await.unwrap();
        let first = all.iter().find(|approval| approval.id == "amy1").unwrap();
        assert_eq!((first.status, &first.arguments), (ApprovalStatus::Void, &Value::Null));
    }
}
