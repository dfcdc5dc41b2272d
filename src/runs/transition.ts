import type { Response } from "../../generated/responses-api/types.ts";
import { assert, assertNever } from "../base/assert.ts";
import { idFromStem } from "../base/ids.ts";
import { addCallText, closeCall, openCall } from "./blocks/call-block.ts";
import {
  addAnnotation,
  addRefusal,
  addText,
  closeMessage,
  type MessageBlock,
  openMessage,
  type Phase,
} from "./blocks/message-block.ts";
import {
  addReasoningText,
  addSummary,
  closeReasoning,
  endSummaryPart,
  openReasoning,
  type ReasoningBlock,
} from "./blocks/reasoning-block.ts";
import { addSound, closeSound } from "./blocks/sound.ts";
import type { ModelEvent } from "./ports.ts";
import { cancelledResponse, failedResponse, finishedResponse } from "./run-end.ts";
import { UNFINISHED_FAILURE } from "./run-failures.ts";
import type { Answering, Beginning, RunFailure, RunPlan, RunSignal, RunState } from "./run-state.ts";
import type { BlockEnd, UnnumberedEvent } from "./wire-event.ts";

export interface Transition {
  readonly state: RunState;
  /** What the signal makes visible, in order. */
  readonly events: readonly UnnumberedEvent[];
}

/**
 * Decides what a signal does to a run. Pure: no clock, no I/O, and ids only by counting from the plan's stem.
 * Whatever was opened is closed before the event that ends the run, and nothing follows that event.
 */
export function transition(state: RunState, signal: RunSignal): Transition {
  if (state.phase === "ended") return { state, events: [] }; // Late signals lose the race; that is normal.
  const events: UnnumberedEvent[] = [];
  if (state.phase === "answering") return { state: answer(state, signal, events), events };
  return { state: begin(state, signal, events), events };
}

export function waiting(plan: RunPlan): RunState {
  return { phase: "waiting", plan };
}

/**
 * A run of the background is queued before its model is asked; any other hears nothing before its model has accepted
 * it.
 */
function begin(state: Beginning, signal: RunSignal, events: UnnumberedEvent[]): RunState {
  const { plan } = state;
  if (state.phase === "waiting") events.push({ type: "response.created", response: plan.response });
  if (signal.type === "queued") {
    assert(state.phase === "waiting", "a run is queued once");
    events.push({ type: "response.queued", response: plan.response });
    return { phase: "queued", plan };
  }
  if (signal.type === "accepted") return accept(plan, events);
  assert(state.phase === "queued", "a run that is not queued hears nothing before its model accepted it");
  return answer(answering(plan), signal, events);
}

function accept(plan: RunPlan, events: UnnumberedEvent[]): Answering {
  const isStarted = plan.response.status === "in_progress";
  const response: Response = isStarted ? plan.response : { ...plan.response, status: "in_progress" };
  events.push({ type: "response.in_progress", response });
  return answering({ ...plan, response });
}

function answering(plan: RunPlan): Answering {
  const { model } = plan.response;
  return {
    phase: "answering",
    plan,
    open: null,
    output: [],
    usage: null,
    finish: null,
    model,
    isSounding: false,
    characters: 0,
  };
}

function answer(state: Answering, signal: RunSignal, events: UnnumberedEvent[]): RunState {
  switch (signal.type) {
    case "queued":
    case "accepted":
      return state; // A run that is begun again after a crash hears it again.
    case "model":
      return hear(state, signal.event, events);
    case "model_ended":
      return state.finish === null ? fail(state, UNFINISHED_FAILURE, events) : finish(state, signal.at, events);
    case "model_failed":
      return fail(state, signal.failure, events);
    case "cancelled":
      return cancel(state, events);
    default:
      return assertNever(signal);
  }
}

function hear(state: Answering, event: ModelEvent, events: UnnumberedEvent[]): Answering {
  // Model servers send empty deltas around other things; they begin nothing.
  if ("text" in event && event.text === "") return state;
  switch (event.type) {
    case "model_resolved":
      return isDatedForm(event.model, state.plan.response.model) ? { ...state, model: event.model } : state;
    case "message_started":
      return beginMessage(state, event.phase ?? null, events);
    case "message_finished":
      return state.open?.kind === "message" ? closeOpen(state, "completed", events) : state;
    case "text_delta": {
      const [ready, message] = inMessage(state, events);
      return written(ready, addText(message, event.text, event.logprobs ?? [], events), event.text);
    }
    case "annotation": {
      const [ready, message] = inMessage(state, events);
      return { ...ready, open: addAnnotation(message, event.annotation, events) };
    }
    case "refusal_delta": {
      const [ready, message] = inMessage(state, events);
      return written(ready, addRefusal(message, event.text, events), event.text);
    }
    case "reasoning_delta": {
      const [ready, reasoning] = inReasoning(state, events);
      const add = state.plan.rawReasoningAs === "summary" ? addSummary : addReasoningText;
      return written(ready, add(reasoning, event.text, events), event.text);
    }
    case "reasoning_summary_delta": {
      const [ready, reasoning] = inReasoning(state, events);
      return written(ready, addSummary(reasoning, event.text, events), event.text);
    }
    case "reasoning_summary_break":
      return state.open?.kind === "reasoning" ? { ...state, open: endSummaryPart(state.open, events) } : state;
    case "call_started":
      return beginCall(state, event, events);
    case "call_delta":
      return state.open?.kind === "call"
        ? written(state, addCallText(state.open, event.text, events), event.text)
        : state;
    case "call_finished":
      return state.open?.kind === "call" ? closeOpen(state, endOf(event), events) : state;
    case "tool_search":
      return addToolSearch(state, event, events);
    case "compaction":
      return addCompaction(state, event.encryptedContent, events);
    case "audio_delta":
    case "audio_transcript_delta":
    case "audio_done":
      return addSound(state, event, events);
    case "usage":
      return { ...state, usage: event.usage };
    case "finished":
      return { ...state, finish: event.reason };
    default:
      return assertNever(event);
  }
}

function endOf({ isCut }: { readonly isCut?: boolean }): BlockEnd {
  return isCut === true ? "incomplete" : "completed";
}

/** A model server may answer `m` as `m-2026-01-01`; any other name it gives itself, such as a path, is not shown. */
function isDatedForm(resolved: string, asked: string): boolean {
  return resolved.startsWith(`${asked}-`) && /^-\d{4}-\d{2}-\d{2}$/.test(resolved.slice(asked.length));
}

function written(state: Answering, open: Answering["open"], text: string): Answering {
  return { ...state, open, characters: state.characters + text.length };
}

/** The message that text goes to, begun if need be. */
function inMessage(state: Answering, events: UnnumberedEvent[]): readonly [Answering, MessageBlock] {
  if (state.open?.kind === "message") return [state, state.open];
  const begun = beginMessage(state, null, events);
  return [begun, begun.open];
}

function beginMessage(
  state: Answering,
  phase: Phase | null,
  events: UnnumberedEvent[],
): Answering & { readonly open: MessageBlock } {
  const closed = closeOpen(state, "completed", events);
  return { ...closed, open: openMessage(nextId("msg", closed), closed.output.length, phase, events) };
}

function inReasoning(state: Answering, events: UnnumberedEvent[]): readonly [Answering, ReasoningBlock] {
  if (state.open?.kind === "reasoning") return [state, state.open];
  const closed = closeOpen(state, "completed", events);
  const open = openReasoning(nextId("rs", closed), closed.output.length, state.plan.sealReasoning, events);
  return [{ ...closed, open }, open];
}

function beginCall(
  state: Answering,
  call: Extract<ModelEvent, { type: "call_started" }>,
  events: UnnumberedEvent[],
): Answering {
  const closed = closeOpen(state, "completed", events);
  const block = {
    tool: call.kind,
    id: nextId(call.kind === "function" ? "fc" : "ctc", closed),
    index: closed.output.length,
    callId: freeCallId(closed, call.callId),
    name: call.name,
    namespace: call.namespace ?? null,
  };
  return { ...closed, open: openCall(block, events) };
}

/** Comes whole: nothing of it is told in deltas, and its arguments are empty until it is done. */
function addToolSearch(
  state: Answering,
  search: Extract<ModelEvent, { type: "tool_search" }>,
  events: UnnumberedEvent[],
): Answering {
  const closed = closeOpen(state, "completed", events);
  const item = {
    id: nextId("tsc", closed),
    type: "tool_search_call" as const,
    status: endOf(search),
    arguments: search.arguments,
    call_id: freeCallId(closed, search.callId),
    execution: "client" as const,
  };
  const place = { output_index: closed.output.length };
  events.push(
    { type: "response.output_item.added", ...place, item: { ...item, status: "in_progress", arguments: {} } },
    { type: "response.output_item.done", ...place, item },
  );
  return { ...closed, output: [...closed.output, item] };
}

/** Comes whole: nothing of it is told in deltas. */
function addCompaction(state: Answering, encryptedContent: string, events: UnnumberedEvent[]): Answering {
  const closed = closeOpen(state, "completed", events);
  const item = { id: nextId("cmp", closed), type: "compaction" as const, encrypted_content: encryptedContent };
  const place = { output_index: closed.output.length, item };
  events.push({ type: "response.output_item.added", ...place }, { type: "response.output_item.done", ...place });
  return { ...closed, output: [...closed.output, item] };
}

/** The model server's own id, unless it gave none or gave one twice: ids are unique within a response. */
function freeCallId(state: Answering, given: string | null): string {
  const taken = state.output.some((item) => "call_id" in item && item.call_id === given);
  if (given !== null && given !== "" && !taken) return given;
  return `call_${nextId("call", state).slice(-24)}`;
}

function nextId(prefix: string, state: Answering): string {
  return idFromStem(prefix, state.plan.ids, state.output.length);
}

function closeOpen(state: Answering, end: BlockEnd, events: UnnumberedEvent[]): Answering {
  const { open } = state;
  if (open === null) return state;
  return { ...state, open: null, output: [...state.output, closeBlock(open, end, events)] };
}

function closeBlock(open: NonNullable<Answering["open"]>, end: BlockEnd, events: UnnumberedEvent[]) {
  switch (open.kind) {
    case "message":
      return closeMessage(open, end, events);
    case "reasoning":
      return closeReasoning(open, events);
    case "call":
      return closeCall(open, end, events);
    default:
      return assertNever(open);
  }
}

/** Whatever is still open when the run ends. */
function closeAll(state: Answering, end: BlockEnd, events: UnnumberedEvent[]): Answering {
  return closeOpen(closeSound(state, events), end, events);
}

function finish(state: Answering, at: number, events: UnnumberedEvent[]): RunState {
  const whole = state.finish === "stop";
  const nothingSaid = whole && state.open === null && state.output.length === 0 && state.plan.isWarmUp !== true;
  const closed = closeAll(
    nothingSaid ? beginMessage(state, null, events) : state,
    whole ? "completed" : "incomplete",
    events,
  );
  const response = finishedResponse(closed, at);
  events.push(whole ? { type: "response.completed", response } : { type: "response.incomplete", response });
  return { phase: "ended", response };
}

function fail(state: Answering, failure: RunFailure, events: UnnumberedEvent[]): RunState {
  const closed = closeAll(state, "incomplete", events);
  const response = failedResponse(closed, failure);
  const { type, code, message, param } = failure;
  events.push({ type: "error", error: { type, code, message, param } });
  events.push({ type: "response.failed", response });
  return { phase: "ended", response };
}

/**
 * No event of the reference says "cancelled"; its clients know `response.failed` around a response with that status.
 */
function cancel(state: Answering, events: UnnumberedEvent[]): RunState {
  const response = cancelledResponse(closeAll(state, "incomplete", events));
  events.push({ type: "response.failed", response });
  return { phase: "ended", response };
}
