import { readFile } from "node:fs/promises";
import { choiceOf, expected, integer, manyOf, mapping, NAME } from "@antiphon/base/yaml/file-values.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { parseDocument } from "yaml";
import { z } from "zod";
import { MODEL_NAME } from "../model-name.ts";
import { ScenarioError } from "../scenario-error.ts";
import { SCENARIO_EVENT, type ScenarioEvent } from "./scenario-event.ts";

/** A refused turn fails before it begins, with an HTTP error; any other is played. */
export type Script =
  | { readonly type: "refused"; readonly error: ModelError }
  | { readonly type: "played"; readonly events: readonly ScenarioEvent[] };

const SCRIPT = manyOf(SCENARIO_EVENT).transform((events, context): Script => {
  const refusal = events.findIndex((event) => event instanceof ModelError);
  const [first] = events;
  if (events.length === 1 && first instanceof ModelError) return { type: "refused", error: first };
  if (refusal === -1) return { type: "played", events: events.filter(Array.isArray).flat() };
  const message = "is not allowed: refuse_turn must be the only event";
  context.addIssue({ code: "custom", message, path: [Math.max(refusal, 1)] });
  return z.NEVER;
});

/** What a request must be like. A condition that is absent or null always holds. */
const CONDITIONS = mapping({
  input_contains: NAME.nullish(),
  context_contains: NAME.nullish(),
  turn: integer(1).nullish(),
  model: NAME.nullish(),
  has_tool_output: z.boolean({ error: expected("true or false") }).nullish(),
  tool_outputs: integer(0).nullish(),
});

const FILE = mapping({
  models: manyOf(NAME)
    .nullish()
    .transform((models) => models ?? []),
  fallback: choiceOf(["planner", "error"])
    .nullish()
    .transform((fallback) => fallback ?? "planner"),
  scenarios: manyOf(
    mapping({ when: CONDITIONS.nullish(), events: SCRIPT }).transform(({ when, events }) => ({
      when: when ?? {},
      script: events,
    })),
  ),
}).superRefine(({ models, scenarios }, context) => {
  const known = [MODEL_NAME, ...models];
  for (const [index, { when }] of scenarios.entries()) {
    const model = when.model ?? MODEL_NAME;
    const message = expected(`one of ${known.join(", ")}`)({ input: model });
    if (!known.includes(model))
      context.addIssue({ code: "custom", message, path: ["scenarios", index, "when", "model"] });
  }
});

/** The checked content of a scenario file. */
export type ScenarioFile = z.infer<typeof FILE>;
export type Scenario = ScenarioFile["scenarios"][number];

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
  const { data, error } = FILE.safeParse(document.toJS());
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
