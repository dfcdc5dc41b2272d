import { isRecord } from "@antiphon/base/json/records.ts";
import type { EngineKind } from "@antiphon/base/ledger/ledger-note.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import { fieldLedger, type LedgerEntry } from "@antiphon/contracts/responses-api/field-ledger.ts";
import type { CreateResponseRequest, InputItem } from "@antiphon/contracts/responses-api/types.ts";
import { modelInBodyNotFound } from "../errors/model-errors.ts";
import { backgroundWithoutStore, unsupportedParameter } from "../errors/parameter-errors.ts";

/** A path that the field ledger marks as emulated, with its first use in the request. */
export interface EmulatedUse extends UsedPath {
  readonly note: string | undefined;
}

/**
 * Refuses each member that, by the field ledger, this server or its engine does not support. No member is ignored
 * silently. Returns emulated paths, without duplicates.
 */
export async function checkAvailability(
  request: CreateResponseRequest,
  engine: EngineKind,
): Promise<readonly EmulatedUse[]> {
  const slices = new Slices();
  const uses = new Map<string, EmulatedUse>();
  for (const { path, param } of usedPaths(request)) {
    const entry = fieldLedger[path];
    const treatment = entry?.server ?? entry?.[engine];
    if (entry !== undefined && treatment === "refused") throw unsupportedParameter(param, reason(entry));
    if (treatment === "emulated" && !uses.has(path)) uses.set(path, { path, param, note: entry?.note });
    if (slices.isOver) await slices.next();
  }
  return [...uses.values()];
}

/** Refuses members that exclude, or need, a background response. */
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

/** Refuses an empty name, for which some model servers would use any model. The engine checks all other names. */
export function checkModelName(model: string | null | undefined): void {
  if (model?.trim() === "") throw modelInBodyNotFound(model);
}

function reason({ note }: LedgerEntry): string {
  return `This server does not act on it: ${note ?? "not available yet"}.`;
}

interface UsedPath {
  /** The path in the field ledger. */
  readonly path: string;
  /** The path in error messages. */
  readonly param: string;
}

/** Every field ledger path that the request uses. */
export function* usedPaths(request: CreateResponseRequest): Generator<UsedPath> {
  for (const [name, value] of Object.entries(request)) {
    if (value == null || (name === "background" && value === false)) continue; // Same as leaving the member out.
    yield { path: name, param: name };
    yield* nestedPaths(name, value);
  }
  yield* toolPaths(request);
  if (Array.isArray(request.conversation)) yield* inputPaths(request.conversation, "conversation");
  if (Array.isArray(request.input)) yield* inputPaths(request.input, "input");
}

/** Members with ledger paths for their own members and for these members' values. */
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
    for (const [index, include] of value.entries()) yield { path: `include.${include}`, param: `include[${index}]` };
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

/** The modes that a moderation policy sets for input and output. */
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
    // A top-level part may replace an item; other items have no path below `content.`.
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
