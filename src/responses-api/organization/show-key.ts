import type {
  AdminApiKey,
  KeyRecord,
  ProjectApiKey,
  KeyBudget as WireBudget,
} from "@antiphon/contracts/responses-api/types.ts";
import type { ApiKey, KeyBudget } from "@antiphon/domain/keys.ts";
import { ownerText } from "@antiphon/domain/owner.ts";
import { type KeySpending, NANOS_PER_UNIT } from "@antiphon/domain/usage.ts";

/** An operator's key as the reference shows it. */
export function showOperatorKey({ id, name, lastFour, createdAt, expiresAt }: ApiKey): AdminApiKey {
  return {
    object: "organization.admin_api_key",
    id,
    name,
    redacted_value: redactedValue(lastFour),
    created_at: createdAt,
    expires_at: expiresAt,
    last_used_at: null,
    owner: {
      type: "service_account",
      object: "organization.service_account",
      id,
      name,
      created_at: createdAt,
      role: "owner",
    },
  };
}

/** A key of a project as the reference shows it. */
export function showProjectKey({ id, name, lastFour, createdAt, isOperator }: ApiKey): ProjectApiKey {
  const role = isOperator ? "owner" : "member";
  return {
    object: "organization.project.api_key",
    redacted_value: redactedValue(lastFour),
    name,
    created_at: createdAt,
    last_used_at: null,
    id,
    owner_project_access: "active",
    owner: { type: "service_account", service_account: { id, name, created_at: createdAt, role } },
  };
}

/** A key with its budget. `spending`: null without a budget. */
export function showKey(key: ApiKey, spending: (KeySpending & { readonly renewsAt: number | null }) | null): KeyRecord {
  return {
    object: "key",
    id: key.id,
    name: key.name,
    redacted_value: redactedValue(key.lastFour),
    is_operator: key.isOperator,
    projects: key.owners.map(ownerText),
    requests_per_minute: key.limits.requests,
    tokens_per_minute: key.limits.tokens,
    tools: key.tools == null ? null : [...key.tools],
    budget: key.budget === null ? null : showBudget(key.budget),
    spending:
      spending === null
        ? null
        : { amount: spending.nanos / NANOS_PER_UNIT, tokens: spending.tokens, renews_at: spending.renewsAt },
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
}

/** The stored form of a budget. One without any limit is none. */
export function readBudget({ period, amount, tokens }: WireBudget): KeyBudget | null {
  if (amount == null && tokens == null) return null;
  return { period, nanos: amount == null ? null : Math.round(amount * NANOS_PER_UNIT), tokens: tokens ?? null };
}

function showBudget({ period, nanos, tokens }: KeyBudget): WireBudget {
  return { period, amount: nanos === null ? null : nanos / NANOS_PER_UNIT, tokens };
}

function redactedValue(lastFour: string): string {
  return `sk-…${lastFour}`;
}
