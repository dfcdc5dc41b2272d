import { assert, assertNever } from "@antiphon/base/assert.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { addCallText, openCall } from "./blocks/call-block.ts";
import { endWork } from "./blocks/hosted-block.ts";
import { addCompaction, addToolSearch, applyItemEvent, endOfCall, isItemEvent } from "./blocks/item-events.ts";
import {
  addAnnotation,
  addRefusal,
  addTexts,
  type MessageBlock,
  openMessage,
  type Phase,
  type TextDelta,
} from "./blocks/message-block.ts";
import { closeOpen, growAnswer, nextId, uniqueCallId } from "./blocks/open-block.ts";
import {
  addReasoningText,
  addSummary,
  endSummaryPart,
  openReasoning,
  type ReasoningBlock,
} from "./blocks/reasoning-block.ts";
import { addSound, closeSound } from "./blocks/sound.ts";
import { cancelledResponse, failedResponse, finishedResponse, notesAtEnd, usageSoFar } from "./run-end.ts";
import { UNFINISHED_FAILURE } from "./run-failures.ts";
import type { Answering, RunFailure, RunPlan, RunSignal, RunState, Unaccepted } from "./run-state.ts";
import type { BlockEnd, UnnumberedEvent } from "./wire-event.ts";

export interface Transition {
  readonly state: RunState;
  /** The events caused by the signal, in order. */
  readonly events: readonly UnnumberedEvent[];
}

/**
 * Applies a signal to a run. Pure: no clock, no I/O, and ids are counted from the plan's stem. Every open item is
 * closed before the event that ends the run, and no event follows it.
 */
export function transition(state: RunState, signal: RunSignal): Transition {
  if (state.phase === "ended") return { state, events: [] }; // A late signal is normal and has no effect.
  const events: UnnumberedEvent[] = [];
  if (state.phase === "answering") return { state: applySignal(state, signal, events), events };
  return { state: beginRun(state, signal, events), events };
}

/**
 * Applies the events that a model sent together, in order. Equals one signal per event, but consecutive texts create
 * one new state.
 */
export function transitionAll(state: RunState, batch: readonly ModelEvent[]): Transition {
  assert(state.phase === "answering", "a model is heard only after it has accepted");
  const events: UnnumberedEvent[] = [];
  let result = state;
  let texts: TextDelta[] = [];
  for (const event of batch) {
    if (event.type === "text_delta") {
      if (event.text !== "") texts.push(event);
      continue;
    }
    if (texts.length > 0) result = addToMessage(result, texts, events);
    texts = [];
    result = applyModelEvent(result, event, events);
  }
  if (texts.length > 0) result = addToMessage(result, texts, events);
  return { state: result, events };
}

export function initialState(plan: RunPlan): RunState {
  return { phase: "waiting", plan };
}

/** The first signal of a background run is `queued`, that of a foreground run `accepted`. */
function beginRun(state: Unaccepted, signal: RunSignal, events: UnnumberedEvent[]): RunState {
  const { plan } = state;
  if (state.phase === "waiting") events.push({ type: "response.created", response: plan.response });
  if (signal.type === "queued") {
    assert(state.phase === "waiting", "a run is queued once");
    events.push({ type: "response.queued", response: plan.response });
    return { phase: "queued", plan };
  }
  if (signal.type === "accepted") return accept(plan, events);
  assert(state.phase === "queued", "a run that is not queued gets no other signal before its model has accepted");
  return applySignal(answering(plan), signal, events);
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
    toolUsage: null,
    finish: null,
    stopSequence: null,
    model,
    isSoundOpen: false,
    characters: 0,
  };
}

function applySignal(state: Answering, signal: RunSignal, events: UnnumberedEvent[]): RunState {
  switch (signal.type) {
    case "queued":
    case "accepted": // A run that continues after a crash gets this signal again.
      return state;
    case "model":
      return applyModelEvent(state, signal.event, events);
    case "model_ended":
      return state.finish === null ? fail(state, UNFINISHED_FAILURE, events) : finish(state, signal.at, events);
    case "model_failed":
      return fail(state, signal.failure, events);
    case "cancelled":
      return cancel(state, events);
    case "item_end_shown":
      return state.open?.kind === "hosted" ? { ...state, open: endWork(state.open, signal.hasFailed, events) } : state;
    default:
      return assertNever(signal);
  }
}

function applyModelEvent(state: Answering, event: ModelEvent, events: UnnumberedEvent[]): Answering {
  if (isItemEvent(event)) return applyItemEvent(state, event, events);
  // Model servers send empty deltas around other events; they must not open an item.
  if ("text" in event && event.text === "") return state;
  switch (event.type) {
    case "model_resolved":
      return isDatedForm(event.model, state.plan.response.model) ? { ...state, model: event.model } : state;
    case "message_started":
      return beginMessage(state, event.phase ?? null, events);
    case "message_finished":
      return endText(state, events);
    case "text_delta":
      return addToMessage(state, [event], events);
    case "annotation": {
      const [ready, message] = ensureMessage(state, events);
      return { ...ready, open: addAnnotation(message, event.annotation, events) };
    }
    case "refusal_delta": {
      const [ready, message] = ensureMessage(state, events);
      return growAnswer(ready, addRefusal(message, event.text, events), event.text.length);
    }
    case "reasoning_delta":
    case "reasoning_summary_delta":
    case "reasoning_summary_break":
    case "reasoning_sealed":
      return applyReasoning(state, event, events);
    case "call_started":
      return beginCall(state, event, events);
    case "call_delta":
      return state.open?.kind === "call"
        ? growAnswer(state, addCallText(state.open, event.text, events), event.text.length)
        : state;
    case "call_finished":
      return state.open?.kind === "call" ? closeOpen(state, endOfCall(event), events) : state;
    case "turn_cut":
      return closeOpen(state, "incomplete", events);
    case "tool_search":
      return addToolSearch(state, event, events);
    case "compaction":
      return addCompaction(state, event.encryptedContent, events);
    case "tool_usage":
      return { ...state, toolUsage: event.usage };
    case "audio_delta":
    case "audio_transcript_delta":
    case "audio_done":
      return addSound(state, event, events);
    case "usage":
    case "stop_sequence":
    case "finished":
      return withEnd(state, event);
    default:
      return assertNever(event);
  }
}

type ReasoningEvent = Extract<ModelEvent, { type: `reasoning_${string}` }>;

function applyReasoning(state: Answering, event: ReasoningEvent, events: UnnumberedEvent[]): Answering {
  if (event.type === "reasoning_summary_break")
    return state.open?.kind === "reasoning" ? { ...state, open: endSummaryPart(state.open, events) } : state;
  const [ready, reasoning] = ensureReasoning(state, events);
  if (event.type === "reasoning_sealed")
    return event.sealedText === "" ? ready : { ...ready, open: { ...reasoning, sealedText: event.sealedText } };
  const isSummary = event.type === "reasoning_summary_delta" || state.plan.rawReasoningAs === "summary";
  const add = isSummary ? addSummary : addReasoningText;
  return growAnswer(ready, add(reasoning, event.text, events), event.text.length);
}

type EndEvent = Extract<ModelEvent, { type: "usage" | "stop_sequence" | "finished" }>;

/** With what the end of the answer says of it. */
function withEnd(state: Answering, event: EndEvent): Answering {
  switch (event.type) {
    case "usage":
      return { ...state, usage: event.usage };
    case "stop_sequence":
      return { ...state, stopSequence: event.sequence };
    case "finished":
      return { ...state, finish: event.reason };
    default:
      return assertNever(event);
  }
}

/** A model server may answer `m` with `m-2026-01-01`. Any other name, such as a path, is not shown. */
function isDatedForm(resolvedModel: string, requestedModel: string): boolean {
  return (
    resolvedModel.startsWith(`${requestedModel}-`) &&
    /^-\d{4}-\d{2}-\d{2}$/.test(resolvedModel.slice(requestedModel.length))
  );
}

function addToMessage(state: Answering, deltas: readonly TextDelta[], events: UnnumberedEvent[]): Answering {
  const [ready, message] = ensureMessage(state, events);
  let characters = 0;
  for (const { text } of deltas) characters += text.length;
  return growAnswer(ready, addTexts(message, deltas, events), characters);
}

/** The open message; opens one if there is none. */
function ensureMessage(state: Answering, events: UnnumberedEvent[]): readonly [Answering, MessageBlock] {
  if (state.open?.kind === "message") return [state, state.open];
  const ready = beginMessage(state, null, events);
  return [ready, ready.open];
}

function beginMessage(
  state: Answering,
  phase: Phase | null,
  events: UnnumberedEvent[],
): Answering & { readonly open: MessageBlock } {
  const closedState = closeOpen(state, "completed", events);
  return { ...closedState, open: openMessage(nextId("msg", closedState), closedState.output.length, phase, events) };
}

/** Ends the open message or reasoning. */
function endText(state: Answering, events: UnnumberedEvent[]): Answering {
  const isText = state.open?.kind === "message" || state.open?.kind === "reasoning";
  return isText ? closeOpen(state, "completed", events) : state;
}

function ensureReasoning(state: Answering, events: UnnumberedEvent[]): readonly [Answering, ReasoningBlock] {
  if (state.open?.kind === "reasoning") return [state, state.open];
  const closedState = closeOpen(state, "completed", events);
  const open = openReasoning(nextId("rs", closedState), closedState.output.length, state.plan.sealReasoning, events);
  return [{ ...closedState, open }, open];
}

function beginCall(
  state: Answering,
  call: Extract<ModelEvent, { type: "call_started" }>,
  events: UnnumberedEvent[],
): Answering {
  const { kind } = call;
  assert(kind !== "hosted", "the tool loop answers the calls of hosted functions itself");
  const closedState = closeOpen(state, "completed", events);
  const block = {
    tool: kind,
    id: nextId(kind === "function" ? "fc" : "ctc", closedState),
    index: closedState.output.length,
    callId: uniqueCallId(closedState, call.callId),
    name: call.name,
    namespace: call.namespace ?? null,
    callerId: call.callerId ?? null,
  };
  return { ...closedState, open: openCall(block, events) };
}

/** Closes open sound and the open item at the end of a run. */
function closeAll(state: Answering, end: BlockEnd, events: UnnumberedEvent[]): Answering {
  return closeOpen(closeSound(state, events), end, events);
}

function finish(state: Answering, at: number, events: UnnumberedEvent[]): RunState {
  const whole = state.finish === "stop";
  const nothingSaid = whole && state.open === null && state.output.length === 0 && state.plan.isWarmUp !== true;
  const closedState = closeAll(
    nothingSaid ? beginMessage(state, null, events) : state,
    whole ? "completed" : "incomplete",
    events,
  );
  const response = finishedResponse(closedState, at);
  events.push(whole ? { type: "response.completed", response } : { type: "response.incomplete", response });
  const usage = state.plan.isWarmUp === true ? null : (response.usage ?? null);
  return { phase: "ended", response, notes: notesAtEnd(closedState), usage };
}

function fail(state: Answering, failure: RunFailure, events: UnnumberedEvent[]): RunState {
  const closedState = closeAll(state, "incomplete", events);
  const response = failedResponse(closedState, failure);
  const { type, code, message, param } = failure;
  events.push({ type: "error", error: { type, code, message, param } });
  events.push({ type: "response.failed", response });
  return { phase: "ended", response, notes: [], usage: usageSoFar(closedState) };
}

/**
 * The reference has no `response.cancelled` event. Its clients expect `response.failed` with a response of status
 * `cancelled`.
 */
function cancel(state: Answering, events: UnnumberedEvent[]): RunState {
  const closedState = closeAll(state, "incomplete", events);
  const response = cancelledResponse(closedState);
  events.push({ type: "response.failed", response });
  return { phase: "ended", response, notes: [], usage: usageSoFar(closedState) };
}
