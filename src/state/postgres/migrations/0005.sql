-- People who are signed in to the pages, or are about to be. The id is a hash: a copy of this table signs nobody in.
CREATE TABLE sign_ins (
    id text PRIMARY KEY,
    is_attempt boolean NOT NULL,
    data text NOT NULL,
    until timestamptz NOT NULL
);
CREATE INDEX sign_ins_until ON sign_ins (is_attempt, until);
