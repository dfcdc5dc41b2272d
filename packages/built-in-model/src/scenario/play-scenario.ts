import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { readConversation } from "../conversation.ts";
import { callSteps, deltasOf, type Step, textDelta } from "../step.ts";
import { splitTokens, usageEvent } from "../tokens.ts";
import type { Scenario, ScenarioEvent, ScenarioFile } from "./scenario-file.ts";

/** What a kind of event holds. */
type Member<Kind extends keyof ScenarioEvent> = NonNullable<ScenarioEvent[Kind]>;

/** The first scenario whose conditions all hold, or null. */
export function findScenario(file: ScenarioFile, request: ModelRequest): Scenario | null {
  const { text, userTexts, systemTexts, toolOutputs: outputs } = readConversation(request);
  const mentions = (texts: readonly string[], what: string | null | undefined): boolean =>
    texts.some((one) => one.toLowerCase().includes((what ?? "").toLowerCase()));
  const holds = ({ when }: Scenario): boolean =>
    mentions([text], when?.input_contains) &&
    mentions([text, ...userTexts, ...systemTexts], when?.context_contains) &&
    (when?.turn ?? userTexts.length) === userTexts.length &&
    (when?.model ?? request.model) === request.model &&
    (when?.has_tool_output ?? outputs.length > 0) === outputs.length > 0 &&
    (when?.tool_outputs ?? outputs.length) === outputs.length;
  return file.scenarios.find(holds) ?? null;
}

/**
 * The events as steps. If the file has no `finish` or `usage`, the answer ends normally and its usage is counted.
 * Throws `ModelError` if the turn is refused.
 */
export function playScenario(events: readonly ScenarioEvent[], request: ModelRequest): readonly Step[] {
  const refusal = events[0]?.refuse_turn;
  if (refusal !== undefined) throw toModelError(refusal);
  const steps = events.flatMap((event) => eventSteps(event, request));
  if (!events.some(({ finish, error, raw }) => finish !== undefined || error !== undefined || raw?.type === "finished"))
    steps.push({ type: "finished", reason: "stop" });
  if (steps.some(({ type }) => type === "usage")) return steps;
  return steps.flatMap((step): Step[] => (step.type === "finished" ? [usageEvent(request, steps), step] : [step]));
}

/** An event has one member. */
function eventSteps(event: ScenarioEvent, request: ModelRequest): readonly Step[] {
  const { text, refusal, reasoning, reasoning_summary: summary, call, custom_call: custom } = event;
  if (text !== undefined) return textPieces(text).map((piece) => textDelta(piece, request.topLogprobs));
  if (refusal !== undefined) return deltasOf("refusal_delta", textPieces(refusal));
  if (reasoning !== undefined) return deltasOf("reasoning_delta", textPieces(reasoning));
  if (summary !== undefined) return summarySteps(summary);
  if (call !== undefined) {
    const input = call.arguments ?? {};
    const written = typeof input === "string" ? input : JSON.stringify(input);
    return playCall({ ...call, ...calledTool(call, request) }, written);
  }
  if (custom !== undefined) return playCall({ ...custom, kind: "custom" }, custom.input);
  const { message, annotation, usage, finish, delay_ms: ms, error, raw } = event;
  if (message !== undefined) return [{ type: "message_started", ...message }];
  if (annotation !== undefined) return [{ type: "annotation", annotation }];
  if (usage !== undefined) return [{ type: "usage", usage: toModelUsage(usage) }];
  if (finish !== undefined) return finish === "none" ? [] : [{ type: "finished", reason: finish }];
  if (ms !== undefined) return [{ type: "pause", ms }];
  if (error !== undefined) return [{ type: "failure", error: toModelError(error) }];
  return raw === undefined ? [] : [raw];
}

function toModelError({ message, retry_after_seconds: retryAfterSeconds, ...fields }: Member<"error">): ModelError {
  return new ModelError(message, { ...fields, retryAfterSeconds });
}

function toModelUsage(usage: Member<"usage">): ModelUsage {
  return {
    inputTokens: usage.input_tokens,
    cachedTokens: usage.cached_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    outputTokens: usage.output_tokens,
    reasoningTokens: usage.reasoning_tokens,
  };
}

function textPieces(text: Member<"text">): readonly string[] {
  return typeof text === "string" ? splitTokens(text) : text.chunks;
}

function summarySteps(parts: readonly string[]): readonly Step[] {
  const steps = parts.flatMap((part): Step[] => [
    { type: "reasoning_summary_break" },
    ...deltasOf("reasoning_summary_delta", splitTokens(part)),
  ]);
  return steps.slice(1);
}

type Call = Omit<Member<"call">, "arguments"> & { readonly kind: "function" | "custom" | "hosted" };

function playCall({ kind, name, namespace = null, call_id: callId = null, chunks }: Call, input: string): Step[] {
  const pieces = typeof chunks === "number" ? cutEvenly(input, chunks) : splitTokens(input);
  return callSteps({ kind, name, namespace, callId }, pieces);
}

/** Cuts into `count` pieces, or fewer if the text is too short. */
function cutEvenly(text: string, count: number): string[] {
  const characters = [...text];
  const cutAt = (index: number): number => Math.round((index * characters.length) / count);
  const pieces = Array.from({ length: count }, (_, index) => characters.slice(cutAt(index), cutAt(index + 1)).join(""));
  return pieces.filter((piece) => piece !== "");
}

/**
 * A scenario calls tools by name alone. The name of a hosted function means that function, unless the client has one
 * with the same name.
 */
function calledTool({ name, namespace }: Member<"call">, { tools }: ModelRequest): Pick<Call, "kind" | "namespace"> {
  const hosted = tools
    .filter((tool) => tool.type === "hosted_function")
    .find((tool) => tool.name === name && (namespace ?? tool.server) === tool.server);
  if (hosted === undefined || tools.some((tool) => tool.type === "function" && tool.name === name))
    return { kind: "function", namespace };
  return { kind: "hosted", namespace: hosted.server };
}
