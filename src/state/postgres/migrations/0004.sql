-- A call says what its caller saw. Calls from before do not.
ALTER TABLE tool_executions ADD COLUMN profile text;
ALTER TABLE tool_executions ADD COLUMN registry_version text;
ALTER TABLE tool_executions ADD COLUMN doc_version text;
