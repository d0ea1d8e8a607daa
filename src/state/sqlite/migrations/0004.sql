-- A call says what its caller saw. Calls from before do not.
ALTER TABLE tool_executions ADD COLUMN profile TEXT;
ALTER TABLE tool_executions ADD COLUMN registry_version TEXT;
ALTER TABLE tool_executions ADD COLUMN doc_version TEXT;
