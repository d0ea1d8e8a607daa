-- What outlives a call.

-- The number of the last event: one sequence for both tables of events.
CREATE TABLE tool_event_counter (
    one int PRIMARY KEY CHECK (one = 1),
    last bigint NOT NULL
);
INSERT INTO tool_event_counter (one, last) VALUES (1, 0);

-- Every call of a tool.
CREATE TABLE tool_executions (
    id bigint PRIMARY KEY,
    at timestamptz NOT NULL,
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
    detail text NOT NULL
);
CREATE INDEX tool_executions_of_session ON tool_executions (session, id) WHERE session IS NOT NULL;
CREATE INDEX tool_executions_at ON tool_executions (at);

-- What else happened in sessions.
CREATE TABLE session_events (
    id bigint PRIMARY KEY,
    at timestamptz NOT NULL,
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
    detail text NOT NULL
);
CREATE INDEX session_events_of_session ON session_events (session, id) WHERE session IS NOT NULL;
CREATE INDEX session_events_at ON session_events (at);

CREATE TABLE tool_idempotency_keys (
    caller text NOT NULL,
    key text NOT NULL,
    op text NOT NULL,
    fingerprint text NOT NULL,
    owner text NOT NULL,
    status text NOT NULL, -- running, answered, unknown
    answer text,
    lease_until timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (caller, key)
);

CREATE TABLE tool_approvals (
    id text PRIMARY KEY,
    caller text NOT NULL,
    session text,
    op text NOT NULL,
    arguments text NOT NULL,
    fingerprint text NOT NULL,
    asked_at timestamptz NOT NULL,
    until timestamptz NOT NULL,
    status text NOT NULL, -- waiting, approved, denied, used
    reason text
);
CREATE INDEX tool_approvals_of_call ON tool_approvals (caller, fingerprint);

-- The doc of an op that a session was given last.
CREATE TABLE session_docs (
    caller text NOT NULL,
    session text NOT NULL,
    op text NOT NULL,
    doc_version text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (caller, session, op)
);

CREATE TABLE session_contexts (
    caller text NOT NULL,
    session text NOT NULL,
    context text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (caller, session)
);

CREATE TABLE tool_results (
    id text PRIMARY KEY,
    caller text NOT NULL,
    text bytea NOT NULL, -- UTF-8, which may have zero characters
    until timestamptz NOT NULL
);
