-- What outlives a call. SQLite and PostgreSQL read the same text. Times are milliseconds of Unix time.

-- The number of the last event: one sequence for both tables of events.
CREATE TABLE tool_event_counter (
    one bigint PRIMARY KEY CHECK (one = 1),
    last bigint NOT NULL
);
INSERT INTO tool_event_counter (one, last) VALUES (1, 0);

-- Every call of a tool.
CREATE TABLE tool_executions (
    id bigint PRIMARY KEY,
    at bigint NOT NULL,
    trace_id text NOT NULL,
    caller text NOT NULL,
    session text,
    function text NOT NULL,
    op text,
    tool text,
    arguments text NOT NULL,
    outcome text NOT NULL,
    error text,
    validated boolean,
    no_schema_mode text,
    effect text,
    dry_run boolean NOT NULL,
    latency_us bigint NOT NULL,
    tokens bigint NOT NULL,
    detail text NOT NULL,
    profile text,
    registry_version text,
    doc_version text
);
CREATE INDEX tool_executions_of_session ON tool_executions (session, caller, id) WHERE session IS NOT NULL;
CREATE INDEX tool_executions_at ON tool_executions (at);
-- Each has all that a search for calls compares.
CREATE INDEX tool_executions_of_caller ON tool_executions (caller, id, tool, outcome);
CREATE INDEX tool_executions_of_tool ON tool_executions (tool, id, caller, outcome);
CREATE INDEX tool_executions_failed ON tool_executions (id, caller, tool, outcome) WHERE outcome <> 'ok';

-- Everything else that happened in sessions.
CREATE TABLE session_events (
    id bigint PRIMARY KEY,
    at bigint NOT NULL,
    trace_id text NOT NULL,
    caller text NOT NULL,
    session text,
    kind text NOT NULL,
    function text NOT NULL,
    op text,
    tool text,
    input text NOT NULL,
    found text NOT NULL,
    outcome text NOT NULL,
    error text,
    latency_us bigint NOT NULL,
    tokens bigint NOT NULL,
    detail text NOT NULL
);
CREATE INDEX session_events_of_session ON session_events (session, caller, id) WHERE session IS NOT NULL;
CREATE INDEX session_events_at ON session_events (at);

-- Sums over both tables of events, written with them.
CREATE TABLE session_sums (
    caller text NOT NULL,
    session text NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    last bigint NOT NULL, -- number of its last event
    events bigint NOT NULL,
    calls bigint NOT NULL,
    failed bigint NOT NULL,
    PRIMARY KEY (caller, session)
);
CREATE INDEX session_sums_last ON session_sums (last);
CREATE INDEX session_sums_of_caller ON session_sums (caller, last);

CREATE TABLE usage_sums (
    day bigint NOT NULL, -- of Unix time
    caller text NOT NULL,
    kind text NOT NULL, -- call, search
    tool text NOT NULL,
    outcome text NOT NULL,
    events bigint NOT NULL,
    latency_us bigint NOT NULL,
    PRIMARY KEY (day, caller, kind, tool, outcome)
);

CREATE TABLE tool_idempotency_keys (
    caller text NOT NULL,
    key text NOT NULL,
    op text NOT NULL,
    fingerprint text NOT NULL,
    owner text NOT NULL,
    status text NOT NULL, -- running, answered, unknown
    answer text,
    lease_until bigint NOT NULL,
    changed_at bigint NOT NULL,
    PRIMARY KEY (caller, key)
);

CREATE TABLE tool_approvals (
    id text PRIMARY KEY,
    caller text NOT NULL,
    session text,
    op text NOT NULL,
    arguments text NOT NULL,
    fingerprint text NOT NULL,
    asked_at bigint NOT NULL,
    until bigint NOT NULL,
    status text NOT NULL, -- waiting, approved, denied, used, void
    reason text,
    hidden text NOT NULL, -- JSON: pointer, bytes, hash
    bound text NOT NULL
);
CREATE INDEX tool_approvals_of_call ON tool_approvals (caller, fingerprint);
CREATE INDEX tool_approvals_of_status ON tool_approvals (status, asked_at);
CREATE INDEX tool_approvals_of_op ON tool_approvals (op, asked_at);

-- The definition of which an approval's `bound` is a hash.
CREATE TABLE approval_definitions (
    bound text PRIMARY KEY,
    definition text NOT NULL
);

-- The key of hashes that people see.
CREATE TABLE tool_hash_key (
    one bigint PRIMARY KEY CHECK (one = 1),
    key text NOT NULL
);

-- Hashes of the cookies of people who have signed out, until these would have ended.
CREATE TABLE ended_cookies (
    cookie text PRIMARY KEY,
    until bigint NOT NULL
);

-- The page of an op that a session was given last.
CREATE TABLE session_docs (
    caller text NOT NULL,
    session text NOT NULL,
    op text NOT NULL,
    doc_version text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (caller, session, op)
);

CREATE TABLE session_contexts (
    caller text NOT NULL,
    session text NOT NULL,
    context text NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (caller, session)
);

CREATE TABLE tool_results (
    id text PRIMARY KEY,
    caller text NOT NULL,
    text blob NOT NULL, -- UTF-8; a text of PostgreSQL has no zero characters
    until bigint NOT NULL
);

-- Ages are measured from `clock`, which goes ahead by a day at most; `seen` is the time of day when it was set.
CREATE TABLE tool_state (
    one bigint PRIMARY KEY CHECK (one = 1),
    clock bigint NOT NULL,
    seen bigint NOT NULL
);
INSERT INTO tool_state (one, clock, seen) VALUES (1, NOW_MS, NOW_MS);
