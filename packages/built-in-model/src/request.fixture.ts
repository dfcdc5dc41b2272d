import type { InputItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest as aModelRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { isDelta, type Step } from "./step.ts";

/** A request with the given messages and defaults for everything else. */
export function aRequest(
  input: string | readonly (string | InputItem)[],
  changes: Partial<ModelRequest> = {},
): ModelRequest {
  const items = (typeof input === "string" ? [input] : input).map((item) =>
    typeof item === "string" ? says(item) : item,
  );
  return aModelRequest({ model: "antiphon-built-in", items, ...changes });
}

export function says(text: string): InputItem {
  return { type: "message", role: "user", content: text };
}

export function aFunction(
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
): Extract<Tool, { type: "function" }> {
  const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { type: "function", name, description, parameters, strict: true, output_schema: null };
}

export const WEATHER = aFunction("get_weather", "Tells the weather of a city.", { city: { type: "string" } });

/** The text of all deltas of one type. */
export function spoken(steps: readonly Step[], type: ModelEvent["type"] = "text_delta"): string {
  return steps
    .filter(isDelta)
    .filter((step) => step.type === type)
    .map((step) => step.text)
    .join("");
}

/** The types of the steps; consecutive equal ones appear once. */
export function outline(steps: readonly Step[]): string {
  const types = steps.map((step) => (step.type === "finished" ? step.reason : step.type));
  return types.filter((type, index) => type !== types[index - 1]).join(" ");
}
