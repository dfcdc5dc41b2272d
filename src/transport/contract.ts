import type { SchemaRefusal } from "../base/json/schema-refusal.ts";
/** One operation as the generated route tables describe it; they carry more. */
export interface OperationRoute {
  readonly operationId: string;
  /** Lower case. */
  readonly method: string;
  /** As the router writes it: `/v1/responses/:response_id`. */
  readonly path: string;
  readonly secured: boolean;
  readonly query: Readonly<Record<string, QueryParameter>>;
  /** Names of the headers the handler reads, lower case. */
  readonly headers: readonly string[];
  /** Media types of the body; empty where there is none. */
  readonly request: readonly string[];
  readonly bodyRequired: boolean;
  /** The query parameters may also come as members of a JSON body; left out: they may not. */
  readonly queryInBody?: boolean;
}

/** Limits are those of the value, or of each element of a list; `maxItems` is the list's. */
export interface QueryParameter {
  readonly kind: "string" | "integer" | "number" | "boolean" | "object";
  readonly array: boolean;
  readonly required: boolean;
  /** Other names it is also read from, such as `include[]`. */
  readonly aliases: readonly string[];
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly default?: QueryScalar;
}

export type QueryScalar = string | number | boolean;

/** A generated validator. `errors` belongs to the latest call and must be read at once. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly SchemaRefusal[] | null;
}

/**
 * Checks the value of a body and gives back what the handler shall see; throws an `ApiError` where it refuses. What it
 * gives back may be a promise.
 */
export type BodyCheck = (body: unknown) => unknown;

export interface Contract {
  readonly routes: readonly OperationRoute[];
  /** By operation. Where there is none, a body is only parsed. */
  readonly bodyValidators: Readonly<Record<string, Validator>>;
  /** By operation; takes the place of the validator where an interface has its own order of checks. */
  readonly bodyChecks?: Readonly<Record<string, BodyCheck>>;
  /** By operation: successful plain bodies are checked on the way out, outside production. */
  readonly replyValidators?: Readonly<Record<string, Validator>>;
  /** By operation: events and lines are checked on the way out, outside production. */
  readonly eventValidators?: Readonly<Record<string, Validator>>;
}
