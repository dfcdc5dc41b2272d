import { newApiKey } from "@antiphon/base/api-key.ts";
import { type PageBounds, pageOf } from "@antiphon/base/page-of.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { KeyCreateRequest, KeyRecord } from "@antiphon/contracts/responses-api/types.ts";
import type { ApiKey, KeyStore, NewKey } from "@antiphon/domain/keys.ts";
import { ownerText, readOwner } from "@antiphon/domain/owner.ts";
import type { Principal } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import type { KeyBudgets } from "../access/key-budgets.ts";
import { apiKeyNotFound, lastOperatorKey, notAnOperator } from "../errors/organization-errors.ts";
import { invalidValue } from "../errors/parameter-errors.ts";
import { cursorNotFound } from "../errors/state-errors.ts";
import { isToolKind, TOOL_KINDS } from "../offered-tools/tool-kinds.ts";
import { listBody } from "../show/list-body.ts";
import { readBudget, showKey, showOperatorKey, showProjectKey } from "./show-key.ts";

/** What operations on keys work with. */
export interface KeysContext {
  readonly keys: KeyStore;
  /** The stored form of a new key. */
  readonly newKey: (secret: string, name: string, more: Partial<NewKey>) => NewKey;
  readonly budgets: Pick<KeyBudgets, "spending">;
  /** Called when a key has changed, so that nobody uses what was known of it. */
  readonly onChange: () => void;
}

type Handlers = ResponsesApiHandlers<Caller>;
type OperatorKeyOperation = "createAdminApiKey" | "deleteAdminApiKey" | "getAdminApiKey" | "listAdminApiKeys";
type ProjectKeyOperation = "deleteProjectApiKey" | "getProjectApiKey" | "listProjectApiKeys";
type KeyOperation = "createKey" | "deleteKey" | "getKey" | "listKeys" | "updateKey";

const READ_SCOPE = "api.management.read";
const WRITE_SCOPE = "api.management.write";
const PAGE_KEYS_DEFAULT = 20;

/** `/v1/organization/admin_api_keys`: operator's keys, as the reference has them. */
export function operatorKeyHandlers(context: KeysContext): Pick<Handlers, OperatorKeyOperation> {
  const isListed = (key: ApiKey): boolean => key.isOperator && isValid(key);
  return {
    listAdminApiKeys: async ({ query }, { principal }) => {
      requireOperator(principal, READ_SCOPE);
      const page = keyPage((await context.keys.listKeys()).filter(isListed), query);
      return { status: 200, body: listBody({ ...page, entries: page.entries.map(showOperatorKey) }) };
    },
    createAdminApiKey: async ({ body }, { principal }) => {
      requireOperator(principal, WRITE_SCOPE);
      const expiresAt = expiryOf(body.expires_in_seconds);
      const { key, value } = await addKey(context, body.name, { isOperator: true, expiresAt });
      return { status: 200, body: { ...showOperatorKey(key), value } };
    },
    getAdminApiKey: async ({ path }, { principal }) => {
      requireOperator(principal, READ_SCOPE);
      return { status: 200, body: showOperatorKey(await findKey(context, path.key_id, isListed)) };
    },
    deleteAdminApiKey: async ({ path: { key_id: id } }, { principal }) => {
      requireOperator(principal, WRITE_SCOPE);
      await findKey(context, id, isListed);
      await revokeKey(context, id);
      return { status: 200, body: { id, object: "organization.admin_api_key.deleted", deleted: true } };
    },
  };
}

/** `/v1/organization/projects/{project_id}/api_keys`: keys of a project, as the reference has them. */
export function projectKeyHandlers(context: KeysContext): Pick<Handlers, ProjectKeyOperation> {
  return {
    listProjectApiKeys: async ({ path, query: { owner_project_access: access, ...query } }, { principal }) => {
      requireOperator(principal, READ_SCOPE);
      const listed = access === "inactive" ? [] : await context.keys.listKeys();
      const page = keyPage(listed.filter(actsFor(path.project_id)), query);
      return { status: 200, body: listBody({ ...page, entries: page.entries.map(showProjectKey) }) };
    },
    getProjectApiKey: async ({ path }, { principal }) => {
      requireOperator(principal, READ_SCOPE);
      const key = await findKey(context, path.api_key_id, actsFor(path.project_id));
      return { status: 200, body: showProjectKey(key) };
    },
    deleteProjectApiKey: async ({ path: { project_id: project, api_key_id: id } }, { principal }) => {
      requireOperator(principal, WRITE_SCOPE);
      await findKey(context, id, actsFor(project));
      await revokeKey(context, id);
      return { status: 200, body: { object: "organization.project.api_key.deleted", id, deleted: true } };
    },
  };
}

/** `/v1/organization/keys`: all keys of this server, with their budgets. */
export function keyHandlers(context: KeysContext): Pick<Handlers, KeyOperation> {
  const shown = async (key: ApiKey): Promise<KeyRecord> =>
    showKey(key, key.budget === null ? null : await context.budgets.spending(key.id, key.budget));
  return {
    listKeys: async ({ query }, { principal }) => {
      requireOperator(principal, READ_SCOPE);
      const page = keyPage(await context.keys.listKeys(), query);
      return { status: 200, body: listBody({ ...page, entries: await Promise.all(page.entries.map(shown)) }) };
    },
    createKey: async ({ body }, { principal }) => {
      requireOperator(principal, WRITE_SCOPE);
      const { key, value } = await addKey(context, body.name, wishedKey(body));
      return { status: 200, body: { ...(await shown(key)), value } };
    },
    getKey: async ({ path }, { principal }) => {
      requireOperator(principal, READ_SCOPE);
      return { status: 200, body: await shown(await findKey(context, path.key_id, () => true)) };
    },
    updateKey: async ({ path: { key_id: id }, body: { name, budget } }, { principal }) => {
      requireOperator(principal, WRITE_SCOPE);
      const key = await context.keys.changeKey(id, {
        ...(name === undefined ? {} : { name }),
        ...(budget === undefined ? {} : { budget: budget === null ? null : readBudget(budget) }),
      });
      if (key === null) throw apiKeyNotFound(id);
      context.onChange();
      return { status: 200, body: await shown(key) };
    },
    deleteKey: async ({ path: { key_id: id } }, { principal }) => {
      requireOperator(principal, WRITE_SCOPE);
      await revokeKey(context, id);
      return { status: 200, body: { object: "key.deleted", id, deleted: true } };
    },
  };
}

/** Throws the reference's 403 error if the key is not an operator's. */
export function requireOperator({ isOperator }: Principal, scope: string): void {
  if (isOperator !== true) throw notAnOperator(scope);
}

function keyPage(oldestFirst: readonly ApiKey[], query: Partial<PageBounds> & { readonly limit?: number }) {
  const { after = null, order = "asc", limit = PAGE_KEYS_DEFAULT } = query;
  const keys = pageOf(oldestFirst, { order, after }, null);
  if (keys === null) throw cursorNotFound(after ?? "");
  return { entries: keys.slice(0, limit), hasMore: keys.length > limit };
}

async function findKey({ keys }: KeysContext, id: string, isMeant: (key: ApiKey) => boolean): Promise<ApiKey> {
  const key = await keys.findKey(id);
  if (key === null || !isMeant(key)) throw apiKeyNotFound(id);
  return key;
}

async function addKey(
  { keys, newKey }: KeysContext,
  name: string,
  more: Partial<NewKey>,
): Promise<{ readonly key: ApiKey; readonly value: string }> {
  const value = newApiKey();
  return { key: await keys.addKey(newKey(value, name, more)), value };
}

/** The key stops working here at once, and elsewhere within two seconds. */
async function revokeKey({ keys, onChange }: KeysContext, id: string): Promise<void> {
  const refusal = await keys.revokeKey(id, "an operator");
  if (refusal === "unknown") throw apiKeyNotFound(id);
  if (refusal === "last_operator") throw lastOperatorKey(id);
  onChange();
}

/** The contract has checked the form of the projects. */
function wishedKey(body: KeyCreateRequest): Partial<NewKey> {
  const [first, ...others] = (body.projects ?? []).flatMap((project) => readOwner(project) ?? []);
  return {
    isOperator: body.is_operator ?? false,
    limits: { requests: body.requests_per_minute ?? null, tokens: body.tokens_per_minute ?? null },
    tools: body.tools == null ? null : checkedTools(body.tools),
    budget: body.budget == null ? null : readBudget(body.budget),
    expiresAt: expiryOf(body.expires_in_seconds),
    ...(first === undefined ? {} : { owners: [first, ...others], isRouted: true }),
  };
}

function checkedTools(kinds: readonly string[]): readonly string[] {
  for (const [index, kind] of kinds.entries())
    if (!isToolKind(kind)) throw invalidValue(`tools[${index}]`, kind, TOOL_KINDS);
  return kinds;
}

function expiryOf(seconds: number | null | undefined): number | null {
  return seconds == null ? null : nowSeconds() + seconds;
}

/** Whether the key works. */
function isValid({ revokedAt, expiresAt }: ApiKey): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > nowSeconds());
}

function actsFor(projectId: string): (key: ApiKey) => boolean {
  return (key) => isValid(key) && key.owners.some((owner) => ownerText(owner) === projectId);
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
