import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { readConversation } from "../conversation.ts";
import { type Step, textDelta } from "../step.ts";
import { usageEvent } from "../usage.ts";
import type { ScenarioEvent } from "./scenario-event.ts";
import type { Scenario, ScenarioFile } from "./scenario-file.ts";

/** The first scenario whose conditions all hold, or null. */
export function findScenario(file: ScenarioFile, request: ModelRequest): Scenario | null {
  const { text, userTexts, systemTexts, toolOutputs: outputs } = readConversation(request.items);
  const mentions = (texts: readonly string[], what = ""): boolean =>
    texts.some((one) => one.toLowerCase().includes(what.toLowerCase()));
  const holds = ({ when }: Scenario): boolean =>
    mentions([text], when.input_contains ?? "") &&
    mentions([text, ...userTexts, ...systemTexts], when.context_contains ?? "") &&
    (when.turn ?? userTexts.length) === userTexts.length &&
    (when.model ?? request.model) === request.model &&
    (when.has_tool_output ?? outputs.length > 0) === outputs.length > 0 &&
    (when.tool_outputs ?? outputs.length) === outputs.length;
  return file.scenarios.find(holds) ?? null;
}

/** The events as steps. If the file has no `finish` or `usage`, the answer ends normally and its usage is counted. */
export function playScenario(events: readonly ScenarioEvent[], request: ModelRequest): readonly Step[] {
  const eventSteps = events.flatMap((event): readonly Step[] => {
    if (event.type === "text") return event.pieces.map((piece) => textDelta(piece, request.topLogprobs));
    if (event.type === "break_off") return [];
    return [event.type === "call_started" ? asOffered(event, request) : event];
  });
  const ends = events.some(({ type }) => type === "finished" || type === "break_off" || type === "failure");
  const steps: readonly Step[] = ends ? eventSteps : [...eventSteps, { type: "finished", reason: "stop" }];
  if (eventSteps.some((step) => step.type === "usage")) return steps;
  return steps.flatMap((step): readonly Step[] =>
    step.type === "finished" ? [usageEvent(request, eventSteps), step] : [step],
  );
}

/**
 * A scenario calls tools by name alone. The name of a hosted function means that function, unless the client has one
 * with the same name.
 */
function asOffered(event: Extract<ModelEvent, { type: "call_started" }>, { tools }: ModelRequest): ModelEvent {
  const { namespace, ...call } = event;
  if (call.kind !== "function" || tools.some((tool) => tool.type === "function" && tool.name === call.name))
    return event;
  const target = tools.find(
    (tool) => tool.type === "hosted_function" && tool.name === call.name && (namespace ?? tool.server) === tool.server,
  );
  if (target?.type !== "hosted_function") return event;
  return { ...call, kind: "hosted", ...(target.server === null ? {} : { namespace: target.server }) };
}
