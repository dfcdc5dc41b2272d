import { fieldLedger, type LedgerEntry } from "../../../generated/responses-api/field-ledger.ts";
import type { CreateResponseRequest, InputItem } from "../../../generated/responses-api/types.ts";
import { isRecord } from "../../base/json/records.ts";
import { noSuchModel } from "../errors/model-errors.ts";
import { backgroundWithoutStore, unsupportedParameter } from "../errors/parameter-errors.ts";

/** The engines that the field ledger has a column for. */
export type EngineKind = "chat-completions" | "built-in";

/**
 * Refuses each member that the field ledger says this server, or the engine behind it, does not act on. Nothing is
 * dropped in silence.
 */
export function checkAvailability(request: CreateResponseRequest, engine: EngineKind): void {
  for (const { path, param } of usedPaths(request)) {
    const entry = fieldLedger[path];
    if (entry !== undefined && isRefused(entry, engine)) throw unsupportedParameter(param, reason(entry));
  }
}

/** Refuses what cannot be done in the background, or only there. */
export function checkBackground(request: CreateResponseRequest): void {
  const { background, background_options: options, store, stream } = request;
  if (background === true && store === false) throw backgroundWithoutStore();
  const window = options?.completion_window ?? "soonest";
  if (window === "soonest" || (background === true && stream !== true)) return;
  throw unsupportedParameter(
    "background_options.completion_window",
    `A window of '${window}' needs 'background' true, and cannot be combined with 'stream' true.`,
  );
}

/**
 * Refuses an empty name here, because some model servers answer with any model then. All other names are left to the
 * engine.
 */
export function checkModelName(model: string | null | undefined): void {
  if (model?.trim() === "") throw noSuchModel(model);
}

function isRefused(entry: LedgerEntry, engine: EngineKind): boolean {
  return entry.server === "refused" || entry[engine] === "refused";
}

function reason({ note }: LedgerEntry): string {
  return `This server does not act on it: ${note ?? "not available yet"}.`;
}

interface UsedPath {
  /** As the ledger names it. */
  readonly path: string;
  /** As an error names it. */
  readonly param: string;
}

/** Every path of the ledger that a request makes use of. */
export function* usedPaths(request: CreateResponseRequest): Generator<UsedPath> {
  for (const [name, value] of Object.entries(request)) {
    if (value == null || (name === "background" && value === false)) continue; // These ask for nothing.
    yield { path: name, param: name };
    yield* nestedPaths(name, value);
  }
  yield* toolPaths(request);
  if (Array.isArray(request.conversation)) yield* inputPaths(request.conversation, "conversation");
  if (Array.isArray(request.input)) yield* inputPaths(request.input, "input");
}

/** Members whose own members, and their values, have paths in the ledger. */
const PATHS_OF_VALUES: ReadonlySet<string> = new Set([
  "background_options",
  "image",
  "reasoning",
  "stream_options",
  "text",
]);

function* nestedPaths(name: string, value: unknown): Generator<UsedPath> {
  if (name === "truncation") yield { path: `truncation.${value}`, param: name };
  if (name === "include" && Array.isArray(value)) {
    for (const [index, included] of value.entries()) yield { path: `include.${included}`, param: `include[${index}]` };
  }
  if (name === "moderation" && isRecord(value)) yield* policyPaths(value["policy"]);
  if (!PATHS_OF_VALUES.has(name) || !isRecord(value)) return;
  for (const [member, inner] of Object.entries(value)) {
    if (inner == null) continue;
    yield { path: `${name}.${member}`, param: `${name}.${member}` };
    const choice = isRecord(inner) ? inner["type"] : inner;
    if (typeof choice === "string") yield { path: `${name}.${member}.${choice}`, param: `${name}.${member}` };
  }
}

/** What a policy asks for, of the input and of the output. */
function* policyPaths(policy: unknown): Generator<UsedPath> {
  for (const [side, rule] of Object.entries(isRecord(policy) ? policy : {}))
    if (isRecord(rule)) yield { path: `moderation.policy.${rule["mode"]}`, param: `moderation.policy.${side}.mode` };
}

function* toolPaths({ tools, tool_choice: choice }: CreateResponseRequest): Generator<UsedPath> {
  for (const [index, tool] of (tools ?? []).entries()) {
    yield { path: `tools.${tool.type}`, param: `tools[${index}]` };
    if (tool.type === "tool_search")
      yield { path: `tools.tool_search.${tool.execution ?? "server"}`, param: `tools[${index}]` };
  }
  if (choice != null)
    yield { path: `tool_choice.${typeof choice === "string" ? choice : choice.type}`, param: "tool_choice" };
}

function* inputPaths(items: readonly InputItem[], list: "conversation" | "input"): Generator<UsedPath> {
  for (const [index, item] of items.entries()) {
    const param = `${list}[${index}]`;
    yield { path: `input.${item.type ?? "message"}`, param };
    // Parts may stand in the place of items; no item has a path of its own among the parts.
    yield* memberPaths(item, param);
    for (const member of ["content", "output"]) yield* partPaths(item, member, `${param}.${member}`);
  }
}

function* partPaths(item: InputItem, member: string, param: string): Generator<UsedPath> {
  const parts: unknown = new Map(Object.entries(item)).get(member);
  if (!Array.isArray(parts)) return;
  for (const [index, part] of parts.entries()) {
    if (!isRecord(part)) continue;
    yield { path: `content.${part["type"]}`, param: `${param}[${index}]` };
    yield* memberPaths(part, `${param}[${index}]`);
  }
}

function* memberPaths(part: object, param: string): Generator<UsedPath> {
  const { type, ...members }: Record<string, unknown> = { ...part };
  for (const [name, value] of Object.entries(members)) {
    if (value != null) yield { path: `content.${type}.${name}`, param: `${param}.${name}` };
  }
}
