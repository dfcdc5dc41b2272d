import { assert, assertNever } from "@antiphon/base/assert.ts";
import { wholeTextOf } from "@antiphon/base/growing-text.ts";
import type { OutputItem, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItem, HostedItemEvent, ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { isHostedItem } from "./blocks/hosted-shapes.ts";
import type { MessageBlock } from "./blocks/message-block.ts";
import { closeOpen } from "./blocks/open-block.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { Answering, RunPlan, RunSignal, RunState } from "./run-state.ts";
import { initialState, type Transition, transition } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/** The shown part of an answer whose model can continue it. */
export interface ShownAnswer {
  /** The items that have ended. */
  readonly output: readonly OutputItem[];
  /** The unfinished item. */
  readonly open: OpenItem | null;
  /** The state of its sound. */
  readonly sound: "not begun" | "open" | "over";
}

/** An unfinished item, as far as it was shown. */
export type OpenItem =
  /** The first form of the item of a hosted tool. */
  | { readonly type: "hosted"; readonly item: HostedItem }
  /** The form in which it ends now. */
  | { readonly type: "reasoning"; readonly item: OutputItem }
  | UnfinishedMessage
  | UnfinishedCall;

export interface UnfinishedMessage {
  readonly type: "message";
  readonly text: string;
  /** Whether it is only this text, without refusal and annotations, so that more text can follow. */
  readonly isPlain: boolean;
}

/** A call for the client. */
export interface UnfinishedCall {
  readonly type: "call";
  readonly kind: "function" | "custom";
  readonly name: string;
  readonly namespace: string | null;
  readonly text: string;
}

export interface RestoredRun {
  readonly state: RunState;
  /** Whether any part of the answer was shown. */
  readonly hasAnswer: boolean;
  /** Null if nothing was shown yet, or if the run cannot continue. */
  readonly shownAnswer: ShownAnswer | null;
  /** The missing events after the log if `last` ends the run. */
  end(last: RunSignal): Transition;
}

/**
 * Restores the state of a run from its logged events. Finished items are taken as logged. The events after the last
 * finished item are turned back into signals and replayed: if the replay gives the logged events and more, the log
 * lacks those. The log of another release may differ, and then counts as complete.
 */
export function restoreRun(plan: RunPlan, loggedEvents: readonly RecordedEvent[]): RestoredRun {
  const split = loggedEvents.findLastIndex(({ type }) => type === "response.output_item.done") + 1;
  const tail = loggedEvents.slice(split);
  const replayEvents: UnnumberedEvent[] = [];
  let state = stateAfter(plan, loggedEvents.slice(0, split));
  for (const { event } of tail) {
    for (const signal of signalsOf(event)) {
      const next = transition(state, signal);
      state = next.state;
      replayEvents.push(...next.events);
    }
  }
  const restoredState = state;
  const matchesLog = replayEvents.every((event, index) => index >= tail.length || event.type === tail[index]?.type);
  const isWhole = !matchesLog || replayEvents.length <= tail.length;
  return {
    state: restoredState,
    hasAnswer: loggedEvents.some((event) => !isBeginning(event)),
    shownAnswer: isWhole ? shownAnswer(restoredState, loggedEvents.some(isSound)) : null,
    end: (last) => {
      const next = transition(asAccepted(restoredState), last);
      return {
        state: next.state,
        events: matchesLog ? [...replayEvents, ...next.events].slice(tail.length) : next.events,
      };
    },
  };
}

/** The state after these events, the last of which ended an item. */
function stateAfter(plan: RunPlan, loggedEvents: readonly RecordedEvent[]): RunState {
  if (loggedEvents.length === 0) return initialState(plan);
  const state = transition(
    loggedEvents.some(({ type }) => type === "response.queued") ? { phase: "queued", plan } : initialState(plan),
    { type: "accepted" },
  ).state;
  assert(state.phase === "answering", "a run answers once its model has accepted");
  let characters = 0;
  let isSoundOpen = false;
  const output: OutputItem[] = [];
  for (const { event } of loggedEvents) {
    if (event.type === "response.output_item.done") output.push(event.item);
    if (event.type === "response.audio.delta" || event.type === "response.audio.transcript.delta") isSoundOpen = true;
    else if (event.type === "response.audio.done") isSoundOpen = false;
    else if ("delta" in event && typeof event.delta === "string") characters += event.delta.length;
  }
  return { ...state, output, characters, isSoundOpen };
}

/** A run with unreadable events is treated as just accepted. */
function asAccepted(state: RunState): RunState {
  return state.phase === "waiting" ? transition(state, { type: "accepted" }).state : state;
}

function shownAnswer(state: RunState, hasSound: boolean): ShownAnswer | null {
  if (state.phase !== "answering") return null;
  const soundState = hasSound ? "over" : "not begun";
  return { output: state.output, open: openItem(state), sound: state.isSoundOpen ? "open" : soundState };
}

function openItem(state: Answering): OpenItem | null {
  const { open } = state;
  if (open === null) return null;
  switch (open.kind) {
    case "hosted":
      return { type: "hosted", item: open.item };
    case "message":
      return openMessageOf(open);
    case "call": {
      const { tool: kind, name, namespace, text } = open;
      return { type: "call", kind, name, namespace, text: wholeTextOf(text) };
    }
    case "reasoning": {
      const item = closeOpen(state, "incomplete", []).output.at(-1);
      assert(item !== undefined, "an open item ends as the last one of the output");
      return { type: "reasoning", item };
    }
    default:
      return assertNever(open);
  }
}

function openMessageOf({ content, part }: MessageBlock): UnfinishedMessage {
  if (content.length > 0) return { type: "message", text: "", isPlain: false };
  if (part === null) return { type: "message", text: "", isPlain: true };
  if (part.kind === "refusal") return { type: "message", text: "", isPlain: false };
  return { type: "message", text: wholeTextOf(part.text), isPlain: part.annotations.length === 0 };
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
  const end = /^response\.\w+\.(completed|failed)$/.exec(event.type)?.[1];
  if (end !== undefined) return [{ type: "item_end_shown", hasFailed: end === "failed" }];
  const modelEvent = itemEventOf(event) ?? modelEventOf(event);
  return modelEvent === null ? [] : [{ type: "model", event: modelEvent }];
}

/** The model event that caused a wire event; null if another wire event implies it. */
function modelEventOf(event: ResponseStreamEvent): ModelEvent | null {
  switch (event.type) {
    case "response.output_item.added":
      return startEventOf(event.item);
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

/** The tool loop event that caused a wire event. */
function itemEventOf(event: ResponseStreamEvent): HostedItemEvent | null {
  switch (event.type) {
    case "response.output_item.added":
      return isHostedItem(event.item) ? { type: "item_started", item: event.item } : null;
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

function startEventOf(item: OutputItem): ModelEvent | null {
  if (item.type === "compaction") return { type: "compaction", encryptedContent: item.encrypted_content };
  if (item.type === "message") return { type: "message_started", ...(item.phase == null ? {} : { phase: item.phase }) };
  if (item.type === "reasoning") return { type: "reasoning_sealed", sealedText: "" };
  if (item.type !== "function_call" && item.type !== "custom_tool_call") return null;
  const kind = item.type === "function_call" ? "function" : "custom";
  const { call_id: callId, name, namespace, caller } = item;
  return {
    type: "call_started",
    kind,
    callId,
    name,
    ...(namespace == null ? {} : { namespace }),
    ...(caller?.type === "program" ? { callerId: caller.caller_id } : {}),
  };
}
