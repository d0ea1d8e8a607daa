// What the official TypeScript clients, version 1 and 2, observe of the server that a command starts, as JSON by place.
//
//     node sdk.mjs VERSION '{"calls": [NAME...], "about": [KEY...]}' COMMAND...

import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';

const [version, asked, command, ...args] = process.argv.slice(2);
const { calls, about } = JSON.parse(asked);
const [Client, Stdio] = version === '1' ? [Client1, Stdio1] : [Client2, Stdio2];
const client = new Client({ name: 'parity', version: '1' }, { versionNegotiation: { mode: 'auto' } });
const seen = asking => asking.then(answer => answer, problem => ({ raised: problem.name, code: problem.code, message: problem.message }));

await client.connect(new Stdio({ command, args, stderr: 'ignore' }));
// The client checks results against the schemas that it has listed.
const { tools } = await client.listTools();
const places = Object.fromEntries(tools.map(tool => [`tools/${tool.name}`, tool]));
for (const name of calls) places[`call/${name}`] = await seen(client.callTool({ name, arguments: {} }));
places['resources/read'] = await seen(client.readResource({ uri: 'own://a' }));
places['prompts/get'] = await seen(client.getPrompt({ name: 'p', arguments: { x: '1' } }));
for (const key of about) places[`about/${key}`] = client.getServerVersion()[key] ?? null;
console.log(JSON.stringify(places));
await client.close();
process.exit(0);
