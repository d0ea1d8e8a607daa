// Compares the requests that toolcrib sends with those that npm `swagger-client` builds. Usage: node wire.mjs PATH/TO/toolcrib
// CHECKOUT [DOCUMENT...]
//
// Operations of the documents are called with all their arguments and with the required ones alone, and the request that
// arrives at a server is compared: method, path, query, headers, cookies, body. `made.mjs` adds documents with every style, place,
// media type and version. The examples of the documents are called, too (`examples.mjs`).
import { basename, resolve } from 'node:path';
import { arrived, built, differences, encoded } from './builder.mjs';
import { checkExamples } from './examples.mjs';
import { METHODS, bestMedia, dereferenced, documents, placeOf, templateOf, tools as readTools } from './documents.mjs';
import { checkMade } from './made.mjs';
import { ENCODED, FILE, randomOf, sample } from './samples.mjs';
import { each, recorder as startRecorder, serving } from './server.mjs';

const [program, checkout, ...named] = process.argv.slice(2).map(path => resolve(path));
const MOST_OPERATIONS = Number(process.env.WIRE_OPERATIONS ?? 200);
const SHOWN = 5;
const SEED = 20260723;

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
/** Where the builder does not write what the specification says. Each compares what both mean. */
const WRONG = {
  'a list in a form is repeated, unless `encoding` says otherwise': (what, expected, got, { operation, media }) =>
    what === 'body' && /urlencoded/.test(media) && !operation.requestBody?.content[media]?.encoding &&
    same(expected.flatMap(pair => pair.split('=')[1].split(',').map(value => `${pair.split('=')[0]}=${value}`)), got),
  'lists and objects within `deepObject` are undefined; servers that have them read `a[]=1` and `a[b][c]=1`': (what, expected, got) =>
    ['query', 'body'].includes(what) && Array.isArray(got) && same(got.map(asPair).map(listless).sort(), expected.map(asPair).flatMap(nested).map(listless).sort()),
  'an object in a multipart body is a part with the type `application/json`, and each item of a list is a part (RFC 7578)': (what, expected, got, { media }) =>
    what === 'body' && /multipart/.test(media) && same(got.map(part => (part.isFile ? part : { ...part, type: undefined })), expected),
};
/** A part of a multipart body as a pair, unless it is a file. */
const asPair = part => (part.name === undefined || part.isFile ? part : encoded(`${encodeURIComponent(part.name)}=${encodeURIComponent(part.content)}`));

/** The pairs of a pair whose value is an object or a list as JSON. */
function nested(pair) {
  if (typeof pair !== 'string') return [pair];
  const [name, text] = pair.split('=');
  const below = (name, value) =>
    value === null ? [] : typeof value === 'object'
      ? Object.entries(value).flatMap(([key, value]) => below(`${name}%5B${encodeURIComponent(key)}%5D`, value))
      : [encoded(`${name}=${encodeURIComponent(String(value))}`)];
  return /^(%7B|%5B)/.test(text ?? '') ? below(name, JSON.parse(decodeURIComponent(text))) : [pair];
}

/** A pair without the signs of a list in its name. */
const listless = pair => {
  if (typeof pair !== 'string') return JSON.stringify(pair);
  const [name, value] = pair.split('=');
  return [name.replaceAll(/%5B\d*%5D/g, ''), value].join('=');
};

/** Operations by method and path, as the tools name them. */
function operationsOf(document) {
  const found = new Map();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item).filter(([method]) => METHODS.includes(method))) {
      const key = `${method.toUpperCase()} ${path.split('#')[0]}`;
      found.set(key, [...(found.get(key) ?? []), { path, item, method, operation }]);
    }
  }
  return found;
}

/** Bytes of a file in place of the text that stands for them. */
const asFile = value => {
  if (Array.isArray(value)) return value.map(asFile);
  const bytes = { [FILE]: ['image/png', FILE.split(',')[1]], [ENCODED]: ['application/octet-stream', ENCODED] }[value];
  return bytes ? new File([Buffer.from(bytes[1], 'base64')], 'file', { type: bytes[0] }) : value;
};

/** The arguments of a tool as a builder wants them: by place, and the body. */
export function request(tool, args, { document, path, item, method, operation }) {
  const { arguments: places = {}, content_type: media } = tool.backend;
  const given = {}, fields = {}, names = [];
  const isOld = document.swagger !== undefined;
  let whole;
  for (const [name, value] of Object.entries(args)) {
    const place = placeOf(tool, name);
    const own = places[name]?.name ?? name;
    if (place === 'whole-body') whole = value;
    else if (place === 'body') fields[own] = value;
    else given[`${place}.${own}`] = value;
    if (place === 'header') names.push(own.toLowerCase());
  }
  const parameters = [...(operation.parameters ?? []), ...(item.parameters ?? [])];
  const hasFields = Object.keys(fields).length > 0;
  const takesFields = !tool.backend.optional_body && !/multipart/.test(media ?? '') && Object.keys(tool.parameters.properties ?? {}).some(name => placeOf(tool, name) === 'body');
  let body = whole ?? (hasFields || takesFields ? fields : undefined);
  const isForm = /multipart/.test(media ?? '');
  if (body === FILE) body = Buffer.from(FILE.split(',')[1], 'base64');
  if (isForm && body && typeof body === 'object') body = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, asFile(value)]));
  if (isOld && body !== undefined) {
    const parameter = parameters.find(parameter => parameter.in === 'body');
    if (parameter) given[`body.${parameter.name}`] = body;
    else for (const [name, value] of Object.entries(body)) given[`formData.${name}`] = value;
  }
  const consumed = media ?? (isOld ? (body === undefined ? undefined : 'application/json') : bestMedia(operation.requestBody?.content));
  return { document, path, item, method, operation, given, body: isOld ? undefined : body, media: body === undefined ? undefined : consumed, names };
}

async function compare(file, tools, toolcrib, random) {
  const document = await dereferenced(file);
  const operations = operationsOf(document);
  const row = { calls: 0, refused: 0, without: 0, excused: new Map(), differences: [] };
  const step = Math.max(1, tools.length / MOST_OPERATIONS);
  const chosen = tools.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
  const calls = chosen.flatMap(tool => [true, false].map(isFull => {
    const args = sample(tool.parameters, tool.parameters, random, isFull);
    return { tool, args };
  }));
  await each(calls, async ({ tool, args }) => {
      const alike = operations.get(`${tool.backend.method} ${templateOf(tool)}`) ?? [];
    const operation = alike.find(({ operation }) => operation.operationId === tool.name) ?? alike[0];
    if (args === undefined || !operation) return void (row.without += 1);
    const { request: sent, answer } = await toolcrib.call(tool.name, args);
    if (!sent) {
      row.refused += 1;
      if (process.env.WIRE_REFUSED) console.log(`    REFUSED ${tool.name} ${JSON.stringify(args).slice(0, 300)}: ${answer.error?.message} ${JSON.stringify(answer.error?.details?.field_errors)?.slice(0, 300)}`);
      return;
    }
    row.calls += 1;
    const asked = request(tool, args, operation && { ...operation, document });
    let expected;
    try {
      expected = await built(asked);
    } catch (error) {
      return void row.differences.push(`${tool.name}: the builder fails: ${error.message}`);
    }
    for (const { what, got, expected: other } of differences(arrived(sent, asked.names), expected)) {
      const excuse = Object.keys(WRONG).find(excuse => WRONG[excuse](what, other, got, asked));
      if (excuse) {
        row.excused.set(excuse, (row.excused.get(excuse) ?? 0) + 1);
        continue;
      }
      row.differences.push(`${tool.name} ${JSON.stringify(args).slice(0, 200)}: ${what}: expected ${JSON.stringify(other)?.slice(0, 400)}, got ${JSON.stringify(got)?.slice(0, 400)}`);
    }
  });
  return row;
}

/** Compares the requests of a document, and calls its examples. */
async function both(file) {
  const { tools } = await readTools(program, file);
  const servers = [...new Set(tools.map(tool => tool.backend.server).filter(Boolean))];
  const toolcrib = await serving(program, file, servers, recorder);
  const requests = await compare(file, tools, toolcrib, randomOf(SEED));
  const examples = await checkExamples(file, tools, toolcrib, randomOf(SEED));
  toolcrib.close();
  return { file, requests, examples };
}

function show(row) {
  for (const [excuse, count] of row.excused ?? []) console.log(`    ${count} where the builder is wrong: ${excuse}`);
  for (const difference of row.differences.slice(0, SHOWN)) console.log(`    DIFFERS ${difference}`);
  if (row.differences.length > SHOWN) console.log(`    and ${row.differences.length - SHOWN} more`);
  failed += row.differences.length;
}

let failed = 0;
const recorder = await startRecorder();
const files = documents(checkout, named), rows = [];
await each([...files.keys()], async at => (rows[at] = await both(files[at])), 2);
console.log('| document | requests compared | refused | without arguments | differ |\n| --- | ---: | ---: | ---: | ---: |');
const report = (name, row) => {
  console.log(`| ${name} | ${row.calls} | ${row.refused} | ${row.without} | ${row.differences.length} |`);
  show(row);
};
for (const { file, requests } of rows) report(basename(file), requests);
await checkMade(program, recorder, report);
console.log('| document | examples | valid | not called | refused |\n| --- | ---: | ---: | ---: | ---: |');
for (const { file, examples: row } of rows) {
  console.log(`| ${basename(file)} | ${row.examples} | ${row.valid} | ${row.without} | ${row.differences.length} |`);
  show(row);
}
recorder.close();
process.exit(failed ? 1 : 0);
