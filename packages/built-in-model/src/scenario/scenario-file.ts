import { readFile } from "node:fs/promises";
import { describeFault, expected, integer, NAME } from "@antiphon/base/yaml/file-values.ts";
import { parseDocument } from "yaml";
import { z } from "zod";
import { MODEL_NAME } from "../model-name.ts";
import { ScenarioError } from "../scenario-error.ts";
import { ANNOTATION, COUNT, MODEL_EVENT, PHASE } from "./model-events.ts";

/** Ten minutes. Also keeps the delay far below the limit of JavaScript timers. */
const DELAY_MS_MAX = 600_000;
const CHUNKS_MAX = 10_000;

/** By default a server error with status 500. */
const FAILURE = z.strictObject({
  status: integer(400, 599).default(500),
  type: NAME.default("server_error"),
  code: NAME.nullable().default("server_error"),
  message: NAME,
  param: NAME.nullable().default(null),
  retry_after_seconds: integer(0).nullable().default(null),
});

/** A text, played word by word, or its pieces. */
const PIECES = z.union([z.string(), z.strictObject({ chunks: z.array(z.string()) })], {
  error: expected("a text or {chunks: […]}"),
});
/** A mapping becomes JSON; a text is used unchanged, so that a scenario can send invalid JSON. */
const ARGUMENTS = z.union([z.string(), z.record(z.string(), z.unknown())], { error: expected("a mapping or a text") });
const CALL = z.strictObject({
  name: NAME,
  namespace: NAME.nullish(),
  call_id: NAME.nullish(),
  chunks: integer(1, CHUNKS_MAX).nullish(),
});

const USAGE = z.strictObject({
  input_tokens: COUNT,
  cached_tokens: COUNT,
  cache_write_tokens: COUNT,
  output_tokens: COUNT,
  reasoning_tokens: COUNT,
});

const KINDS = z.strictObject({
  text: PIECES,
  refusal: PIECES,
  reasoning: PIECES,
  reasoning_summary: z.array(z.string()),
  call: CALL.extend({ arguments: ARGUMENTS.nullish() }),
  custom_call: CALL.extend({ input: z.string() }),
  message: z.strictObject({ phase: PHASE.exactOptional() }).nullable(),
  annotation: ANNOTATION,
  usage: USAGE,
  finish: z.enum(["stop", "length", "content_filter", "none"]),
  delay_ms: integer(0, DELAY_MS_MAX),
  error: FAILURE,
  raw: MODEL_EVENT,
  refuse_turn: FAILURE,
});

const EVENT = KINDS.partial().superRefine((event, context) => {
  const message = `should have exactly one of these keys: ${Object.keys(KINDS.shape).join(", ")}`;
  if (Object.keys(event).length !== 1) context.addIssue({ code: "custom", message });
});

const EVENTS = z.array(EVENT).superRefine((events, context) => {
  const refusal = events.findIndex(({ refuse_turn: error }) => error !== undefined);
  const message = "is not allowed: refuse_turn must be the only event";
  if (refusal !== -1 && events.length > 1) context.addIssue({ code: "custom", message, path: [Math.max(refusal, 1)] });
});

/** What a request must be like. A condition that is absent or null always holds. */
const CONDITIONS = z.strictObject({
  input_contains: NAME.nullish(),
  context_contains: NAME.nullish(),
  turn: integer(1).nullish(),
  model: NAME.nullish(),
  has_tool_output: z.boolean().nullish(),
  tool_outputs: integer(0).nullish(),
});

const FILE = z
  .strictObject({
    models: z.array(NAME).default([]),
    fallback: z.enum(["planner", "error"]).default("planner"),
    scenarios: z.array(z.strictObject({ when: CONDITIONS.nullish(), events: EVENTS })),
  })
  .superRefine(({ models, scenarios }, context) => {
    const known = [MODEL_NAME, ...models];
    for (const [index, { when }] of scenarios.entries()) {
      const model = when?.model ?? MODEL_NAME;
      const message = expected(`one of ${known.join(", ")}`)({ input: model });
      if (!known.includes(model))
        context.addIssue({ code: "custom", message, path: ["scenarios", index, "when", "model"] });
    }
  });

/** The checked content of a scenario file. */
export type ScenarioFile = z.infer<typeof FILE>;
export type Scenario = ScenarioFile["scenarios"][number];
export type ScenarioEvent = Scenario["events"][number];

/** Throws `ScenarioError` if the file cannot be read or has a wrong format. */
export async function loadScenarioFile(file: string): Promise<ScenarioFile> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ScenarioError(`${file}: the scenario file cannot be read: ${reason}.`, { cause });
  });
  return parseScenarioFile(text, file);
}

/** Reads the text of a scenario file. Errors call the file by `name`. Throws `ScenarioError`. */
export function parseScenarioFile(text: string, name: string): ScenarioFile {
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) throw new ScenarioError(`${name}: ${fault.message}`, { cause: fault });
  const { data, error } = FILE.safeParse(document.toJS(), { error: describeFault });
  if (error === undefined) return data;
  const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0];
  throw new ScenarioError(`${name}: ${placeOf(issue)} ${issue?.message}.`);
}

/** A place in the file, such as `scenarios[0].events[2].call.name`. */
function placeOf(issue: z.core.$ZodIssue | undefined): string {
  const steps = [...(issue?.path ?? []), ...(issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [])];
  const place = steps.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return place === "" ? "the file" : place.slice(1);
}
