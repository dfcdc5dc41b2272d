import type { OutputItem, ResponseStreamEvent } from "../../generated/responses-api/types.ts";
import type { ModelEvent, RecordedEvent } from "./ports.ts";
import type { RunPlan, RunSignal, RunState } from "./run-state.ts";
import { type Transition, transition, waiting } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

export interface RestoredRun {
  readonly state: RunState;
  /** Whether anything of the answer was shown. */
  readonly hasAnswer: boolean;
  /** What follows the logged events if `last` ends the run. */
  end(last: RunSignal): Transition;
}

/**
 * A run as its events tell it. A run is a function of its signals, so the signals are read back from the events and the
 * run is run again: what it says beyond the logged events is what is missing of them.
 */
export function restoreRun(plan: RunPlan, logged: readonly RecordedEvent[]): RestoredRun {
  const made: UnnumberedEvent[] = [];
  let state: RunState = waiting(plan);
  for (const { event } of logged) {
    for (const signal of signalsOf(event)) {
      const next = transition(state, signal);
      state = next.state;
      made.push(...next.events);
    }
  }
  const restored = state;
  const isFaithful = made.every((event, index) => index >= logged.length || event.type === logged[index]?.event.type);
  return {
    state: restored,
    hasAnswer: logged.some(({ event }) => !isBeginning(event)),
    end: (last) => {
      const next = transition(begun(restored), last);
      const all = [...made, ...next.events];
      // An item of a kind that no signal makes leaves only the end itself to be told.
      return {
        state: next.state,
        events: isFaithful ? all.slice(logged.length) : next.events.slice(-endingEvents(last)),
      };
    },
  };
}

/** Of a run whose events cannot be had nothing is known but that its model was asked. */
function begun(state: RunState): RunState {
  return state.phase === "waiting" ? transition(state, { type: "accepted" }).state : state;
}

function endingEvents(last: RunSignal): number {
  return last.type === "model_failed" ? 2 : 1;
}

function isBeginning({ type }: ResponseStreamEvent): boolean {
  return type === "response.created" || type === "response.queued" || type === "response.in_progress";
}

function signalsOf(event: ResponseStreamEvent): readonly RunSignal[] {
  if (event.type === "response.queued") return [{ type: "queued" }];
  if (event.type === "response.in_progress") return [{ type: "accepted" }];
  const heard = modelEventOf(event);
  return heard === null ? [] : [{ type: "model", event: heard }];
}

/** The model's word that an event came from; null for those that follow from others. */
function modelEventOf(event: ResponseStreamEvent): ModelEvent | null {
  switch (event.type) {
    case "response.output_item.added":
      return beginningOf(event.item);
    case "response.output_item.done":
      return endOf(event.item);
    case "response.output_text.delta":
      return { type: "text_delta", text: event.delta, logprobs: event.logprobs };
    case "response.output_text.annotation.added":
      return { type: "annotation", annotation: event.annotation };
    case "response.refusal.delta":
      return { type: "refusal_delta", text: event.delta };
    case "response.reasoning_text.delta":
      return { type: "reasoning_delta", text: event.delta };
    case "response.reasoning_summary_text.delta":
      return { type: "reasoning_summary_delta", text: event.delta };
    case "response.reasoning_summary_part.done":
      return { type: "reasoning_summary_break" };
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      return { type: "call_delta", text: event.delta };
    case "response.audio.delta":
      return { type: "audio_delta", audio: event.delta };
    case "response.audio.transcript.delta":
      return { type: "audio_transcript_delta", text: event.delta };
    case "response.audio.done":
      return { type: "audio_done" };
    default:
      return null;
  }
}

function endOf(item: OutputItem): ModelEvent | null {
  const { type } = item;
  if (type === "message") return { type: "message_finished" };
  if (type !== "tool_search_call" && type !== "function_call" && type !== "custom_tool_call") return null;
  const cut = item.status === "incomplete" ? { isCut: true } : {};
  if (type !== "tool_search_call") return { type: "call_finished", ...cut };
  // It begins without its arguments.
  return { type: "tool_search", callId: item.call_id, arguments: item.arguments, ...cut };
}

function beginningOf(item: OutputItem): ModelEvent | null {
  if (item.type === "compaction") return { type: "compaction", encryptedContent: item.encrypted_content };
  if (item.type === "message") return { type: "message_started", ...(item.phase == null ? {} : { phase: item.phase }) };
  if (item.type !== "function_call" && item.type !== "custom_tool_call") return null;
  const kind = item.type === "function_call" ? "function" : "custom";
  const { call_id: callId, name, namespace } = item;
  return { type: "call_started", kind, callId, name, ...(namespace == null ? {} : { namespace }) };
}
