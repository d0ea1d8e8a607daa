// Checks that toolcrib refuses no example of a request that its document's own schema accepts. Examples of bodies and parameters are
// judged by `ajv`, without formats, and then called, each as a dry run.
import { createRequire } from 'node:module';
import { METHODS, bestMedia, parsed, placeOf, templateOf } from './documents.mjs';
import { sample } from './samples.mjs';
import { each } from './server.mjs';

const Ajv = createRequire(import.meta.url)('ajv/dist/2020').default;
const DOCUMENT = 'https://x.example/document';

/** A schema of any version of OpenAPI as one of JSON Schema, without the keys that only describe. */
function judged(schema) {
  if (Array.isArray(schema)) return schema.map(judged);
  if (schema === null || typeof schema !== 'object') return schema;
  const { example, examples, default: usual, $ref, ...rest } = schema;
  const out = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, ['enum', 'const'].includes(key) ? value : judged(value)]));
  for (const [word, bound] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']]) {
    if (typeof out[word] === 'boolean') out[word] ? ((out[word] = out[bound]), delete out[bound]) : delete out[word];
  }
  for (const [key, value] of Object.entries({ example, examples, default: usual })) if (value && typeof value === 'object' && isSchema(value)) out[key] = judged(value);
  if (typeof $ref === 'string') out.$ref = $ref.startsWith('#') ? DOCUMENT + $ref : $ref;
  return out;
}

/** Whether a value below the name `example` is the schema of a property of that name. */
const isSchema = value => ['type', '$ref', 'allOf', 'oneOf', 'anyOf'].some(word => typeof value[word] === 'string' || Array.isArray(value[word]));

/** A judge of examples: whether one fits its own schema. */
function judge(document) {
  const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false, logger: false, inlineRefs: false });
  ajv.addSchema(judged({ components: { schemas: document.components?.schemas }, definitions: document.definitions }), DOCUMENT);
  const known = new Map();
  return ({ value, schema, schemaAt }) => {
    try {
      if (!known.has(schemaAt)) known.set(schemaAt, ajv.compile(judged(schema)));
      return known.get(schemaAt)(value);
    } catch {
      // It refers to what is no schema of the document.
      known.set(schemaAt, () => false);
      return false;
    }
  };
}

const pointer = (...steps) => steps.map(step => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** A value behind its `$ref`s, and its pointer. */
function followed(document, value, at) {
  for (let hops = 0; typeof value?.$ref === 'string' && hops < 16; hops += 1) {
    at = decodeURIComponent(value.$ref.slice(1));
    value = at.split('/').slice(1).reduce((value, step) => value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  }
  return [value, at];
}

/** The examples of a parameter or a media type: its own, else those of its schema. */
function examplesOf(document, owner, at) {
  const { name, in: place, required, description, ...parameter } = owner;
  const own = owner.schema ?? parameter;
  const [schema] = followed(document, own, at);
  const listed = Object.values(owner.examples ?? {}).map(example => followed(document, example, '')[0]?.value);
  const all = [owner.example, ...listed, schema?.example, owner['x-example'], ...(Array.isArray(schema?.examples) ? schema.examples : [])];
  return all.filter(value => value !== undefined).map(value => ({ value, schema: own, schemaAt: at }));
}

/** The examples of an operation, each with its place: `place name`, or `body`. */
function* examples(document, path, item, method, operation) {
  const lists = [[item.parameters, ['paths', path, 'parameters']], [operation.parameters, ['paths', path, method, 'parameters']]];
  for (const [list, steps] of lists) {
    for (const [index, one] of (list ?? []).entries()) {
      const [parameter, at] = followed(document, one, pointer(...steps, index));
      if (!parameter || parameter.content) continue;
      const key = parameter.in === 'body' ? 'body' : `${parameter.in === 'formData' ? 'body' : parameter.in} ${parameter.name}`;
      for (const example of examplesOf(document, parameter, at)) yield { key, ...example };
    }
  }
  const [body, at] = followed(document, operation.requestBody, pointer('paths', path, method, 'requestBody'));
  const media = bestMedia(body?.content);
  if (media && /json|form/.test(media)) {
    for (const example of examplesOf(document, body.content[media], `${at}/content${pointer(media)}`)) yield { key: 'body', ...example };
  }
}

/** The arguments of a call with an example in its place; `undefined` where the tool has no such argument. */
function withExample(tool, base, { key, value }) {
  const names = Object.keys(tool.parameters.properties ?? {});
  const keyOf = name => `${placeOf(tool, name)} ${tool.backend.arguments?.[name]?.name ?? name}`;
  if (key !== 'body') {
    const name = names.find(name => keyOf(name) === key);
    return name && { ...base, [name]: value };
  }
  const whole = names.find(name => placeOf(tool, name) === 'whole-body');
  if (whole) return { ...base, [whole]: value };
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const others = Object.entries(base).filter(([name]) => placeOf(tool, name) !== 'body');
  const fields = Object.entries(value).map(([field, value]) => [names.find(name => keyOf(name) === `body ${field}`) ?? field, value]);
  return { ...Object.fromEntries(others), ...Object.fromEntries(fields) };
}

/** Calls all examples of a document through toolcrib, which serves it. */
export async function checkExamples(file, tools, toolcrib, random) {
  const document = await parsed(file);
  const isValid = judge(document);
  const row = { examples: 0, valid: 0, without: 0, differences: [] };
  const calls = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item).filter(([method]) => METHODS.includes(method))) {
      const tool = tools.find(tool => tool.name === operation.operationId) ?? tools.find(tool => `${tool.backend.method} ${templateOf(tool)}` === `${method.toUpperCase()} ${path}`);
      if (!tool) continue;
      for (const example of examples(document, path, item, method, operation)) calls.push({ tool, example });
    }
  }
  await each(calls, async ({ tool, example }) => {
    row.examples += 1;
    if (!isValid(example)) return;
    const base = sample(tool.parameters, tool.parameters, random, false);
    const args = base && withExample(tool, base, example);
    if (!args) return void (row.without += 1);
    const { answer } = await toolcrib.call(tool.name, args, true);
    row.valid += 1;
    if (answer.ok) return;
    // What is refused without the example, too, is not refused for it.
    if (!(await toolcrib.call(tool.name, base, true)).answer.ok) return void (row.without += 1);
    row.differences.push(`${tool.name} ${example.key} ${JSON.stringify(example.value).slice(0, 300)}: ${answer.error?.message} ${JSON.stringify(answer.error?.details?.field_errors ?? '').slice(0, 300)}`);
  });
  return row;
}
