// A protected server, made with the official SDK for TypeScript: it takes tokens that an issuer knows, for its own address alone.
//
//     node protected_server.mjs PORT ISSUER CLIENT_ID CLIENT_SECRET SCOPE...

import { createServer } from 'node:http';
import express from 'express';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const [port, issuer, clientId, clientSecret, ...scopes] = process.argv.slice(2);
const address = new URL(`http://127.0.0.1:${port}/mcp`);

/// Asks the issuer for what a token stands for.
async function verifyAccessToken(token) {
  const answer = await fetch(`${issuer}/introspect`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  });
  const told = await answer.json();
  if (!told.active) throw new InvalidTokenError('the issuer does not know this token');
  const audience = [told.aud ?? []].flat();
  const resource = audience.includes(address.href) ? address.href : audience[0];
  return { token, clientId: told.client_id ?? '', scopes: (told.scope ?? '').split(' '), expiresAt: told.exp, resource: resource && new URL(resource) };
}

function server() {
  const server = new McpServer({ name: 'typescript', version: '1' });
  const about = { description: 'Read one note.', inputSchema: { name: z.string() } };
  server.registerTool('read_note', about, async ({ name }) => ({ content: [{ type: 'text', text: `note ${name}` }] }));
  return server;
}

const app = express();
const oauthMetadata = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: address, scopesSupported: scopes }));
const resourceMetadataUrl = new URL('/.well-known/oauth-protected-resource/mcp', address).href;
const bearer = requireBearerAuth({
  verifier: { verifyAccessToken }, requiredScopes: scopes, resourceMetadataUrl, expectedResource: address,
});
app.all('/mcp', bearer, express.json(), async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server().connect(transport);
  await transport.handleRequest(request, response, request.body);
});
createServer(app).listen(Number(port), '127.0.0.1');
