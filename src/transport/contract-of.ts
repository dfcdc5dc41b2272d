import { assert } from "../base/assert.ts";
import type { BodyCheck, Contract, OperationRoute, Validator } from "./contract.ts";

/** A route as it is generated, with the names of its schemas. */
export interface NamedRoute extends OperationRoute {
  readonly bodySchema: string | null;
  readonly replySchema: string | null;
  readonly eventSchema: string | null;
  readonly lineSchema: string | null;
}

export interface ContractChoices {
  readonly bodyChecks?: Readonly<Record<string, BodyCheck>>;
  /** Check what is sent, too; not in production. */
  readonly checkReplies: boolean;
}

type SchemaOf = (route: NamedRoute) => string | null;

/**
 * Joins generated routes with generated validators, whose module exports `validateX` for a schema `X`. Throws if a JSON body has neither
 * validator nor check. Forms have none: their files are not JSON.
 */
export function contractOf(routes: readonly NamedRoute[], validators: object, choices: ContractChoices): Contract {
  const exported = new Map<string, unknown>(Object.entries(validators));
  const named = (schemaOf: SchemaOf) => validatorsBy(routes, exported, schemaOf);
  const bodyValidators = named((route) => (route.request.includes("application/json") ? route.bodySchema : null));
  const bodyChecks = choices.bodyChecks ?? {};
  for (const { operationId, request } of routes) {
    const isChecked = operationId in bodyValidators || operationId in bodyChecks;
    assert(isChecked || !request.includes("application/json"), `the body of ${operationId} is checked by something`);
  }
  if (!choices.checkReplies) return { routes, bodyValidators, bodyChecks };
  const eventValidators = named((route) => route.eventSchema ?? route.lineSchema);
  return { routes, bodyValidators, bodyChecks, eventValidators, replyValidators: named((route) => route.replySchema) };
}

function validatorsBy(
  routes: readonly NamedRoute[],
  exported: ReadonlyMap<string, unknown>,
  schemaOf: SchemaOf,
): Record<string, Validator> {
  const found: Record<string, Validator> = {};
  for (const route of routes) {
    const validator = exported.get(`validate${schemaOf(route)}`);
    if (isValidator(validator)) found[route.operationId] = validator;
  }
  return found;
}

/** The generator's promise, as far as it can be seen. */
function isValidator(value: unknown): value is Validator {
  return typeof value === "function";
}
