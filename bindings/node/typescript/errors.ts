/** Reasons why a job could not be done. Each has a stable `code`; mistakes in definitions are findings instead. */

import type { FieldError, Finding } from "./types.js";

/** The base of all errors. */
export class ToolcribError extends Error {
  /** The code of the error; stable. */
  readonly code: string;
  /** Names that may have been meant, best first. */
  readonly nearest: string[];

  constructor(message: string, code = "error", nearest: string[] = []) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.nearest = nearest;
  }
}

/** An argument of a call is wrong: an unknown provider or mode, for example. */
export class ArgumentError extends ToolcribError {}

/** Arguments of a function do not fit its schema; `fieldErrors` has a pointer and a message for each. */
export class ConversionError extends ArgumentError {
  readonly fieldErrors: FieldError[];

  constructor(fieldErrors: FieldError[]) {
    super(fieldErrors.map(({ message, pointer }) => `${message} at ${pointer || "/"}`).join("; "), "schema");
    this.fieldErrors = fieldErrors;
  }
}

/** The path of the catalog does not exist. */
export class CatalogMissing extends ToolcribError {}

/** The catalog has no profile of this name. */
export class UnknownProfile extends ToolcribError {}

/** No tool, or no single tool, goes by this name. */
export class UnknownTool extends ToolcribError {}

/** A template cannot be read or rendered. */
export class TemplateError extends ToolcribError {}

/** Docs or a workspace cannot be written. */
export class WriteError extends ToolcribError {}

/** The provider refuses such a payload. */
export class PayloadError extends ToolcribError {}

/** The response is not one of the provider, or it is an error of the provider. */
export class ResponseError extends ToolcribError {}

/** The answered calls cannot become messages. */
export class ResultsError extends ToolcribError {}

/** The definitions have mistakes; `findings` tells each with its place. */
export class FindingsError extends ToolcribError {
  readonly findings: Finding[];

  constructor(message: string, findings: Finding[]) {
    super(message, "findings");
    this.findings = findings;
  }
}

const CLASSES = new Map<string, typeof ToolcribError>(
  [
    ArgumentError, CatalogMissing, UnknownProfile, UnknownTool, TemplateError, WriteError, PayloadError, ResponseError,
    ResultsError,
  ].map((one) => [one.name, one]),
);

/** The error that the core threw: it has its class, code and near names as JSON text. */
export function errorOf(thrown: unknown): ToolcribError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  try {
    const failure = JSON.parse(message) as { class: string; code: string; message: string; nearest: string[] };
    const Class = CLASSES.get(failure.class) ?? ToolcribError;
    return new Class(failure.message, failure.code, failure.nearest);
  } catch {
    return new ArgumentError(message, "argument_invalid");
  }
}
