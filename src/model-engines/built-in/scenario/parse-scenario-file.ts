import { readFile } from "node:fs/promises";
import { parseDocument } from "yaml";
import { MODEL_NAME } from "../model-name.ts";
import { readModelError } from "./read-model-error.ts";
import { readScenarioEvent } from "./read-scenario-event.ts";
import {
  type Mapping,
  readChoice,
  readFlag,
  readInteger,
  readList,
  readMapping,
  readName,
  readOptional,
} from "./read-values.ts";
import { Place, ScenarioError } from "./scenario-error.ts";
import type { Conditions, Scenario, ScenarioFile, Script } from "./scenario-file.ts";

/** Throws `ScenarioError` if the file cannot be read or has a wrong format. */
export async function loadScenarioFile(file: string): Promise<ScenarioFile> {
  return parseScenarioFile(await readScenarioText(file), file);
}

async function readScenarioText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ScenarioError(`${file}: the scenario file cannot be read: ${reason}.`, { cause });
  }
}

/** Reads the text of a scenario file. Errors call the file by `name`. Throws `ScenarioError`. */
export function parseScenarioFile(text: string, name: string): ScenarioFile {
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) throw new ScenarioError(`${name}: ${fault.message}`, { cause: fault });
  const place = new Place(name);
  const file = readMapping(document.toJS(), place, ["models", "fallback", "scenarios"]);
  const models = (readOptional(file["models"], (value) => readList(value, place.member("models"))) ?? []).map(
    (model, index) => readName(model, place.member("models").element(index)),
  );
  const known = [MODEL_NAME, ...models];
  return {
    models,
    fallback:
      readOptional(file["fallback"], (value) => readChoice(value, place.member("fallback"), ["planner", "error"])) ??
      "planner",
    scenarios: readList(file["scenarios"], place.member("scenarios")).map((scenario, index) =>
      readScenario(scenario, place.member("scenarios").element(index), known),
    ),
  };
}

function readScenario(value: unknown, place: Place, models: readonly string[]): Scenario {
  const scenario = readMapping(value, place, ["when", "events"]);
  return {
    when: readConditions(scenario["when"] ?? {}, place.member("when"), models),
    script: readScript(readList(scenario["events"], place.member("events")), place.member("events")),
  };
}

function readConditions(value: unknown, place: Place, models: readonly string[]): Conditions {
  const when: Mapping = readMapping(value, place, [
    "input_contains",
    "context_contains",
    "turn",
    "model",
    "has_tool_output",
    "tool_outputs",
  ]);
  return {
    inputContains: readOptional(when["input_contains"], (text) => readName(text, place.member("input_contains"))),
    contextContains: readOptional(when["context_contains"], (text) => readName(text, place.member("context_contains"))),
    turn: readOptional(when["turn"], (turn) => readInteger(turn, place.member("turn"), 1)),
    model: readOptional(when["model"], (model) => readChoice(model, place.member("model"), models)),
    hasToolOutput: readOptional(when["has_tool_output"], (flag) => readFlag(flag, place.member("has_tool_output"))),
    toolOutputs: readOptional(when["tool_outputs"], (count) => readInteger(count, place.member("tool_outputs"), 0)),
  };
}

function readScript(events: readonly unknown[], place: Place): Script {
  const [first] = events;
  const refuses = typeof first === "object" && first !== null && "refuse_turn" in first;
  if (!refuses)
    return { type: "played", events: events.flatMap((event, index) => readScenarioEvent(event, place.element(index))) };
  if (events.length > 1) throw place.element(1).error("is not allowed: refuse_turn must be the only event");
  const refused = readMapping(first, place.element(0), ["refuse_turn"]);
  return { type: "refused", error: readModelError(refused["refuse_turn"], place.element(0).member("refuse_turn")) };
}
