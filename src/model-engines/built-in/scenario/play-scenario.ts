import { assertNever } from "../../../base/assert.ts";
import type { ModelEvent } from "../../../runs/ports/model-events.ts";
import type { ModelRequest } from "../../../runs/request/model-request.ts";
import { readConversation } from "../conversation.ts";
import { textDelta } from "../say-text.ts";
import type { Step } from "../step.ts";
import { usageEvent } from "../usage.ts";
import type { Conditions, Scenario, ScenarioEvent, ScenarioFile } from "./scenario-file.ts";

/** The first scenario whose conditions all hold, or null. */
export function findScenario(file: ScenarioFile, request: ModelRequest): Scenario | null {
  const { text, userTexts, systemTexts, toolOutputs: outputs } = readConversation(request.items);
  const said = (texts: readonly string[], what: string): boolean =>
    texts.some((one) => one.toLowerCase().includes(what.toLowerCase()));
  const holds = ({ inputContains, contextContains, turn, model, hasToolOutput, toolOutputs }: Conditions): boolean =>
    (inputContains === null || said([text], inputContains)) &&
    (contextContains === null || said([...userTexts, ...systemTexts], contextContains)) &&
    (turn === null || turn === userTexts.length) &&
    (model === null || model === request.model) &&
    (hasToolOutput === null || hasToolOutput === outputs.length > 0) &&
    (toolOutputs === null || toolOutputs === outputs.length);
  return file.scenarios.find((scenario) => holds(scenario.when)) ?? null;
}

/** The events as steps. If the file has no `finish` or `usage`, the answer ends normally and its usage is counted. */
export function playScenario(events: readonly ScenarioEvent[], request: ModelRequest): readonly Step[] {
  const said = events.flatMap((event) => stepsOf(event, request));
  const ends =
    said.some((step) => step.type === "finished") ||
    events.some((event) => event.type === "break_off" || event.type === "failure");
  const steps: readonly Step[] = ends ? said : [...said, { type: "finished", reason: "stop" }];
  if (said.some((step) => step.type === "usage")) return steps;
  return steps.flatMap((step): readonly Step[] =>
    step.type === "finished" ? [usageEvent(request, said), step] : [step],
  );
}

function stepsOf(event: ScenarioEvent, request: ModelRequest): readonly Step[] {
  switch (event.type) {
    case "text":
      return event.pieces.map((piece) => textDelta(piece, request.topLogprobs));
    case "event":
      return [asOffered(event.event, request)];
    case "pause":
    case "failure":
      return [event];
    case "break_off":
      return [];
    default:
      return assertNever(event);
  }
}

/**
 * A scenario calls tools by name alone. The name of a hosted function means that function, unless the client has one
 * with the same name.
 */
function asOffered(event: ModelEvent, { tools }: ModelRequest): ModelEvent {
  if (event.type !== "call_started" || event.kind !== "function") return event;
  const { namespace, ...call } = event;
  if (tools.some((tool) => tool.type === "function" && tool.name === call.name)) return event;
  const meant = tools.find(
    (tool) =>
      tool.type === "hosted_function" &&
      tool.name === call.name &&
      (namespace === undefined || tool.server === namespace),
  );
  if (meant?.type !== "hosted_function") return event;
  return { ...call, kind: "hosted", ...(meant.server === null ? {} : { namespace: meant.server }) };
}
