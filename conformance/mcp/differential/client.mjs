// Makes the calls of a job with an official client for TypeScript, and prints the answers; see client.py for both.
//
//     node client.mjs < JOB.json
//
// The job says the `version` of the client too: 1 or 2.

import { readFileSync } from 'node:fs';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// Milliseconds that a call may take: a server that starts late is waited for.
const TIME = 90_000;

function failure(problem) {
  const { code, message, data } = problem;
  return typeof code === 'number' ? { code, message: message.replace(/^MCP error -?\d+: /, ''), data } : { client: String(problem) };
}

async function answer(client, { id, name, arguments: args }, version) {
  const notifications = [];
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === 'notifications/message') notifications.push(['message', params]);
  };
  const options = {
    timeout: TIME,
    onprogress: ({ progress, total, message }) => notifications.push(['progress', [progress, total ?? null, message ?? null]]),
  };
  try {
    const call = { name, arguments: args };
    const result = await (version === 1 ? client.callTool(call, undefined, options) : client.callTool(call, options));
    return { id, result, notifications };
  } catch (problem) {
    return { id, error: failure(problem), notifications };
  }
}

async function answers(connection, { version, mode }) {
  const [Client, Http, Stdio] = version === 1 ? [Client1, Http1, Stdio1] : [Client2, Http2, Stdio2];
  const client = new Client({ name: 'check', version: '1' }, mode ? { versionNegotiation: { mode } } : {});
  const [command, ...args] = connection.command ?? [];
  const { env, cwd, url } = connection;
  const [got, began] = [[], Date.now()];
  const add = answer => got.push({ ...answer, ms: Date.now() - began });
  try {
    const server = url ? new Http(new URL(url)) : new Stdio({ command, args, env, cwd, stderr: 'ignore' });
    await client.connect(server, { timeout: TIME });
    for (const name of connection.ready ?? []) {
      for (let wait = 0; wait < 90; wait += 1) {
        const doc = await client.callTool({ name: 'read_tool_doc', arguments: { name } });
        if (!doc.isError) break;
        await new Promise(later => setTimeout(later, 1000));
      }
    }
    // Clients check results by the schemas of the list.
    const tools = [];
    for (let cursor, page; !page || cursor; cursor = page.nextCursor) {
      page = await client.listTools(cursor && { cursor });
      tools.push(...page.tools);
    }
    if (connection.list) add({ id: connection.list, result: { tools } });
    for (const call of connection.calls) add(await answer(client, call, version));
  } catch (problem) {
    const asked = connection.list ? [{ id: connection.list }] : [];
    for (const { id } of [...asked, ...connection.calls].slice(got.length)) add({ id, error: failure(problem) });
  } finally {
    await client.close().catch(() => {});
  }
  return got;
}

const job = JSON.parse(readFileSync(0, 'utf8'));
const got = await Promise.all(job.connections.map(connection => answers(connection, job)));
process.stdout.write(JSON.stringify(got.flat()), () => process.exit(0));
