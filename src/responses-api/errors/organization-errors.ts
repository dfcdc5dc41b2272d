import { ApiError } from "@antiphon/base/api-error.ts";
import type { KeyBudget } from "@antiphon/domain/keys.ts";
import { type KeySpending, NANOS_PER_UNIT } from "@antiphon/domain/usage.ts";
import { INVALID, invalidRequest } from "./invalid-request.ts";

export interface SpentBudget {
  readonly keyId: string;
  readonly keyName: string | null;
  readonly budget: KeyBudget;
  readonly spent: KeySpending;
  /** When the next period begins, in Unix seconds; null if there is none. */
  readonly renewsAt: number | null;
}

/** Retrying cannot help soon, so official clients are told not to. */
export function budgetSpent({ keyId, keyName, budget, spent, renewsAt }: SpentBudget): ApiError {
  const named = keyName === null ? `'${keyId}'` : `'${keyName}' (${keyId})`;
  const limits = [
    ...(budget.nanos === null
      ? []
      : [`${spent.nanos / NANOS_PER_UNIT} of ${budget.nanos / NANOS_PER_UNIT} in the currency of the prices`]),
    ...(budget.tokens === null ? [] : [`${spent.tokens} of ${budget.tokens} tokens`]),
  ].join(" and ");
  const period = budget.period === "total" ? "in total" : `this ${budget.period}`;
  const renewal = renewsAt === null ? "" : ` It renews at ${new Date(renewsAt * 1000).toISOString()}.`;
  return new ApiError({
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: `The budget of the API key ${named} is used up: ${limits} ${period}.${renewal} An operator can raise it.`,
    headers: { "x-should-retry": "false" },
  });
}

/** `scope`: what the reference calls the missing right. */
export function notAnOperator(scope: string): ApiError {
  return invalidRequest(
    403,
    "missing_scope",
    null,
    `You have insufficient permissions for this operation. Missing scopes: ${scope}. It needs an operator's key, such as 'antiphon keys create --operator' makes.`,
  );
}

export function apiKeyNotFound(id: string): ApiError {
  return invalidRequest(404, null, null, `API key with id '${id}' not found.`);
}

export function lastOperatorKey(id: string): ApiError {
  return invalidRequest(
    400,
    "last_operator_key",
    null,
    `API key '${id}' is the last operator's key. Make another one first.`,
  );
}

export function usagePageNotFound(): ApiError {
  return invalidRequest(400, "invalid_value", "page", "Invalid 'page': send the next_page of the page before.");
}

export function usageLimitAbove(max: number, width: string): ApiError {
  const message = `Invalid 'limit': integer above maximum value. Expected a value <= ${max} for bucket_width '${width}'.`;
  return invalidRequest(400, "integer_above_max_value", "limit", message);
}

export function metricsNotShown(): ApiError {
  return invalidRequest(
    403,
    "metrics_not_shown",
    null,
    "Metrics are shown to callers on the server's own machine that come through no proxy. METRICS=open or METRICS_KEY opens them to others.",
  );
}

export function metricsKeyRequired(): ApiError {
  return new ApiError({
    status: 401,
    type: INVALID,
    code: "invalid_api_key",
    message: "Metrics are shown to whoever sends the server's METRICS_KEY: 'Authorization: Bearer METRICS_KEY'.",
    headers: { "WWW-Authenticate": 'Bearer realm="metrics"' },
  });
}
