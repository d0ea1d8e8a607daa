// Values that fit a schema, drawn by a seeded generator: the same in every run. Texts have the characters that addresses,
// forms and headers encode.
const TEXTS = ['plain', 'two words', 'a/b?c=d&e', 'ü 日', '50%', 'x+y;z', 'q"\'<>', 'comma, dot.'];
const FORMATS = {
  date: '2026-07-23', 'date-time': '2026-07-23T10:20:30Z', time: '10:20:30Z', uuid: '9f8c1a52-4b0e-4a56-9a53-6a3bd2f0c1de', uri: 'https://a.example/b?c=d',
  url: 'https://a.example/b', email: 'a@b.example', ipv4: '192.0.2.1', ipv6: '2001:db8::1', hostname: 'a.example', duration: 'P1D', byte: 'AP+ACgECAwQ=', base64: 'AP+ACgECAwQ=',
};
/** Bytes in base64. */
export const ENCODED = FORMATS.base64;
/** A file that is no text, as arguments have it. */
export const FILE = 'data:image/png;base64,iVBORw0KGgoAAP+A';

/** A generator of numbers from 0 to 1 (mulberry32). */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function target(schema, root) {
  for (let hops = 0; typeof schema?.$ref === 'string' && hops < 32; hops += 1) {
    const path = schema.$ref.split('/').slice(1).map(part => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
    const { $ref, ...beside } = schema;
    schema = { ...path.reduce((value, part) => value?.[part], root), ...beside };
  }
  return schema ?? {};
}

/** One schema in which those of `allOf`, and one branch of each union, are merged. */
function merged(schema, root, random, depth = 0) {
  schema = target(schema, root);
  if (typeof schema !== 'object' || depth > 12) return {};
  const { allOf = [], anyOf, oneOf, ...own } = schema;
  const branches = [anyOf, oneOf].filter(Boolean).map(all => all[Math.floor(random() * all.length)]);
  return [...allOf, ...branches].reduce((whole, part) => {
    const more = merged(part, root, random, depth + 1);
    return {
      ...more, ...whole,
      properties: whole.properties || more.properties ? { ...more.properties, ...whole.properties } : undefined,
      required: [...(whole.required ?? []), ...(more.required ?? [])],
    };
  }, own);
}

const isFile = schema => ['binary'].includes(schema.format) || (schema.contentMediaType !== undefined && !schema.contentEncoding);

/** A value of a schema, with all its properties or only the required ones; `undefined` where none was found. */
export function sample(schema, root, random, isFull, depth = 0) {
  const one = all => all[Math.floor(random() * all.length)];
  if (schema === true) return 'anything';
  schema = merged(schema, root, random);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return one(schema.enum.filter(value => value !== null)) ?? null;
  const types = [schema.type ?? (schema.properties ? 'object' : schema.items ? 'array' : 'string')].flat().filter(type => type !== 'null');
  switch (types.length ? one(types) : 'null') {
    case 'object': {
      if (depth > 5) return schema.required?.length ? undefined : {};
      const value = {};
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        const isRequired = schema.required?.includes(name);
        if (!isRequired && (!isFull || depth > 2)) continue;
        const inner = sample(property, root, random, isFull, depth + 1);
        if (inner === undefined && isRequired) return undefined;
        if (inner !== undefined) value[name] = inner;
      }
      for (const name of schema.required ?? []) value[name] ??= 'given';
      const { additionalProperties: others } = schema;
      if (Object.keys(value).length === 0 && others !== false && isFull) {
        for (const name of ['key', 'two words']) value[name] = sample(others ?? { type: 'string' }, root, random, false, depth + 1) ?? 'x';
      }
      return value;
    }
    case 'array': {
      if (depth > 5) return [];
      const most = Math.min(schema.maxItems ?? 3, Math.max(schema.minItems ?? 0, isFull ? 2 : 1));
      const items = Array.from({ length: most }, () => sample(schema.items ?? {}, root, random, isFull, depth + 1)).filter(item => item !== undefined);
      return schema.uniqueItems ? [...new Map(items.map(item => [JSON.stringify(item), item])).values()] : items;
    }
    case 'integer':
    case 'number': {
      const low = schema.minimum ?? (schema.exclusiveMinimum !== undefined ? schema.exclusiveMinimum + 1 : undefined);
      const high = schema.maximum ?? (schema.exclusiveMaximum !== undefined ? schema.exclusiveMaximum - 1 : undefined);
      const step = schema.multipleOf ?? 1;
      const number = low ?? (high !== undefined && high < 7 ? high : one([0, 7]));
      return Math.ceil(number / step) * step;
    }
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    default:
      return text(schema, one);
  }
}

/** A text of a pattern such as `^AC[0-9a-f]{32}$`. */
const repeated = pattern =>
  pattern.replace(/^\^|\$$/g, '').replace(/\\d/g, '[0]').replace(/\[(.)[^\]]*\](?:\{(\d+)[^}]*\}|\+|\*)?/g, (_, first, count) => first.repeat(count ?? 1));

function text(schema, one) {
  if (isFile(schema)) return FILE;
  if (schema.contentEncoding) return FORMATS.base64;
  const drawn = FORMATS[schema.format] ?? one(TEXTS);
  const known = [...(schema.examples ?? []), schema.default].filter(value => typeof value === 'string');
  const candidates = schema.pattern ? [...known, drawn, repeated(schema.pattern), 'plain', 'abc', '1', '12345', 'a1', 'A', '#ffffff', '0'] : [drawn];
  const fits = value => {
    try {
      return new RegExp(schema.pattern, 'u').test(value);
    } catch {
      return false;
    }
  };
  const found = schema.pattern ? candidates.find(fits) : candidates[0];
  if (found === undefined) return undefined;
  if (schema.pattern) return found;
  return [...found.padEnd(schema.minLength ?? 0, 'x')].slice(0, schema.maxLength ?? Infinity).join('');
}
