/** JavaScript functions as tools. */

import type { Effect, JsonObject } from "./types.js";
import { ArgumentError, ConversionError } from "./errors.js";

/** A schema of zod or of another library that follows Standard Schema, and Standard JSON Schema beside it. */
export interface StandardSchema<Input = any, Output = any> {
  readonly "~standard": {
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-2020-12" }) => JsonObject };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: Path | undefined }[] };

type Path = readonly (PropertyKey | { readonly key: PropertyKey })[];

/** The arguments that a function gets. */
export type Arguments<Parameters> =
  Parameters extends StandardSchema<any, any>
    ? NonNullable<Parameters["~standard"]["types"]>["output"]
    : JsonObject;

/** What a function is called, and what it takes. */
export interface FunctionSettings<Parameters extends StandardSchema | JsonObject> {
  name: string;
  description: string;
  /** A JSON Schema, or a schema of zod. */
  parameters?: Parameters;
  /** What a call may change; without one, toolcrib guesses by the name. */
  effect?: Effect;
  category?: string;
  run: (args: Arguments<Parameters>) => unknown;
}

/** A function as a tool: its definition in the native format, and what runs it. */
export class FunctionTool {
  constructor(
    readonly definition: JsonObject & { name: string },
    private readonly schema: StandardSchema | undefined,
    private readonly function_: (args: any) => unknown,
  ) {}

  get name(): string {
    return this.definition.name;
  }

  /** Calls the function. A schema of zod makes its own values of the arguments first: defaults and transformations. */
  async run(args: JsonObject): Promise<unknown> {
    if (!this.schema) return await this.function_(args);
    const validated = await this.schema["~standard"].validate(args);
    if (!validated.issues) return await this.function_(validated.value);
    throw new ConversionError(validated.issues.map(({ message, path = [] }) => ({ pointer: pointerOf(path), message })));
  }
}

/**
 * A function as a tool.
 *
 * ```js
 * const add = tool({ name: "add", description: "Adds two numbers.", parameters: z.object({ a: z.number(), b: z.number() }),
 *   run: ({ a, b }) => a + b });
 * ```
 */
export function tool<Parameters extends StandardSchema | JsonObject = JsonObject>(
  settings: FunctionSettings<Parameters>,
): FunctionTool {
  const { name, description, parameters, effect, category, run } = settings;
  const schema = isStandard(parameters) ? parameters : undefined;
  const definition = {
    name,
    description,
    parameters: schema ? jsonSchemaOf(name, schema) : (parameters ?? { type: "object", properties: {} }),
    ...(effect && { effect }),
    ...(category && { category }),
  };
  return new FunctionTool(definition, schema, run);
}

function pointerOf(path: Path): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function isStandard(parameters: unknown): parameters is StandardSchema {
  return parameters !== null && (typeof parameters === "object" || typeof parameters === "function") && "~standard" in parameters;
}

function jsonSchemaOf(name: string, schema: StandardSchema): JsonObject {
  const convert = schema["~standard"].jsonSchema;
  if (!convert) {
    throw new ArgumentError(`the schema of \`${name}\` has no JSON Schema; zod has one from 4.2 on`, "argument_invalid");
  }
  const { $schema: _, ...rest } = convert.input({ target: "draft-2020-12" });
  return rest;
}
