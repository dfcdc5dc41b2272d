import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { writeJson } from "@antiphon/base/json/write-json.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { TASK_VERSION } from "../../runs/ports/event-log.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import type { RunTask } from "./run-task.ts";
import type { ToolSecrets } from "./seal-tools.ts";

/** A task, or why the stored text is unusable. */
export type ReadTask = { readonly task: RunTask } | { readonly problem: "newer" | "unreadable" };

/**
 * `settings`: those of a successor, sealed. The secrets of tools are sealed, and context items that are also in the
 * request are stored once.
 */
export async function writeTask(task: RunTask, secrets: ToolSecrets, settings: string | null = null): Promise<string> {
  const { reasoning, ...others } = task;
  const { rawAs: rawReasoningAs, isSealed: sealsReasoning } = reasoning;
  const members = { version: TASK_VERSION, rawReasoningAs, sealsReasoning, ...others, settings };
  const { tools, request } = others;
  if (tools === null) return await writeJson(members);
  const places = new Map<object, number>(request.items.map((item, place) => [item, place]));
  const context = tools.context.map((item) => places.get(item) ?? item);
  const storedTools = { ...tools, hosted: secrets.seal(tools.hosted), context };
  return await writeJson({ ...members, tools: storedTools });
}

/** Reads a task stored by this version or an earlier one. */
export function readTask(json: string, secrets: ToolSecrets): ReadTask {
  const storedTask = parseObject(json);
  if (storedTask === null) return { problem: "unreadable" };
  const { version = 1, ...members } = storedTask;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) return { problem: "unreadable" };
  if (version > TASK_VERSION) return { problem: "newer" };
  const currentMembers = MIGRATIONS.slice(version - 1).reduce((older, migrate) => migrate(older), members);
  const task = withReasoning({ ...ADDED_MEMBERS, ...withWholeContext(currentMembers) });
  if (!isRunTask(task)) return { problem: "unreadable" };
  if (task.tools === null) return { task };
  const hostedTools = secrets.open(task.tools.hosted);
  return hostedTools === null
    ? { problem: "unreadable" }
    : { task: { ...task, tools: { ...task.tools, hosted: hostedTools } } };
}

/** Restores the request's items where the context only has their places. */
function withWholeContext(storedTask: Stored): Stored {
  const { tools, request } = storedTask;
  if (!isRecord(tools) || !isRecord(request)) return storedTask;
  const { context } = tools;
  const { items } = request;
  if (!Array.isArray(context) || !Array.isArray(items)) return storedTask;
  return { ...storedTask, tools: { ...tools, context: context.map((item) => (isNumber(item) ? items[item] : item)) } };
}

/** Stored tasks have what is one member of a task as two, and the settings of a successor. */
function withReasoning({ rawReasoningAs, sealsReasoning, settings: _settings, ...others }: Stored): Stored {
  return { ...others, reasoning: { rawAs: rawReasoningAs, isSealed: sealsReasoning } };
}

type Stored = Readonly<Record<string, unknown>>;

/** Members added without a new version, because older programs work without them. */
const ADDED_MEMBERS: Pick<RunTask, "interruption"> = { interruption: null };

/** Each function converts from one version to the next. A new one raises `TASK_VERSION`. */
const MIGRATIONS: readonly ((storedTask: Stored) => Stored)[] = [fromFirstVersion, fromSecondVersion];

/**
 * The first version had no number, and members were added to it over time. An absent member means the feature was not
 * requested.
 */
function fromFirstVersion(storedTask: Stored): Stored {
  const request = isRecord(storedTask["request"]) ? storedTask["request"] : {};
  return {
    rawReasoningAs: "text",
    sealsReasoning: false,
    inputTokensEstimate: 0,
    speech: null,
    compaction: null,
    ...storedTask,
    request: { ...FIRST_VERSION_DEFAULTS, ...request },
  };
}

/** The second version had no tools of this server. */
function fromSecondVersion(storedTask: Stored): Stored {
  return { ...storedTask, tools: null };
}

const FIRST_VERSION_DEFAULTS = {
  instructions: null,
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  text: { format: { type: "text" }, verbosity: "medium" },
  reasoning: { effort: null, summary: null },
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  presencePenalty: null,
  frequencyPenalty: null,
  topLogprobs: null,
  user: null,
  promptCacheKey: null,
  serviceTier: null,
  metadata: {},
  trace: null,
} as const satisfies Omit<ModelRequest, "model" | "items">;

function parseObject(json: string): Stored | null {
  const value = jsonOrUndefined(json);
  return isRecord(value) ? value : null;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";
const isTyped: Check = (value) => isRecord(value) && isText(value["type"]);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isNullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const hasMembers =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) && Object.entries(checks).every(([name, check]) => check(value[name]));

const isIdStem = hasMembers({ key: isText, createdAt: isNumber, seed: isText });
const isSpeech = hasMembers({ format: isText, voice: isNullOr(isText), sampleRateHz: isNumber });
const isTrace = hasMembers({ traceparent: isText, tracestate: isNullOr(isText) });

const isExtras = isNullOr(hasMembers({ standard: isRecord, unknown: isRecord, stop: isListOf(isText) }));

/** The compiler checks that every member is listed. */
const REQUEST_MEMBERS: Readonly<Record<keyof ModelRequest, Check>> = {
  model: isText,
  instructions: isNullOr(isText),
  items: isListOf(isTyped),
  tools: isListOf(isTyped),
  toolChoice: (value) => isText(value) || isTyped(value),
  parallelToolCalls: isBoolean,
  text: isRecord,
  reasoning: hasMembers({ effort: isNullOr(isText), summary: isNullOr(isText) }),
  maxOutputTokens: isNullOr(isNumber),
  temperature: isNullOr(isNumber),
  topP: isNullOr(isNumber),
  presencePenalty: isNullOr(isNumber),
  frequencyPenalty: isNullOr(isNumber),
  topLogprobs: isNullOr(isNumber),
  user: isNullOr(isText),
  promptCacheKey: isNullOr(isText),
  serviceTier: isNullOr(isText),
  metadata: isRecord,
  extras: (value) => value === undefined || isExtras(value), // Absent from older tasks.
  payer: (value) => value === undefined || isText(value), // Absent from older tasks.
  trace: isNullOr(isTrace),
};

const TOOLS_MEMBERS: Readonly<Record<keyof TaskTools, Check>> = {
  hosted: isListOf(hasMembers({ kind: isText, tool: isTyped })),
  include: isListOf(isText),
  callsMax: isNullOr(isNumber),
  context: isListOf(isTyped),
  fitsWindow: isBoolean,
};

const TASK_MEMBERS: Readonly<Record<keyof RunTask, Check>> = {
  ids: isIdStem,
  reasoning: hasMembers({ rawAs: (value) => value === "text" || value === "summary", isSealed: isBoolean }),
  inputTokensEstimate: isNumber,
  request: hasMembers(REQUEST_MEMBERS),
  speech: isNullOr(isSpeech),
  compaction: (value) =>
    value === null ||
    (isRecord(value) && (value["type"] === "instead" || (value["type"] === "after" && isNumber(value["threshold"])))),
  tools: isNullOr(hasMembers(TOOLS_MEMBERS)),
  interruption: isNullOr((value) => value === "restart" || value === "fail"),
};

function isRunTask(value: unknown): value is RunTask {
  return hasMembers(TASK_MEMBERS)(value);
}
