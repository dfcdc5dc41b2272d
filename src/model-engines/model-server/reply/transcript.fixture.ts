import { assertNever } from "@antiphon/base/assert.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

/**
 * A turn in one line. Adjacent deltas of one type are joined, so that the result does not depend on how the turn was
 * split. `get_time#call_1(…)` is a function call; `~` marks a custom call, `@` one of
 * a hosted function. Usage that the server has not counted is left out.
 */
export function transcript(events: readonly ModelEvent[]): string {
  let line = "";
  let last = "";
  for (const event of events) {
    if (event.type === "usage" && event.usage.isEstimate === true) continue;
    const isSameBlock = event.type === last && "text" in event;
    line += isSameBlock
      ? event.text
      : `${line === "" || event.type === "call_delta" || event.type === "call_finished" ? "" : " | "}${shown(event)}`;
    last = event.type;
  }
  return line;
}

function shown(event: ModelEvent): string {
  switch (event.type) {
    case "text_delta":
      return event.text;
    case "reasoning_delta":
      return `think: ${event.text}`;
    case "reasoning_summary_delta":
      return `summary: ${event.text}`;
    case "refusal_delta":
      return `refuse: ${event.text}`;
    case "call_started":
      return `${MARKS[event.kind]}${event.namespace === undefined ? "" : `${event.namespace}.`}${event.name}#${event.callId ?? "none"}(`;
    case "call_delta":
      return event.text;
    case "call_finished":
      return event.isCut === true ? "… cut)" : ")";
    case "tool_search":
      return `search#${event.callId ?? "none"}(${JSON.stringify(event.arguments)}${event.isCut === true ? "… cut" : ""})`;
    case "finished":
      return event.reason;
    case "usage":
      return `usage ${event.usage.inputTokens}/${event.usage.cachedTokens}/${event.usage.cacheWriteTokens} ${event.usage.outputTokens}/${event.usage.reasoningTokens}`;
    case "annotation":
      return `cites ${"url" in event.annotation ? event.annotation.url : event.annotation.type}`;
    case "model_resolved":
      return `model ${event.model}`;
    case "stop_sequence":
      return `stops at ${event.sequence}`;
    case "reasoning_sealed":
      return `seal: ${event.sealedText.slice(event.sealedText.indexOf("\n") + 1)}`;
    case "message_started":
    case "message_finished":
    case "reasoning_summary_break":
    case "turn_cut":
    case "item_started":
    case "item_delta":
    case "item_written":
    case "item_step":
    case "item_finished":
    case "tool_usage":
    case "compaction":
    case "audio_delta":
    case "audio_transcript_delta":
    case "audio_done":
      return event.type;
    default:
      return assertNever(event);
  }
}

const MARKS = { function: "", custom: "~", hosted: "@" } as const;
