-- Approvals show all arguments, and are bound to a definition and to what runs it. Those from before are bound to nothing.
ALTER TABLE tool_approvals ADD COLUMN hidden TEXT NOT NULL DEFAULT '[]'; -- JSON: pointer, bytes, hash
ALTER TABLE tool_approvals ADD COLUMN bound TEXT NOT NULL DEFAULT '';
UPDATE tool_approvals SET arguments = 'null' WHERE status IN ('denied', 'used');

-- The key of hashes that people see.
CREATE TABLE tool_hash_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    key TEXT NOT NULL
);
