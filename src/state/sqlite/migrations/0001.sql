-- What outlives a call. Times are milliseconds of Unix time.

-- The number of the last event: one sequence for both tables of events.
CREATE TABLE tool_event_counter (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    last INTEGER NOT NULL
);
INSERT INTO tool_event_counter (one, last) VALUES (1, 0);

-- Every call of a tool.
CREATE TABLE tool_executions (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    trace_id TEXT NOT NULL,
    caller TEXT NOT NULL,
    session TEXT,
    function TEXT NOT NULL,
    op TEXT,
    tool TEXT,
    arguments TEXT NOT NULL,
    outcome TEXT NOT NULL,
    error TEXT,
    validated INTEGER,
    no_schema_mode TEXT,
    effect TEXT,
    dry_run INTEGER NOT NULL,
    latency_us INTEGER NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX tool_executions_of_session ON tool_executions (session) WHERE session IS NOT NULL;
CREATE INDEX tool_executions_at ON tool_executions (at);

-- What else happened in sessions.
CREATE TABLE session_events (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    trace_id TEXT NOT NULL,
    caller TEXT NOT NULL,
    session TEXT,
    kind TEXT NOT NULL,
    function TEXT NOT NULL,
    op TEXT,
    tool TEXT,
    input TEXT NOT NULL,
    found TEXT NOT NULL,
    outcome TEXT NOT NULL,
    error TEXT,
    latency_us INTEGER NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX session_events_of_session ON session_events (session) WHERE session IS NOT NULL;
CREATE INDEX session_events_at ON session_events (at);

CREATE TABLE tool_idempotency_keys (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    op TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    owner TEXT NOT NULL,
    status TEXT NOT NULL, -- running, answered, unknown
    answer TEXT,
    lease_until INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
) WITHOUT ROWID;

CREATE TABLE tool_approvals (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    session TEXT,
    op TEXT NOT NULL,
    arguments TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    status TEXT NOT NULL, -- waiting, approved, denied, used
    reason TEXT
) WITHOUT ROWID;
CREATE INDEX tool_approvals_of_call ON tool_approvals (caller, fingerprint);

-- The doc of an op that a session was given last.
CREATE TABLE session_docs (
    caller TEXT NOT NULL,
    session TEXT NOT NULL,
    op TEXT NOT NULL,
    doc_version TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (caller, session, op)
) WITHOUT ROWID;

CREATE TABLE session_contexts (
    caller TEXT NOT NULL,
    session TEXT NOT NULL,
    context TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (caller, session)
) WITHOUT ROWID;

CREATE TABLE tool_results (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    text TEXT NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;
