// Do the official clients for TypeScript, version 1 and 2, sign in to toolcrib's MCP transport, and request more scopes
// when a call needs them?
//
//     node protected.mjs ENDPOINT ISSUER CLIENT_ID CLIENT_SECRET METADATA_DOCUMENT
//
// protected.py starts it. Exit code 1 when anything is not as it should be.

import { Client as Client2, ClientCredentialsProvider as Agent2, StreamableHTTPClientTransport as Http2, UnauthorizedError as Unauthorized2 } from '@modelcontextprotocol/client';
import { UnauthorizedError as Unauthorized1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider as Agent1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [endpoint, issuer, clientId, clientSecret, document] = process.argv.slice(2);
const CALLBACK = 'http://127.0.0.1:8976/callback';

function expect(condition, what) {
  if (!condition) throw new Error(typeof what === 'string' ? what : JSON.stringify(what));
}

/// A person with a browser, who agrees; the client registers, or shows its metadata document.
class Person {
  constructor(clientMetadataUrl) {
    this.clientMetadataUrl = clientMetadataUrl;
    this.kept = {};
  }

  redirectUrl = CALLBACK;
  clientMetadata = { redirect_uris: [CALLBACK], client_name: 'check', token_endpoint_auth_method: 'none' };
  clientInformation = () => this.kept.client;
  saveClientInformation = client => { this.kept.client = client; };
  tokens = () => this.kept.tokens;
  // Version 1 refreshes a token that is too narrow, which does not make it wider.
  saveTokens = ({ refresh_token, ...tokens }) => { this.kept.tokens = tokens; };
  saveCodeVerifier = verifier => { this.kept.verifier = verifier; };
  codeVerifier = () => this.kept.verifier;
  discoveryState = () => this.kept.discovery;
  saveDiscoveryState = discovery => { this.kept.discovery = discovery; };

  async redirectToAuthorization(address) {
    const answer = await fetch(address, { redirect: 'manual' });
    this.landed = new URL(answer.headers.get('location'));
  }
}

/// Does it, and where a person has to agree first, once more after that.
async function agreed(provider, transport, version, unauthorized, work) {
  try {
    return await work();
  } catch (problem) {
    if (!(problem instanceof unauthorized) || !provider.landed) throw problem;
    const query = provider.landed.searchParams;
    provider.landed = undefined;
    await transport().finishAuth(version === 1 ? query.get('code') : query);
    return await work();
  }
}

async function check({ version, mode, way, url }) {
  const [Client, Http, Agent, unauthorized] =
    version === 1 ? [Client1, Http1, Agent1, Unauthorized1] : [Client2, Http2, Agent2, Unauthorized2];
  const asksOnce = version === 1 && way === 'client credentials';
  const provider = {
    // With client credentials, version 1 asks for its own scopes alone, whatever a server wants.
    'client credentials': () => new Agent({ clientId, clientSecret, expectedIssuer: issuer, ...(asksOnce && { scope: 'tools:read tools:write' }) }),
    'a person, registration': () => new Person(),
    'a person, metadata document': () => new Person(document),
  }[way]();
  let client;
  let transport;
  const connect = async () => {
    client = new Client({ name: 'check', version: '1' }, mode ? { versionNegotiation: { mode } } : {});
    transport = new Http(new URL(url), { authProvider: provider });
    await client.connect(transport);
  };
  const ask = work => agreed(provider, () => transport, version, unauthorized, work);
  await ask(connect);
  try {
    expect((await ask(() => client.listTools())).tools.length, 'no tools');
    const granted = provider.tokens().scope.split(' ');
    expect(granted.includes('tools:read') && granted.includes('tools:write') === asksOnce, { granted });
    const call = op => ask(() => client.callTool({ name: 'tool_exec', arguments: { op, args: {} } }));
    const read = await call('read_note');
    expect(!read.isError && JSON.stringify(read).includes('done: read_note'), read);
    const written = await call('write_note');
    expect(!written.isError && JSON.stringify(written).includes('done: write_note'), written);
    expect(provider.tokens().scope.split(' ').includes('tools:write'), 'no wider token');
  } finally {
    await client.close().catch(() => {});
  }
}

let failures = 0;
for (const [version, mode] of [[1], [2, 'legacy'], [2, 'auto'], [2, { pin: '2026-07-28' }]]) {
  for (const way of ['client credentials', 'a person, registration', 'a person, metadata document']) {
    for (const path of ['mcp', 'p/notes/mcp']) {
      const url = endpoint.replace(/mcp$/, path);
      const name = `typescript ${version}, ${mode?.pin ?? mode ?? 'handshake'}, ${path}: ${way}`;
      try {
        await check({ version, mode, way, url });
        console.log(`ok      ${name}`);
      } catch (problem) {
        failures += 1;
        console.log(`FAILED  ${name}: ${problem.stack}`);
      }
    }
  }
}
process.exit(failures ? 1 : 0);
