import type { OutputItem, ResponseStreamEvent } from "../../generated/responses-api/types.ts";
import { isHostedItem } from "./blocks/hosted-shapes.ts";
import type { HostedItem, HostedItemEvent, ModelEvent, RecordedEvent, ToolStep } from "./ports.ts";
import type { RunPlan, RunSignal, RunState } from "./run-state.ts";
import { initialState, type Transition, transition } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/** The part of an answer that was shown, where its model can be asked for the rest. */
export interface ShownAnswer {
  /** The items that have ended, and open reasoning, which ends now. */
  readonly output: readonly OutputItem[];
  /** The first form of the item of a hosted tool that has not ended. */
  readonly open: HostedItem | null;
  /** How far its sound was heard. */
  readonly sound: "not begun" | "open" | "over";
}

export interface RestoredRun {
  readonly state: RunState;
  /** Whether any part of the answer was shown. */
  readonly hasAnswer: boolean;
  /** Null if the run cannot go on where it was, for example in the middle of a message. */
  readonly shown: ShownAnswer | null;
  /** The events after the logged ones if `last` ends the run. */
  end(last: RunSignal): Transition;
}

/**
 * Restores the state of a run from its logged events. Its signals are derived from the events and played again; events
 * beyond the logged ones are those that are missing.
 */
export function restoreRun(plan: RunPlan, logged: readonly RecordedEvent[]): RestoredRun {
  const replayed: UnnumberedEvent[] = [];
  let state: RunState = initialState(plan);
  for (const { event } of logged) {
    for (const signal of signalsOf(event)) {
      const next = transition(state, signal);
      state = next.state;
      replayed.push(...next.events);
    }
  }
  const restored = state;
  const matchesLog = replayed.every((event, index) => index >= logged.length || event.type === logged[index]?.type);
  return {
    state: restored,
    hasAnswer: logged.some((event) => !isBeginning(event)),
    shown: matchesLog && replayed.length === logged.length ? shownAnswer(restored, logged.some(isSound)) : null,
    end: (last) => {
      const next = transition(asAccepted(restored), last);
      const all = [...replayed, ...next.events];
      // If replaying gave other events than the log has, only the events of the end itself are added.
      return {
        state: next.state,
        events: matchesLog ? all.slice(logged.length) : next.events.slice(-endEventCount(last)),
      };
    },
  };
}

/** A run whose events cannot be read is treated as just accepted. */
function asAccepted(state: RunState): RunState {
  return state.phase === "waiting" ? transition(state, { type: "accepted" }).state : state;
}

function shownAnswer(state: RunState, hasSound: boolean): ShownAnswer | null {
  const goingOn = asGoingOn(state);
  if (goingOn.phase !== "answering") return null;
  const { open, output } = goingOn;
  if (open !== null && open.kind !== "hosted") return null;
  // After a whole message the model may have been done; only the end is missing then.
  if (open === null && output.at(-1)?.type === "message") return null;
  const heard = hasSound ? "over" : "not begun";
  return { output, open: open?.item ?? null, sound: goingOn.isSoundOpen ? "open" : heard };
}

function asGoingOn(state: RunState): RunState {
  return transition(state, { type: "accepted" }).state;
}

function endEventCount(last: RunSignal): number {
  return last.type === "model_failed" ? 2 : 1;
}

function isSound({ type }: RecordedEvent): boolean {
  return type.startsWith("response.audio.");
}

function isBeginning({ type }: RecordedEvent): boolean {
  return type === "response.created" || type === "response.queued" || type === "response.in_progress";
}

function signalsOf(event: ResponseStreamEvent): readonly RunSignal[] {
  if (event.type === "response.queued") return [{ type: "queued" }];
  if (event.type === "response.in_progress") return [{ type: "accepted" }];
  // Reasoning ends when another item begins, or when the run went on after a crash.
  if (event.type === "response.output_item.done" && event.item.type === "reasoning") return [{ type: "accepted" }];
  const end = /^response\.\w+\.(completed|failed)$/.exec(event.type)?.[1];
  if (end !== undefined) return [{ type: "item_end_shown", failed: end === "failed" }];
  const heard = itemEventOf(event) ?? modelEventOf(event);
  return heard === null ? [] : [{ type: "model", event: heard }];
}

/** The model event that caused a wire event; null if another wire event implies it. */
function modelEventOf(event: ResponseStreamEvent): ModelEvent | null {
  switch (event.type) {
    case "response.output_item.added":
      return startEventOf(event.item);
    case "response.output_item.done":
      return endEventOf(event.item);
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

/** The event of the tool loop that caused a wire event. */
function itemEventOf(event: ResponseStreamEvent): HostedItemEvent | null {
  switch (event.type) {
    case "response.output_item.added":
      return isHostedItem(event.item) ? { type: "item_started", item: event.item } : null;
    case "response.output_item.done":
      return isHostedItem(event.item) ? { type: "item_finished", item: event.item } : null;
    case "response.mcp_call_arguments.delta":
    case "response.code_interpreter_call_code.delta":
    case "response.apply_patch_call_operation_diff.delta":
    case "response.shell_call_command.delta":
      return { type: "item_delta", text: event.delta };
    case "response.shell_call_command.added":
      return { type: "item_delta", text: "" };
    case "response.mcp_call_arguments.done":
    case "response.code_interpreter_call_code.done":
    case "response.apply_patch_call_operation_diff.done":
    case "response.shell_call_command.done":
      return { type: "item_written" };
    default: {
      const step = stepOf(event);
      return step === null ? null : { type: "item_step", step };
    }
  }
}

function stepOf(event: ResponseStreamEvent): ToolStep | null {
  switch (event.type) {
    case "response.web_search_call.searching":
    case "response.file_search_call.searching":
      return { type: "searching" };
    case "response.code_interpreter_call.interpreting":
      return { type: "interpreting" };
    case "response.image_generation_call.generating":
      return { type: "generating" };
    case "response.image_generation_call.partial_image": {
      const { type: _type, item_id: _id, output_index: _index, sequence_number: _number, ...picture } = event;
      return { type: "partial_image", ...picture };
    }
    case "response.shell_call_output_content.delta":
      return { type: "command_printed", stdout: event.delta.stdout ?? "", stderr: event.delta.stderr ?? "" };
    case "response.shell_call_output_content.done": {
      const [output] = event.output;
      return output === undefined ? null : { type: "command_ended", output };
    }
    default:
      return null;
  }
}

function endEventOf(item: OutputItem): ModelEvent | null {
  const { type } = item;
  if (type === "message") return { type: "message_finished" };
  if (type !== "function_call" && type !== "custom_tool_call") return null;
  return { type: "call_finished", ...(item.status === "incomplete" ? { isCut: true } : {}) };
}

function startEventOf(item: OutputItem): ModelEvent | null {
  if (item.type === "compaction") return { type: "compaction", encryptedContent: item.encrypted_content };
  if (item.type === "message") return { type: "message_started", ...(item.phase == null ? {} : { phase: item.phase }) };
  if (item.type !== "function_call" && item.type !== "custom_tool_call") return null;
  const kind = item.type === "function_call" ? "function" : "custom";
  const { call_id: callId, name, namespace } = item;
  return { type: "call_started", kind, callId, name, ...(namespace == null ? {} : { namespace }) };
}
