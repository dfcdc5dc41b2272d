import type { ApiError } from "@antiphon/base/api-error.ts";
import type { BodyCheck, Contract, OperationRoute, Validator } from "@antiphon/http-kit/contract.ts";

/** The schemas of a generated route. */
interface GeneratedRoute extends OperationRoute {
  readonly bodySchema: string | null;
  readonly replySchema: string | null;
  readonly eventSchema: string | null;
  readonly lineSchema: string | null;
}

export interface GeneratedContract {
  readonly routes: readonly GeneratedRoute[];
  /** All exports of the generated validators, named `validate` and the schema's name. */
  readonly validators: object;
  readonly bodyChecks?: Readonly<Record<string, BodyCheck>>;
  /** Whether replies and events are validated too. */
  readonly validateReplies: boolean;
}

const LINES = "application/x-ndjson";

/** Combines a generated route table with its validators, for transport. */
export function contractOf({ routes, validators, bodyChecks, validateReplies }: GeneratedContract): Contract {
  const byName = new Map<string, unknown>(Object.entries(validators));
  const table = (schemaOf: (route: GeneratedRoute) => string | null): Record<string, Validator> => {
    const entries = routes.flatMap((route): [string, Validator][] => {
      const validator = byName.get(`validate${schemaOf(route)}`);
      return isValidator(validator) ? [[route.operationId, validator]] : [];
    });
    return Object.fromEntries(entries);
  };
  return {
    routes,
    // Lines are validated one by one as they arrive.
    bodyValidators: table((route) => (route.request.includes(LINES) ? null : route.bodySchema)),
    ...(bodyChecks === undefined ? {} : { bodyChecks }),
    ...(validateReplies
      ? {
          replyValidators: table((route) => route.replySchema),
          eventValidators: table((route) => route.eventSchema ?? route.lineSchema),
        }
      : {}),
  };
}

/** Several contracts as one. Names of operations are unique. */
export function joinContracts(...contracts: readonly Contract[]): Contract {
  return {
    routes: contracts.flatMap(({ routes }) => routes),
    bodyValidators: Object.assign({}, ...contracts.map(({ bodyValidators }) => bodyValidators)),
    bodyChecks: Object.assign({}, ...contracts.map(({ bodyChecks }) => bodyChecks)),
    replyValidators: Object.assign({}, ...contracts.map(({ replyValidators }) => replyValidators)),
    eventValidators: Object.assign({}, ...contracts.map(({ eventValidators }) => eventValidators)),
  };
}

function isValidator(value: unknown): value is Validator {
  return typeof value === "function";
}

/** Handlers for operations that are not implemented: each rejects with the error that `makeError` makes for it. */
export function refusals<Id extends string>(
  operationIds: readonly Id[],
  makeError: (operationId: Id) => ApiError,
): Record<string, () => Promise<never>> {
  return Object.fromEntries(operationIds.map((id) => [id, () => Promise.reject(makeError(id))]));
}
