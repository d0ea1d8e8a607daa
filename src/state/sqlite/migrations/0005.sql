-- People who are signed in to the pages, or are about to be. The id is a hash: a copy of this table signs nobody in.
CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    is_attempt INTEGER NOT NULL,
    data TEXT NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_ins_until ON sign_ins (is_attempt, until);
