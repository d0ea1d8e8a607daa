-- How old what is kept is.
CREATE TABLE tool_state (
    one int PRIMARY KEY CHECK (one = 1),
    clock timestamptz NOT NULL, -- ages are measured from here; it goes ahead by a day at most
    seen timestamptz NOT NULL -- the time of day when that was set
);
INSERT INTO tool_state (one, clock, seen)
SELECT 1, newest, newest FROM (
    SELECT coalesce(max(changed_at), clock_timestamp()) AS newest FROM tool_idempotency_keys
) AS keys;
