import { assertNever } from "../../../base/assert.ts";
import type { ModelRequest } from "../../../runs/ports.ts";
import { readConversation } from "../conversation.ts";
import { textDelta } from "../say-text.ts";
import type { Step } from "../step.ts";
import { usageOf } from "../usage.ts";
import type { Conditions, Line, Scenario, Scene } from "./scenario.ts";

/** The first scene whose conditions all hold, or null. */
export function findScene(scenario: Scenario, request: ModelRequest): Scene | null {
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
  return scenario.scenes.find((scene) => holds(scene.when)) ?? null;
}

/** A scene's lines as steps. Where the file says nothing of them, the answer ends well and its usage is counted. */
export function playScene(lines: readonly Line[], request: ModelRequest): readonly Step[] {
  const said = lines.flatMap((line) => stepsOf(line, request));
  const ends =
    said.some((step) => step.type === "finished") ||
    lines.some((line) => line.type === "break_off" || line.type === "failure");
  const steps: readonly Step[] = ends ? said : [...said, { type: "finished", reason: "stop" }];
  if (said.some((step) => step.type === "usage")) return steps;
  return steps.flatMap((step): readonly Step[] => (step.type === "finished" ? [usageOf(request, said), step] : [step]));
}

function stepsOf(line: Line, request: ModelRequest): readonly Step[] {
  switch (line.type) {
    case "text":
      return line.pieces.map((piece) => textDelta(piece, request.topLogprobs));
    case "event":
      return [line.event];
    case "pause":
    case "failure":
      return [line];
    case "break_off":
      return [];
    default:
      return assertNever(line);
  }
}
