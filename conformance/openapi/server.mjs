// A server that records what arrives, and toolcrib as a server whose tools call it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let calls = 0;

/** A server that gives each request that arrives to who waits for it, by its header `x-call`. */
export async function recorder() {
  const waiting = new Map();
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      waiting.set(request.headers['x-call'], { method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks) });
    });
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const take = call => {
    const request = waiting.get(call);
    waiting.delete(call);
    return request;
  };
  return { url: `http://127.0.0.1:${server.address().port}`, take, close: () => server.close() };
}

/** toolcrib, serving a document whose servers are all the recorder. */
export async function serving(program, file, servers, recorder) {
  const folder = mkdtempSync(join(tmpdir(), 'wire-'));
  const section = name => `[server.${JSON.stringify(name)}]\nurl = "${recorder.url}/base"\nheaders = { X-Call = "\${caller:X-Call}" }\n`;
  const source = `[[source]]\npath = ${JSON.stringify(file)}\nserver = "api"\n`;
  writeFileSync(join(folder, 'toolcrib.toml'), `[exec]\nallow = "destructive"\n${['api', ...servers].map(section).join('')}${source}`);
  const child = spawn(program, ['serve', join(folder, 'toolcrib.toml'), '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await new Promise((found, failed) => {
    let said = '';
    const read = chunk => {
      said += chunk;
      const address = /listening on (http:\/\/[^\s]+)/.exec(said);
      if (address) found(address[1]);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', () => failed(new Error(`toolcrib has ended: ${said}`)));
  });
  /** Calls a tool: what arrived at the recorder, and the answer. */
  const call = async (op, args, dryRun = false) => {
    const id = `${(calls += 1)}`;
    const headers = { 'content-type': 'application/json', 'x-call': id };
    const answer = await (await fetch(`${url}/v1/tool_exec`, { method: 'POST', headers, body: JSON.stringify({ op, args, dry_run: dryRun }) })).json();
    return { request: recorder.take(id), answer };
  };
  const close = () => {
    child.kill();
    rmSync(folder, { recursive: true });
  };
  return { call, close };
}

/** Runs a function on each item, some at once. */
export async function each(items, run, atOnce = 4) {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await run(items[next++]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
