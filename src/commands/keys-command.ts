import { newApiKey } from "@antiphon/base/api-key.ts";
import type { ApiKey, BudgetPeriod, KeyBudget, KeyStore } from "@antiphon/domain/keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { ownerText, readOwner } from "@antiphon/domain/owner.ts";
import type { RateBucket } from "@antiphon/domain/rates.ts";
import { NANOS_PER_UNIT } from "@antiphon/domain/usage.ts";
import { ConfigError } from "../config/config-error.ts";
import { type Config, type Environment, loadConfig } from "../config/load-config.ts";
import { isToolKind, TOOL_KINDS } from "../responses-api/offered-tools/tool-kinds.ts";
import { ownersOf } from "../secrets/key-owners.ts";
import { newKey } from "../secrets/secrets-on-disk.ts";
import { tellKeysChanged } from "../servers/choices/choose-bus.ts";
import { openConfiguredStore } from "../servers/open-configured-store.ts";
import { KeysCommandError } from "./keys-command-error.ts";
import { MisusedCommand, readCommandArguments } from "./misused-command.ts";

export const KEYS_USAGE = `Usage: antiphon keys create --name NAME [--operator] [--owner ORGANIZATION/PROJECT]... [--requests-per-minute N] [--tokens-per-minute N] [--tools KINDS] [--budget AMOUNT] [--token-budget N] [--budget-period PERIOD] [--expires-in TIME]
       antiphon keys list
       antiphon keys revoke ID

create prints a new key, which is not shown again. With several owners, the key acts for the first unless a request names another.
KINDS are the kinds of server tools that the key may use, separated by commas, such as web_search,mcp; none forbids all. Without --tools, the key may use all tools in TOOLS. Functions of the client are always allowed.
--operator makes an operator's key: it sees what all keys use and cost, and makes and revokes keys, by /v1/organization.
AMOUNT is in the currency of the prices, N a number of tokens, and PERIOD one of day, week, month (if absent) and total. A key that has used its budget is refused.
TIME is a whole number with its unit, such as 12h or 90d; without --expires-in, the key works until it is revoked.
--data-dir and --database-file locate the keys, like the settings of the same names.`;

const NAME_CHARACTERS_MAX = 100;

/** Runs `keys …`. The key or the list goes to `print` for scripts; remarks for people go to `note`. */
export async function runKeysCommand(
  argv: readonly string[],
  environment: Environment,
  say: { readonly print: (text: string) => void; readonly note: (text: string) => void },
): Promise<void> {
  const { positionals, values } = readCommandArguments(argv, OPTIONS, misuse);
  const [action, ...operands] = positionals;
  const work = ACTIONS.get(action ?? "");
  if (values.help === true || (action === undefined && operands.length === 0)) return say.print(KEYS_USAGE);
  if (work === undefined) throw misuse(`'${action}' is none of create, list, revoke.`);
  const run = work(operands, values);
  const config = configOf(environment, values);
  const store = await openConfiguredStore(config);
  try {
    await run(store.keys, say);
    if (action !== "list") await tellKeysChanged(config);
  } finally {
    await store.close();
  }
}

type Values = ReturnType<typeof readCommandArguments<typeof OPTIONS>>["values"];
type Say = Parameters<typeof runKeysCommand>[2];
/** Checks the arguments first, so that a typing error does not create a database. */
type Action = (operands: readonly string[], values: Values) => (keys: KeyStore, say: Say) => Promise<void>;

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ["create", create],
  ["list", list],
  ["revoke", revoke],
]);

function create(operands: readonly string[], values: Values): ReturnType<Action> {
  const { name = "" } = values;
  if (operands.length > 0) throw misuse(`'${operands[0]}' takes no operands.`);
  if (name === "" || name.length > NAME_CHARACTERS_MAX || /\p{Cc}/u.test(name))
    throw misuse(`--name needs 1 to ${NAME_CHARACTERS_MAX} characters on one line.`);
  const owners = ownersOf((values.owner ?? []).map(owner));
  const limits = {
    requests: limit(values, "requests"),
    tokens: limit(values, "tokens"),
  };
  const tools = toolKinds(values.tools);
  const budget = keyBudget(values);
  const isOperator = values.operator === true;
  const lifeSeconds = lifetime(values["expires-in"]);
  return async (keys, say) => {
    const key = newApiKey();
    const expiresAt = lifeSeconds === null ? null : Math.floor(Date.now() / 1000) + lifeSeconds;
    say.note(
      describe(await keys.addKey(newKey(key, name, { ...owners, limits, tools, budget, isOperator, expiresAt }))),
    );
    say.print(key);
  };
}

function list(operands: readonly string[]): ReturnType<Action> {
  if (operands.length > 0) throw misuse(`'${operands[0]}' takes no operands.`);
  return async (keys, say) => {
    for (const key of await keys.listKeys()) say.print(describe(key));
  };
}

function revoke([id, ...others]: readonly string[]): ReturnType<Action> {
  if (id === undefined || others.length > 0) throw misuse("revoke needs the id of one key; list shows it.");
  return async (keys, say) => {
    if ((await keys.revokeKey(id)) !== null)
      throw new KeysCommandError(`There is no key '${id}', or it is already revoked.`);
    say.note(`${id} is revoked.`);
  };
}

function describe(key: ApiKey): string {
  const { requests, tokens } = key.limits;
  return [
    key.id,
    `…${key.lastFour}`,
    JSON.stringify(key.name),
    `acts for ${key.owners.map(ownerText).join(", ")}`,
    `${requests ?? "default"} requests and ${tokens ?? "default"} tokens a minute`,
    ...(key.tools == null ? [] : [`tools: ${key.tools.length === 0 ? "none" : key.tools.join(", ")}`]),
    ...(key.isOperator ? ["operator"] : []),
    ...(key.budget === null ? [] : [`budget: ${budgetText(key.budget)}`]),
    `made ${isoTime(key.createdAt)}`,
    ...(key.expiresAt === null ? [] : [`expires ${isoTime(key.expiresAt)}`]),
    ...(key.revokedAt === null ? [] : [`revoked ${isoTime(key.revokedAt)}`]),
  ].join("  ");
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function owner(text: string): Owner {
  const read = readOwner(text);
  if (read !== null) return read;
  throw misuse(`--owner '${text}' is not ORGANIZATION/PROJECT, each of 1 to 64 letters, digits, '.', '_' and '-'.`);
}

function limit(values: Values, bucket: RateBucket): number | null {
  const text = values[`${bucket}-per-minute`];
  if (text === undefined) return null;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (value === 0) throw misuse(`--${bucket}-per-minute '${text}' is not a whole number above 0.`);
  return value;
}

/** Null if the key may use all tools. */
function toolKinds(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  if (text === "none") return [];
  const kinds = text.split(",").map((kind) => kind.trim());
  const strange = kinds.find((kind) => !isToolKind(kind));
  if (strange === undefined) return kinds;
  throw misuse(`--tools has '${strange}', which is none of ${TOOL_KINDS.join(", ")}.`);
}

const PERIODS: ReadonlyMap<string, BudgetPeriod> = new Map([
  ["day", "day"],
  ["week", "week"],
  ["month", "month"],
  ["total", "total"],
]);

/** Null if the key has no budget. */
function keyBudget(values: Values): KeyBudget | null {
  const { budget: amount, "token-budget": tokenCount, "budget-period": periodName = "month" } = values;
  const period = PERIODS.get(periodName);
  if (period === undefined)
    throw misuse(`--budget-period '${periodName}' is none of ${[...PERIODS.keys()].join(", ")}.`);
  const money = amount === undefined ? null : Number(/^\d{1,6}(\.\d{1,6})?$/.test(amount) ? amount : 0);
  if (money === 0) throw misuse(`--budget '${amount}' is not an amount above 0, such as 20 or 0.5.`);
  const tokens = tokenCount === undefined ? null : Number(/^\d{1,15}$/.test(tokenCount) ? tokenCount : 0);
  if (tokens === 0) throw misuse(`--token-budget '${tokenCount}' is not a whole number above 0.`);
  if (money === null && tokens === null) {
    if (values["budget-period"] === undefined) return null;
    throw misuse("--budget-period needs --budget or --token-budget.");
  }
  return { period, nanos: money === null ? null : Math.round(money * NANOS_PER_UNIT), tokens };
}

function budgetText({ period, nanos, tokens }: KeyBudget): string {
  const limits = [
    ...(nanos === null ? [] : [`an amount of ${nanos / NANOS_PER_UNIT}`]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
  ].join(" and ");
  return period === "total" ? `${limits} in total` : `${limits} a ${period}`;
}

const UNITS_SECONDS: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
  ["d", 86_400],
]);

/** Seconds until the key expires, or null if it never does. */
function lifetime(text: string | undefined): number | null {
  if (text === undefined) return null;
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS_SECONDS.get(unit) ?? 0);
  if (seconds === 0) throw misuse(`--expires-in '${text}' is not a whole number above 0 with its unit: s, m, h or d.`);
  return seconds;
}

function configOf(environment: Environment, values: Values): Config {
  const flags = (["data-dir", "database-file"] as const).flatMap((flag) => {
    const value = values[flag];
    return value === undefined ? [] : [`--${flag}=${value}`];
  });
  const config = loadConfig(environment, flags);
  if (config.databaseFile === ":memory:")
    throw new ConfigError(["DATABASE_FILE is ':memory:', where keys are lost when this command ends."]);
  return config;
}

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  name: { type: "string" },
  owner: { type: "string", multiple: true },
  "requests-per-minute": { type: "string" },
  "tokens-per-minute": { type: "string" },
  operator: { type: "boolean" },
  tools: { type: "string" },
  budget: { type: "string" },
  "token-budget": { type: "string" },
  "budget-period": { type: "string" },
  "expires-in": { type: "string" },
  "data-dir": { type: "string" },
  "database-file": { type: "string" },
} as const;

function misuse(problem: string): MisusedCommand {
  return new MisusedCommand(problem, KEYS_USAGE);
}
