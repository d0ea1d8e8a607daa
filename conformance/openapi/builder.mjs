// Requests as npm `swagger-client` builds them, and requests that arrived, in one form in which both can be compared.
import SwaggerClient from 'swagger-client';

/** Percent-encoding in one form: unreserved characters plain, hexadecimal digits in capitals. */
export const encoded = text =>
  text.replace(/%[0-9a-f]{2}/gi, triplet => {
    const character = String.fromCharCode(parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase();
  }).replace(/[|'!*()]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Pairs of a query or form. The order of names says nothing; that of equal names does. */
const pairs = text => {
  const all = text.split('&').filter(Boolean).map(pair => encoded(pair.replaceAll('+', '%20')));
  const name = pair => pair.split('=')[0];
  return all.sort((one, other) => (name(one) < name(other) ? -1 : name(one) > name(other) ? 1 : 0));
};

const header = text => Buffer.from(text, 'latin1').toString('utf8');

/** The parts of a multipart body, with their bytes. */
function parts(body, boundary) {
  const text = body.toString('latin1');
  return text.split(`--${boundary}`).slice(1, -1).map(part => {
    const [head, ...content] = part.slice(2, -2).split('\r\n\r\n');
    const field = pattern => pattern.exec(head)?.[1];
    return {
      name: header(field(/name="([^"]*)"/) ?? ''),
      isFile: /; filename="/.test(head),
      type: field(/content-type: *(\S[^\r\n]*)/i),
      content: content.join('\r\n\r\n'),
    };
  });
}

/** A request that a server got. `names` are the headers that come from arguments. */
export function arrived({ method, url, headers, body }, names) {
  const [path, query = ''] = url.split(/\?(.*)/s);
  const type = headers['content-type'];
  const media = type?.split(';')[0];
  const form = {
    method, path: encoded(path), query: pairs(query), headers: {}, type: media,
    cookies: (headers.cookie ?? '').split('; ').filter(Boolean).sort(),
    length: ['POST', 'PUT', 'PATCH'].includes(method) && body.length === 0 ? headers['content-length'] : undefined,
  };
  for (const name of names) if (headers[name] !== undefined) form.headers[name] = header(headers[name]);
  if (type !== undefined) form.body = content(media, body, /boundary=(.*)$/.exec(type)?.[1]);
  return form;
}

function content(media, body, boundary) {
  if (media === 'multipart/form-data') return parts(body, boundary);
  if (media === 'application/x-www-form-urlencoded') return pairs(body.toString());
  if (/json$/.test(media)) return body.length ? JSON.parse(body) : undefined;
  return body.toString('latin1');
}

/** The request that swagger-client builds. `given` are values by `place.name`, and `body` is the body. */
export async function built({ document, path, item, method, operation, given, body, media, names }) {
  // What follows `#` is no part of an address, and credentials are no arguments.
  const secrets = Object.values(document.components?.securitySchemes ?? document.securityDefinitions ?? {}).filter(scheme => scheme.type === 'apiKey');
  const isArgument = parameter => !secrets.some(secret => secret.in === parameter.in && secret.name === parameter.name);
  const one = { ...operation, operationId: 'one', parameters: operation.parameters?.filter(isArgument) };
  path = path.split('#')[0];
  // A range of media types is no type of a request.
  if (media === '*/*') {
    media = 'application/json';
    one.requestBody = { ...operation.requestBody, content: { [media]: operation.requestBody?.content['*/*'] } };
    one.consumes = [media];
  }
  const spec = { ...document, servers: undefined, host: 'x.example', schemes: ['http'], basePath: '', paths: { [path]: { parameters: item.parameters?.filter(isArgument), [method.toLowerCase()]: one } } };
  const request = SwaggerClient.buildRequest({
    spec, operationId: 'one', parameters: given, requestBody: body, requestContentType: media, baseURL: 'http://x.example/base', attachContentTypeForEmptyPayload: false,
  });
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  // It leaves out empty texts, which `allowEmptyValue` is not needed for.
  const isEmpty = ([key, value]) => key.startsWith('query.') && value === '';
  const empty = Object.entries(given).filter(isEmpty).map(([key]) => `${encodeURIComponent(key.slice('query.'.length))}=`);
  const [place, query = ''] = request.url.slice('http://x.example'.length).split(/\?(.*)/s);
  const type = request.body === undefined ? undefined : (headers['content-type'] ?? 'application/json').split(';')[0];
  const form = {
    method: request.method.toUpperCase(), path: encoded(place), query: pairs([query, ...empty].join('&')), headers: {}, type,
    cookies: (headers.cookie ?? '').split('; ').filter(Boolean).sort(),
    length: ['POST', 'PUT', 'PATCH'].includes(request.method.toUpperCase()) && request.body === undefined ? '0' : undefined,
  };
  for (const name of names) if (headers[name] !== undefined) form.headers[name] = headers[name];
  if (request.body instanceof FormData) {
    form.body = await Promise.all([...request.body].map(async ([name, value]) => {
      if (typeof value === 'string') return { name, isFile: false, type: undefined, content: Buffer.from(value).toString('latin1') };
      // The builder writes a field with a type as a file of this name.
      const isFile = value.name !== 'blob';
      return { name, isFile, type: value.type, content: Buffer.from(await value.arrayBuffer()).toString('latin1') };
    }));
  } else if (type !== undefined) {
    form.body = type === 'application/x-www-form-urlencoded' ? pairs(request.body)
      : /json$/.test(type) ? request.body
      : Buffer.from(Buffer.isBuffer(request.body) ? request.body : String(request.body)).toString('latin1');
  }
  return form;
}

/** What differs between two requests. */
export function differences(got, expected) {
  const shown = value => JSON.stringify(value, (_, inner) => (inner && typeof inner === 'object' && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner));
  return Object.keys(expected).filter(key => shown(got[key]) !== shown(expected[key]))
    .map(key => ({ what: key, got: got[key], expected: expected[key] }));
}
