-- Attempts to sign in are with the browsers that began them.
DELETE FROM sign_ins WHERE is_attempt;
DROP INDEX sign_ins_until;
ALTER TABLE sign_ins DROP COLUMN is_attempt;
CREATE INDEX sign_ins_until ON sign_ins (until);
