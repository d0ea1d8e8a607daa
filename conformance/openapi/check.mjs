// Compares the tools of real OpenAPI documents with what an independent parser reads: operation by operation and argument by
// argument. Usage: node check.mjs PATH/TO/toolcrib CHECKOUT [DOCUMENT...]
//
// An argument is its place in the request, its name there, its type, and whether it is required. A document that is named
// is compared in addition to those of `documents.json`.
import { basename, resolve } from 'node:path';
import { METHODS, bestMedia, dereferenced, documents, placeOf, templateOf, tools as readDefinitions } from './documents.mjs';
import { each } from './server.mjs';

const [program, project, ...named] = process.argv.slice(2).map(path => resolve(path));
/** Headers that the body, the answer or the configuration sets. */
const IGNORED = ['accept', 'content-type', 'authorization'];
const SHOWN = 5;

/** The schema that a `$ref` of a circular document, or of a tool, leads to; also from a choice between it and null. */
function resolved(schema, root) {
  for (let hops = 0; hops < 32; hops += 1) {
    const choices = schema?.anyOf?.filter(choice => choice.type !== 'null');
    if (choices?.length === 1 && choices.length < schema.anyOf.length) schema = choices[0];
    if (typeof schema?.$ref !== 'string') break;
    const path = decodeURIComponent(schema.$ref.slice(1)).split('/').slice(1).map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    schema = path.reduce((value, part) => value?.[part], root);
  }
  return schema ?? {};
}

/** The properties of an object, those of its `allOf`s too, each with whether it is required. */
function properties(schema, root, all = new Map(), depth = 0) {
  schema = resolved(schema, root);
  if (depth > 24) return all;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const whole = resolved(property, root);
    all.set(name, { schema: whole, hidden: property.readOnly === true || whole.readOnly === true, required: all.get(name)?.required });
  }
  for (const member of schema.allOf ?? []) properties(member, root, all, depth + 1);
  // A name may be required and no property.
  for (const name of Array.isArray(schema.required) ? schema.required : []) all.set(name, { schema: {}, ...all.get(name), required: true });
  return depth > 0 ? all : new Map([...all].filter(([, property]) => !property.hidden));
}

/** The types of a schema, without null; empty where it does not say one. */
function types(schema, root) {
  const { type, enum: values } = resolved(schema, root);
  // Where no value has the type, no call would be valid, and the values decide.
  if (type === 'string' && Array.isArray(values) && values.length > 0 && values.every(Number.isInteger)) return 'integer';
  return [type].flat().filter(word => typeof word === 'string' && word !== 'null').map(word => (word === 'file' ? 'string' : word)).sort().join();
}

function readDocument(document) {
  const schemes = Object.values(document.components?.securitySchemes ?? document.securityDefinitions ?? {});
  const secrets = schemes.filter(scheme => scheme.type === 'apiKey').map(scheme => `${scheme.in} ${scheme.name}`);
  const operations = [];
  for (const [path, item] of Object.entries(document.paths).filter(([path]) => path.startsWith('/') || !path.startsWith('x-'))) {
    for (const [method, operation] of Object.entries(item).filter(([method]) => METHODS.includes(method.toLowerCase()))) {
      operations.push(readOperation(document, path, item, method.toUpperCase(), operation, secrets));
    }
  }
  return operations;
}

function readOperation(document, path, item, method, operation, secrets) {
  const args = new Map();
  const add = (place, name, schema, required) => args.set(`${place} ${name}`, { types: types(schema, document), required: Boolean(required) });
  const parameters = new Map();
  for (const parameter of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) parameters.set(`${parameter.in} ${parameter.name}`, parameter);
  const variables = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
  for (const name of variables) if (!parameters.has(`path ${name}`)) add('path', name, { type: 'string' }, true);
  let body;
  for (const [key, parameter] of parameters) {
    const schema = parameter.schema ?? Object.values(parameter.content ?? {})[0]?.schema ?? parameter;
    if (parameter.in === 'body') body = { schema: parameter.schema, required: parameter.required };
    else if (parameter.in === 'formData') add('body', parameter.name, parameter, parameter.required);
    else if (parameter.in === 'header' && IGNORED.includes(parameter.name.toLowerCase())) continue;
    else if (secrets.includes(key) || (parameter.in === 'path' && !variables.includes(parameter.name))) continue;
    else add(parameter.in, parameter.name, schema, parameter.in === 'path' || parameter.required);
  }
  const media = bestMedia(operation.requestBody?.content);
  if (media) body = { schema: operation.requestBody.content[media].schema ?? {}, required: operation.requestBody.required };
  return { key: `${method} ${path.split('#')[0]}`, id: operation.operationId, method, args, body: body && { ...body, root: document } };
}

function readTools(tools) {
  const byKey = new Map();
  for (const tool of tools) {
    const { method, arguments: places = {} } = tool.backend;
    const key = `${method} ${templateOf(tool)}`;
    const args = new Map();
    let whole;
    for (const [name, schema] of Object.entries(tool.parameters.properties ?? {})) {
      const place = placeOf(tool, name);
      const required = Boolean(tool.parameters.required?.includes(name));
      if (place === 'whole-body') whole = { schema, required };
      else args.set(`${place} ${places[name]?.name ?? name}`, { types: types(schema, tool.parameters), required });
    }
    byKey.set(key, [...(byKey.get(key) ?? []), { name: tool.name, args, whole, root: tool.parameters }]);
  }
  return byKey;
}

/** Adds the properties of a body: to the arguments of a tool that has them there, else those of its whole body. */
function withBody(operation, tool) {
  const expect = new Map(operation.args), got = new Map(tool.args);
  if (!operation.body) return [expect, got];
  const { schema, root, required } = operation.body;
  const written = properties(schema, root);
  if (!tool.whole) {
    for (const [name, property] of written) {
      expect.set(`body ${name}`, { types: types(property.schema, root), required: Boolean(property.required) && required !== false });
    }
    return [expect, got];
  }
  expect.set('whole body', { types: types(schema, root), required: required === true });
  got.set('whole body', { types: types(tool.whole.schema, tool.root), required: tool.whole.required });
  for (const [name, property] of written) expect.set(`in body ${name}`, { types: types(property.schema, root), required: Boolean(property.required) });
  for (const [name, property] of properties(tool.whole.schema, tool.root)) {
    got.set(`in body ${name}`, { types: types(property.schema, tool.root), required: Boolean(property.required) });
  }
  return [expect, got];
}

async function compare(file) {
  const { tools: definitions, seconds } = await readDefinitions(program, file);
  const tools = readTools(definitions);
  const document = await dereferenced(file);
  const row = { operations: 0, of: 0, args: 0, ofArgs: 0, writes: 0, ofWrites: 0, seconds, differences: [] };
  for (const operation of readDocument(document)) {
    row.of += 1;
    const alike = tools.get(operation.key) ?? [];
    const [tool] = alike.splice(Math.max(0, alike.findIndex(tool => tool.name === operation.id)), 1);
    if (!tool) {
      row.differences.push(`${operation.key}: no tool`);
      continue;
    }
    row.operations += 1;
    const [expect, got] = withBody(operation, tool);
    const writes = operation.body !== undefined || [...expect.keys()].some(key => key.startsWith('body '));
    const differ = [...new Set([...expect.keys(), ...got.keys()])].filter(key => {
      const [one, other] = [expect.get(key), got.get(key)];
      row.ofArgs += 1;
      return !one || !other || one.required !== other.required || (one.types && one.types !== other.types);
    });
    row.args += Math.max(expect.size, got.size, differ.length) - differ.length;
    if (writes && !['GET', 'HEAD'].includes(operation.method)) {
      row.ofWrites += 1;
      row.writes += [...got.keys()].some(key => /^(in |whole )?body/.test(key)) || expect.size === got.size ? 1 : 0;
    }
    const shown = key => `${key}: expected ${JSON.stringify(expect.get(key))}, got ${JSON.stringify(got.get(key))}`;
    row.differences.push(...differ.map(key => `${operation.key}: ${shown(key)}`));
  }
  for (const left of [...tools.values()].flat()) row.differences.push(`${left.name}: a tool without an operation`);
  return row;
}

let failed = 0;
console.log('| document | operations | arguments | writes with a body | seconds |\n| --- | ---: | ---: | ---: | ---: |');
const files = documents(project, named), rows = [];
await each([...files.keys()], async at => (rows[at] = await compare(files[at])), 2);
for (const [at, file] of files.entries()) {
  const row = rows[at];
  const cells = [`${row.operations} of ${row.of}`, `${row.args} of ${row.ofArgs}`, `${row.writes} of ${row.ofWrites}`, row.seconds.toFixed(1)];
  console.log(`| ${[basename(file), ...cells].join(' | ')} |`);
  for (const difference of row.differences.slice(0, SHOWN)) console.log(`    DIFFERS ${difference}`);
  if (row.differences.length > SHOWN) console.log(`    and ${row.differences.length - SHOWN} more`);
  failed += row.differences.length;
}
process.exit(failed ? 1 : 0);
