// Documents made for the check: every style, place, media type and version, with the request that each call becomes.
//
// A case is a parameter or a body, the values of a call, and where the builder is wrong, what the specification says (`wire`) and
// why. A reason without a need is a failure too.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arrived, built, differences } from './builder.mjs';
import { FILE } from './samples.mjs';
import { each, serving } from './server.mjs';

const list = { type: 'array', items: { type: 'string' } };
const object = { type: 'object', properties: { R: { type: 'integer' }, G: { type: 'string' } } };
const text = { type: 'string' };
const LIST = ['blue', 'a b', 'x,y'];
const OBJECT = { R: 100, G: 'a b' };
const TEXT = 'a b/c';

/** Where the builder does not write what the specification says. */
const WRONG = {
  label: '`label` without `explode` has commas, as `{.x}` of RFC 6570: tables before 3.0.4 and 3.1.1 had another sign',
  escaping: 'a value in a cookie is percent-encoded by the style `form`',
  names: 'the name of a cookie of the style `form` is not repeated for its parts, or is left out',
  cookies: 'the style `cookie` is not known',
  query: '`querystring` is not known',
  strings: 'a text in JSON has quotes',
  reserved: '`&`, `+`, `#`, `[` and `]` would end the value or change it, and stay encoded',
  old: 'Swagger 2.0: `collectionFormat` is read in queries and forms alone',
  parts: 'each item of a list is a part of its own (RFC 7578)',
  json: 'an object is a part with the type `application/json`',
  base64: 'base64 becomes bytes',
  null: 'a body may be `null`',
};

const parameter = (place, name, schema, value, more = {}, wire = undefined, why = undefined) => ({ place, name, schema, value, more, wire, why });

function parameters() {
  const cases = [];
  const kinds = [['list', list, LIST], ['object', object, OBJECT], ['text', text, TEXT]];
  for (const [kind, schema, value] of kinds) {
    for (const explode of [undefined, true, false]) {
      const more = explode === undefined ? {} : { explode };
      for (const style of [undefined, 'simple', 'label', 'matrix']) {
        const isWrong = style === 'label' && kind !== 'text' && !explode;
        const wire = isWrong ? { path: kind === 'list' ? '/base/.blue,a%20b,x%2Cy' : '/base/.R,100,G,a%20b' } : undefined;
        cases.push(parameter('path', 'p', schema, value, { ...more, ...(style && { style }) }, wire, isWrong ? 'label' : undefined));
      }
      for (const style of [undefined, 'form']) cases.push(parameter('query', 'q', schema, value, { ...more, ...(style && { style }) }));
      cases.push(parameter('header', 'X-H', schema, value, more));
    }
    for (const style of ['spaceDelimited', 'pipeDelimited'].filter(() => kind === 'list')) cases.push(parameter('query', 'q', schema, value, { style, explode: false }));
    if (kind === 'object') cases.push(parameter('query', 'q', schema, value, { style: 'deepObject', explode: true }));
    const json = { content: { 'application/json': { schema } } };
    if (kind !== 'text') for (const place of ['path', 'query', 'header']) cases.push(parameter(place, place === 'header' ? 'X-H' : 'p', schema, value, json));
  }
  const inline = { anyOf: [{ type: 'string' }, object] };
  for (const schema of [inline, { oneOf: inline.anyOf }, { allOf: [object] }]) cases.push(parameter('query', 'q', schema, OBJECT));
  cases.push(parameter('query', 'q', text, 'a/b:c?d=e', { allowReserved: true }), parameter('cookie', 'c', text, 'a;b'));
  return cases;
}

function exceptions() {
  const json = { content: { 'application/json': { schema: text } } };
  return [
    parameter('path', 'p', text, 'a', json, { path: '/base/%22a%22' }, 'strings'),
    parameter('query', 'q', text, 'a&b#c', { allowReserved: true }, { query: ['q=a%26b%23c'] }, 'reserved'),
    parameter('cookie', 'c', list, LIST, {}, { cookies: ['c=blue,a%20b,x%2Cy'] }, 'names'),
    parameter('cookie', 'c', object, OBJECT, { explode: false }, { cookies: ['c=R,100,G,a%20b'] }, 'names'),
    parameter('cookie', 'c', object, OBJECT, { explode: true }, { cookies: ['G=a%20b', 'R=100'] }, 'names'),
    parameter('cookie', 'c', object, OBJECT, { content: { 'application/json': { schema: object } } }, { cookies: ['c=%7B%22R%22%3A100%2C%22G%22%3A%22a%20b%22%7D'] }, 'escaping'),
  ];
}

function newer() {
  return [
    parameter('cookie', 'c', list, ['blue', 'a/b'], { style: 'cookie' }, { cookies: ['c=a/b', 'c=blue'] }, 'cookies'),
    parameter('cookie', 'c', object, { R: 100, G: 'x' }, { style: 'cookie', explode: true }, { cookies: ['G=x', 'R=100'] }, 'cookies'),
    parameter('cookie', 'c', text, 'a%20b=', { style: 'cookie' }, { cookies: ['c=a%20b='] }, 'cookies'),
    parameter('querystring', 'q', object, OBJECT, { content: { 'application/x-www-form-urlencoded': { schema: object } } }, { query: ['G=a%20b', 'R=100'] }, 'query'),
    parameter('querystring', 'q', object, OBJECT, { content: { 'application/json': { schema: object } } }, { query: ['%7B%22R%22%3A100%2C%22G%22%3A%22a%20b%22%7D'] }, 'query'),
  ];
}

function older() {
  const lists = [];
  for (const collectionFormat of [undefined, 'csv', 'ssv', 'tsv', 'pipes', 'multi']) {
    const between = { ssv: ' ', tsv: '\t', pipes: '|' }[collectionFormat] ?? ',';
    const more = { ...list, ...(collectionFormat && { collectionFormat }) };
    const parts = ['blue', 'a,b'].map(encodeURIComponent);
    lists.push(parameter('query', 'q', undefined, ['blue', 'a,b'], more));
    lists.push(parameter('formData', 'f', undefined, ['blue', 'a,b'], more));
    if (collectionFormat === 'multi') continue;
    const joined = parts.join(between === ',' ? ',' : encodeURIComponent(between));
    lists.push(parameter('path', 'p', undefined, ['blue', 'a,b'], more, { path: `/base/${joined}` }, 'old'));
    lists.push(parameter('header', 'X-H', undefined, ['blue', 'a'], more, between === ',' ? undefined : { headers: { 'x-h': ['blue', 'a'].join(between) } }, between === ',' ? undefined : 'old'));
  }
  return lists;
}

const body = (media, schema, value, more = {}, wire = undefined, why = undefined) => ({ media, schema, value, more, wire, why });

function bodies() {
  const form = 'application/x-www-form-urlencoded', multipart = 'multipart/form-data';
  const fields = properties => ({ type: 'object', properties });
  const png = Buffer.from(FILE.split(',')[1], 'base64');
  const upload = (schema, name = 'f') => [fields({ [name]: schema, t: text }), { [name]: FILE, t: 'x' }];
  const bytes = png.toString('latin1');
  const part = (name, content, type, isFile = false) => ({ name, isFile, ...(type && { type }), content });
  return [
    body('application/json', fields({ a: text, l: list, o: object }), { a: 'é', l: LIST, o: OBJECT }),
    body('application/merge-patch+json', fields({ a: { type: 'string', nullable: true } }), { a: null }),
    body('application/json', list, LIST),
    body('application/json', { anyOf: [{ type: 'null' }, object] }, null, { required: true }, { type: 'application/json', body: null }, 'null'),
    body('application/json', { ...fields({ a: text }), required: ['a'] }, undefined, { required: false }),
    body('application/json', fields({ n: { type: 'number' } }), { n: 1e21 }),
    body(form, fields({ a: text, l: list }), { a: TEXT, l: ['b', 'c d'] }, { encoding: { l: { style: 'form', explode: true } } }),
    body(form, fields({ l: list }), { l: ['b', 'c'] }, { encoding: { l: { style: 'form', explode: false } } }),
    body(form, fields({ l: list }), { l: ['b', 'c'] }, { encoding: { l: { style: 'pipeDelimited', explode: false } } }),
    body(form, fields({ o: object }), { o: OBJECT }, { encoding: { o: { style: 'deepObject', explode: true } } }),
    body(form, fields({ o: object }), { o: OBJECT }, { encoding: { o: { contentType: 'application/json' } } }),
    body(form, fields({ a: text }), { a: 'x/y:z' }, { encoding: { a: { allowReserved: true } } }),
    body(multipart, ...upload({ type: 'string', format: 'binary' })),
    body(multipart, ...upload({ type: 'string', contentMediaType: 'image/png' })),
    body(multipart, ...upload({ type: 'string', format: 'byte' })),
    body(multipart, ...upload({ type: 'string', contentEncoding: 'base64' })),
    body(multipart, ...upload({ anyOf: [{ type: 'string', contentMediaType: 'application/octet-stream' }, { type: 'null' }] })),
    body(multipart, fields({ f: { type: 'array', items: { type: 'string', format: 'binary' } } }), { f: [FILE, FILE] }),
    body(multipart, fields({ f: { type: 'string', format: 'base64' } }), { f: png.toString('base64') }, {}, { body: [part('f', bytes, 'application/octet-stream', true)] }, 'base64'),
    body(multipart, fields({ f: { type: 'string', contentMediaType: 'image/png' } }), { f: png.toString('base64') }, {}, { body: [part('f', bytes, 'image/png', true)] }, 'base64'),
    body(multipart, fields({ a: text }), { a: '<b/>' }, { encoding: { a: { contentType: 'text/xml' } } }),
    body(multipart, fields({ o: object }), { o: OBJECT }, { encoding: { o: { contentType: 'application/json' } } }),
    body(multipart, fields({ o: object }), { o: OBJECT }, {}, { body: [part('o', JSON.stringify(OBJECT), 'application/json')] }, 'json'),
    body(multipart, fields({ l: list }), { l: ['b', 'c'] }, {}, { body: [part('l', 'b'), part('l', 'c')] }, 'parts'),
    body(multipart, fields({ l: list }), { l: ['b', 'c d'] }, { encoding: { l: { style: 'form', explode: false } } }),
    body(multipart, fields({ f: { type: 'string', format: 'binary' } }), { f: FILE }, { encoding: { f: { contentType: 'image/jpeg, image/png' } } }),
    body('application/octet-stream', { type: 'string', format: 'binary' }, FILE, {}, { body: bytes }, 'base64'),
    body('application/octet-stream', { type: 'string', contentEncoding: 'base64' }, png.toString('base64'), {}, { body: bytes }, 'base64'),
    body('image/png', { type: 'string', contentEncoding: 'base64' }, png.toString('base64')),
    body('text/csv', text, 'a,b\n1,2\n'),
    body('application/xml', text, '<a/>'),
    ...['POST', 'PUT', 'PATCH', 'DELETE'].map(method => body(undefined, undefined, undefined, { method })),
  ];
}

/** A document with one operation for each case. */
function documentOf(version, cases) {
  const paths = {};
  cases.forEach((one, index) => {
    const method = one.more.method?.toLowerCase() ?? (one.place === undefined || one.place === 'formData' ? 'post' : 'get');
    const path = one.place === 'path' ? `/case${index}/{p}` : `/case${index}`;
    const { method: _, required, encoding, ...more } = one.more;
    const parameters = one.place && [{ in: one.place, name: one.name, required: one.place === 'path', ...(one.schema && !more.content && { schema: one.schema }), ...more }];
    const content = one.media && { [one.media]: { schema: one.schema, ...(encoding && { encoding }) } };
    const operation = { operationId: `case${index}`, summary: 'A case.', responses: {}, ...(parameters && { parameters }) };
    if (content) operation.requestBody = { content, ...(required !== undefined && { required }) };
    if (one.place === 'formData') operation.consumes = ['application/x-www-form-urlencoded'];
    paths[path] = { [method]: operation };
  });
  return { ...(version === '2.0' ? { swagger: version } : { openapi: version }), info: { title: 'Made', version: '1' }, paths };
}

/** A builder gets bytes where a call has the text that stands for them. */
const asFile = value => {
  if (Array.isArray(value)) return value.map(asFile);
  return value === FILE ? new File([Buffer.from(FILE.split(',')[1], 'base64')], 'f', { type: 'image/png' }) : value;
};

async function check(version, cases, program, recorder) {
  const folder = mkdtempSync(join(tmpdir(), 'made-'));
  const document = documentOf(version, cases);
  const file = join(folder, 'made.json');
  writeFileSync(file, JSON.stringify(document));
  const toolcrib = await serving(program, file, [], recorder);
  const row = { calls: 0, refused: 0, without: 0, differences: [] };
  const operations = Object.entries(document.paths);
  await each(cases.map((one, index) => [one, ...operations[index]]), async ([one, path, item]) => {
    const [[method, operation]] = Object.entries(item);
    const isWhole = one.media && !(one.value && typeof one.value === 'object' && !Array.isArray(one.value));
    const args = one.place ? { [one.name]: one.value } : isWhole && one.value !== undefined ? { body: one.value } : (one.value ?? {});
    const { request, answer } = await toolcrib.call(operation.operationId, args);
    const name = `${version} ${JSON.stringify({ ...one, schema: undefined, why: undefined }).slice(0, 160)}`;
    if (!request) return void row.differences.push(`${name}: refused: ${answer.error?.message} ${JSON.stringify(answer.error?.details?.field_errors ?? '')}`);
    row.calls += 1;
    const names = one.place === 'header' ? [one.name.toLowerCase()] : [];
    const isForm = /form/.test(one.media ?? '');
    const value = isForm && one.value ? Object.fromEntries(Object.entries(one.value).map(([name, value]) => [name, asFile(value)])) : one.value;
    let expected = {}, fails;
    try {
      expected = await built({
        document, path, item, method, operation, names, media: one.value === undefined ? undefined : one.media,
        given: one.place ? { [`${one.place}.${one.name}`]: one.value } : {}, body: one.media ? value : undefined,
      });
    } catch (error) {
      fails = `the builder fails: ${error.message}`;
    }
    const got = arrived(request, names);
    got.path = got.path.replace(/\/case\d+/, '');
    if (expected.path) expected.path = expected.path.replace(/\/case\d+/, '');
    const own = differences(got, expected);
    if (one.wire) {
      for (const { what, got: is, expected: other } of differences(got, one.wire)) row.differences.push(`${name}: ${what}: expected ${JSON.stringify(other)}, got ${JSON.stringify(is)}`);
      if (own.length === 0 && !fails) row.differences.push(`${name}: the builder is right, so "${WRONG[one.why]}" is no reason`);
      return;
    }
    if (fails) row.differences.push(`${name}: ${fails}`);
    for (const { what, got: is, expected: other } of own) row.differences.push(`${name}: ${what}: expected ${JSON.stringify(other)}, got ${JSON.stringify(is)}`);
  });
  toolcrib.close();
  rmSync(folder, { recursive: true });
  return row;
}

/** Checks all made documents. */
export async function checkMade(program, recorder, report) {
  const documents = [['3.0.3', [...parameters(), ...exceptions(), ...bodies()]], ['3.1.0', [...parameters(), ...bodies()]], ['3.2.0', newer()], ['2.0', older()]];
  for (const [version, cases] of documents) report(`made, ${version}`, await check(version, cases, program, recorder));
}
