import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
/** One operation of the generated route tables, with the members that transport uses. */
export interface OperationRoute {
  readonly operationId: string;
  /** Lower case. */
  readonly method: string;
  /** In the router's notation, such as `/v1/responses/:response_id`. */
  readonly path: string;
  readonly secured: boolean;
  readonly query: Readonly<Record<string, QueryParameter>>;
  /** Names of the headers that the handler reads, in lower case. */
  readonly headers: readonly string[];
  /** Media types that the body may have; empty if the operation takes no body. */
  readonly request: readonly string[];
  readonly bodyRequired: boolean;
  /** Whether the query parameters may also be sent as members of a JSON body; false by default. */
  readonly queryInBody?: boolean;
}

/** The limits apply to the value, or to each element of a list; `maxItems` applies to the list. */
export interface QueryParameter {
  readonly kind: "string" | "integer" | "number" | "boolean" | "object";
  readonly array: boolean;
  readonly required: boolean;
  /** Other names of the parameter, such as `include[]`. */
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

/** A generated validator. `errors` belongs to the latest call: read it before the next one. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly SchemaRefusal[] | null;
}

/**
 * Checks the value of a body and returns the body for the handler, or a promise of it. Throws an `ApiError` if the body
 * is refused.
 */
export type BodyCheck = (body: unknown) => unknown;

export interface Contract {
  readonly routes: readonly OperationRoute[];
  /** By operation. A body without a validator is only parsed. */
  readonly bodyValidators: Readonly<Record<string, Validator>>;
  /** By operation; used instead of the validator if an interface has its own order of checks. */
  readonly bodyChecks?: Readonly<Record<string, BodyCheck>>;
  /** By operation: successful plain bodies are checked on the way out, outside production. */
  readonly replyValidators?: Readonly<Record<string, Validator>>;
  /** By operation: events and lines are checked on the way out, outside production. */
  readonly eventValidators?: Readonly<Record<string, Validator>>;
}
