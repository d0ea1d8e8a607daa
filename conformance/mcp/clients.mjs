// Do the official clients for TypeScript, version 1 and 2, work with toolcrib's MCP transport?
//
//     node conformance/mcp/clients.mjs PATH/TO/toolcrib
//
// Every way to negotiate, over stdio and over HTTP. Exit code 1 when anything is not as it should be.

import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types1 from '@modelcontextprotocol/sdk/types.js';

const TOOLS = 450;
const DOC = 'toolcrib://tools/tool_0000.md';
const program = resolve(process.argv[2]);

function expect(condition, what) {
  if (!condition) throw new Error(typeof what === 'string' ? what : JSON.stringify(what));
}

async function refused(asked, code) {
  const problem = await asked.then(answer => expect(false, { answer }), problem => problem);
  expect(problem.code === code, `refused with ${problem.code} (${problem.message}), not ${code}`);
}

function within(promise, what) {
  const late = new Promise((_, fail) => setTimeout(() => fail(new Error(`no ${what}`)), 20_000).unref());
  return Promise.race([promise, late]);
}

/// A catalog that can be edited.
function catalog() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-'));
  const path = join(folder, 'tools.json');
  const write = about => {
    const parameters = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
    const tools = Array.from({ length: TOOLS }, (_, index) => ({
      name: `tool_${String(index).padStart(4, '0')}`,
      description: `${index === 0 ? about : 'Does thing'} ${index}.`,
      category: `Group ${index % 7}`,
      parameters,
    }));
    writeFileSync(`${path}.draft`, JSON.stringify(tools));
    renameSync(`${path}.draft`, path);
  };
  write('Does thing');
  return { path, write, remove: () => rmSync(folder, { recursive: true }) };
}

/// The server over HTTP on a free port.
async function served(path) {
  const server = spawn(program, ['serve', '--mode', 'gateway', path, '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const address = new Promise(found => {
    let said = '';
    server.stderr.on('data', data => {
      said += data;
      const match = said.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (match) found(`${match[0]}/mcp`);
    });
  });
  return { url: new URL(await within(address, 'server')), stop: () => server.kill() };
}

async function checkTools(client) {
  const { tools } = await client.listTools();
  // The suite's fixtures may be there as well.
  const ours = tools.filter(tool => !/^(test|json_schema)_/.test(tool.name));
  const names = ours.map(tool => tool.name).join();
  const reads = ours.slice(0, 2).every(tool => tool.annotations.readOnlyHint);
  expect(names === 'tool_search,tool_help,tool_exec,tool_batch' && reads, { ours });
  const call = names => client.callTool({ name: 'read_tool_doc', arguments: names ? { names } : {} });
  const good = await call(['tool_0003']);
  expect(!good.isError && good.content[0].text.startsWith('# tool_0003') && good.structuredContent === undefined, { good });
  const wrong = await call(['tool_003']);
  expect(wrong.isError && wrong.content[0].text.includes('tool_0003'), { wrong });
  const empty = await call();
  expect(empty.isError && empty.structuredContent.error.code === 'VALIDATION_ERROR', { empty });
  const search = arguments_ => client.callTool({ name: 'tool_search', arguments: arguments_ });
  const found = await search({ query: 'tool_0003' });
  expect(!found.isError && found.content[0].text.includes('tool_0003'), { found });
  const nothing = await search({ query: 'qzxv jjkw', format: 'json' });
  expect(nothing.structuredContent.verdict === 'no_match', { nothing });
  // Functions that are not listed can be called too.
  const roots = await client.callTool({ name: 'list', arguments: { limit: 50 } });
  expect(roots.structuredContent.nodes.length === 7, { roots });
  await refused(client.callTool({ name: 'no_such_tool', arguments: {} }), -32602);
}

async function checkResources(client, hasOldCode) {
  const listed = [];
  let cursor;
  do {
    const page = await client.listResources(cursor ? { cursor } : undefined);
    listed.push(...page.resources);
    cursor = page.nextCursor;
  } while (cursor);
  const addresses = new Set(listed.map(resource => resource.uri));
  expect(addresses.size === listed.length, 'a resource is listed twice');
  expect(listed.filter(resource => resource.uri.includes('/tool_')).length === TOOLS, 'not every doc is listed');
  const last = listed.at(-1);
  const { contents } = await client.readResource({ uri: last.uri });
  expect(Buffer.byteLength(contents[0].text) === last.size, 'a size is wrong');
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates[0].uriTemplate === 'toolcrib://tools/{name}.md', { resourceTemplates });
  await refused(client.readResource({ uri: 'toolcrib://tools/nothing.md' }), hasOldCode ? -32002 : -32602);
  await refused(client.listResources({ cursor: 'no cursor' }), -32602);
  const reference = { type: 'ref/resource', uri: 'toolcrib://tools/{name}.md' };
  const { completion } = await client.complete({ ref: reference, argument: { name: 'name', value: 'tool_044' } });
  expect(completion.values.length === 10, { completion });
}

/// An edit of the catalog reaches the client, where its wire has a way.
async function checkNews(client, catalog, isOlder, overHttp, version) {
  if (isOlder && overHttp) return;
  const wanted = ['notifications/resources/list_changed', 'notifications/resources/updated'];
  const schemas = [types1.ResourceListChangedNotificationSchema, types1.ResourceUpdatedNotificationSchema];
  const heard = wanted.map((method, index) => new Promise(hear => {
    client.setNotificationHandler(version === 1 ? schemas[index] : method, () => hear(method));
  }));
  let subscription;
  if (isOlder) await client.subscribeResource({ uri: DOC });
  else subscription = await client.listen({ resourcesListChanged: true, resourceSubscriptions: [DOC] });
  catalog.write('Does better');
  await within(Promise.all(heard), 'news');
  const { contents } = await client.readResource({ uri: DOC });
  expect(contents[0].text.includes('Does better'), 'the doc is the old one');
  await subscription?.close();
}

async function check({ version, mode, over }) {
  const tools = catalog();
  const server = over === 'http' ? await served(tools.path) : undefined;
  const [Client, Http, Stdio] = version === 1 ? [Client1, Http1, Stdio1] : [Client2, Http2, Stdio2];
  const options = mode ? { versionNegotiation: { mode } } : {};
  const client = new Client({ name: 'check', version: '1' }, options);
  const stdio = { command: program, args: ['serve', '--stdio', '--mode', 'gateway', tools.path], stderr: 'ignore' };
  try {
    await within(client.connect(server ? new Http(server.url) : new Stdio(stdio)), 'connection');
    const isOlder = version === 1 || mode === 'legacy';
    // A client with a pinned version asks for nothing else beforehand.
    if (!mode?.pin) {
      expect(client.getInstructions().includes('tool_help'), 'no instructions');
    }
    await checkTools(client);
    // Version 2 tells every wire's code as the newer one.
    await checkResources(client, version === 1);
    await checkNews(client, tools, isOlder, over === 'http', version);
  } finally {
    await client.close().catch(() => {});
    server?.stop();
    tools.remove();
  }
}

let failures = 0;
for (const [version, mode] of [[1], [2, 'legacy'], [2, 'auto'], [2, { pin: '2026-07-28' }]]) {
  for (const over of ['stdio', 'http']) {
    const name = `typescript ${version}, ${mode?.pin ?? mode ?? 'handshake'}, ${over}`;
    try {
      await check({ version, mode, over });
      console.log(`ok      ${name}`);
    } catch (problem) {
      failures += 1;
      console.log(`FAILED  ${name}: ${problem.stack}`);
    }
  }
}
process.exit(failures ? 1 : 0);
