-- Whether what is kept is whole, and how old it is.
CREATE TABLE tool_state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL, -- of this database; its seal has the same
    changes INTEGER NOT NULL, -- how many durable transactions there were
    clock INTEGER NOT NULL, -- ages are measured from here; it goes ahead by a day at most
    seen INTEGER NOT NULL -- the time of day when that was set
);
INSERT INTO tool_state (one, id, changes, clock, seen)
SELECT 1, lower(hex(randomblob(8))), 0, newest, newest FROM (
    SELECT coalesce(max(changed_at), CAST(unixepoch('subsec') * 1000 AS INTEGER)) AS newest FROM tool_idempotency_keys
);
