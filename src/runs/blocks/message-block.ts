import { type GrowingText, grow, NO_TEXT, wholeTextOf } from "@antiphon/base/growing-text.ts";
import type {
  Annotation,
  AssistantContentPart,
  LogProb,
  OutputMessage,
} from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { BlockEnd, UnnumberedEvent } from "../wire-event.ts";

/** A message that is being streamed: its finished parts, and at most one open part. */
export interface MessageBlock {
  readonly kind: "message";
  readonly id: string;
  readonly index: number;
  readonly phase: Phase | null;
  readonly content: readonly AssistantContentPart[];
  readonly part: OpenPart | null;
}

export type Phase = "commentary" | "final_answer";

type OpenPart =
  | {
      readonly kind: "text";
      readonly text: GrowingText;
      readonly annotations: readonly Annotation[];
      readonly logprobs: LogProbChain;
    }
  | { readonly kind: "refusal"; readonly refusal: GrowingText };

/** A linked list, newest first, so that adding an entry copies nothing. */
type LogProbChain = { readonly entries: readonly LogProb[]; readonly before: LogProbChain } | null;

export type TextDelta = Extract<ModelEvent, { readonly type: "text_delta" }>;

const NONE: readonly LogProb[] = [];
/** The log probabilities of most events. Shared to save memory; nobody changes an event's lists. */
const NO_LOGPROBS: LogProb[] = [];

export function openMessage(id: string, index: number, phase: Phase | null, events: UnnumberedEvent[]): MessageBlock {
  const block: MessageBlock = { kind: "message", id, index, phase, content: [], part: null };
  events.push({ type: "response.output_item.added", output_index: index, item: messageItem(block, [], "in_progress") });
  return block;
}

/** Adds consecutive texts, one event each. */
export function addTexts(block: MessageBlock, deltas: readonly TextDelta[], events: UnnumberedEvent[]): MessageBlock {
  const ready = block.part?.kind === "text" ? block : openTextPart(closePart(block, events), events);
  if (ready.part?.kind !== "text") return ready;
  let addedText = "";
  let chain = ready.part.logprobs;
  for (const { text, logprobs = NONE } of deltas) {
    if (text === "" && logprobs.length === 0) continue;
    events.push({
      type: "response.output_text.delta",
      content_index: ready.content.length,
      delta: text,
      item_id: ready.id,
      logprobs: logprobs.length === 0 ? NO_LOGPROBS : [...logprobs],
      output_index: ready.index,
    });
    addedText += text;
    if (logprobs.length > 0) chain = { entries: logprobs, before: chain };
  }
  return { ...ready, part: { ...ready.part, text: grow(ready.part.text, addedText), logprobs: chain } };
}

export function addAnnotation(block: MessageBlock, annotation: Annotation, events: UnnumberedEvent[]): MessageBlock {
  const ready = block.part?.kind === "text" ? block : openTextPart(closePart(block, events), events);
  if (ready.part?.kind !== "text") return ready;
  events.push({
    type: "response.output_text.annotation.added",
    annotation,
    annotation_index: ready.part.annotations.length,
    content_index: ready.content.length,
    item_id: ready.id,
    output_index: ready.index,
  });
  return { ...ready, part: { ...ready.part, annotations: [...ready.part.annotations, annotation] } };
}

export function addRefusal(block: MessageBlock, text: string, events: UnnumberedEvent[]): MessageBlock {
  const ready = block.part?.kind === "refusal" ? block : openRefusalPart(closePart(block, events), events);
  if (ready.part?.kind !== "refusal") return ready;
  events.push({
    type: "response.refusal.delta",
    content_index: ready.content.length,
    delta: text,
    item_id: ready.id,
    output_index: ready.index,
  });
  return { ...ready, part: { kind: "refusal", refusal: grow(ready.part.refusal, text) } };
}

export function closeMessage(block: MessageBlock, end: BlockEnd, events: UnnumberedEvent[]): OutputMessage {
  const empty = block.part === null && block.content.length === 0 && end === "completed";
  const closedBlock = closePart(empty ? openTextPart(block, events) : block, events);
  const item = messageItem(closedBlock, closedBlock.content, end);
  events.push({ type: "response.output_item.done", output_index: block.index, item });
  return item;
}

function openTextPart(block: MessageBlock, events: UnnumberedEvent[]): MessageBlock {
  events.push(
    partEvent("response.content_part.added", block, { type: "output_text", annotations: [], logprobs: [], text: "" }),
  );
  return { ...block, part: { kind: "text", text: NO_TEXT, annotations: [], logprobs: null } };
}

function openRefusalPart(block: MessageBlock, events: UnnumberedEvent[]): MessageBlock {
  events.push(partEvent("response.content_part.added", block, { type: "refusal", refusal: "" }));
  return { ...block, part: { kind: "refusal", refusal: NO_TEXT } };
}

function closePart(block: MessageBlock, events: UnnumberedEvent[]): MessageBlock {
  if (block.part === null) return block;
  const place = { content_index: block.content.length, item_id: block.id, output_index: block.index };
  if (block.part.kind === "refusal") {
    const part: AssistantContentPart = { type: "refusal", refusal: wholeTextOf(block.part.refusal) };
    events.push({ type: "response.refusal.done", ...place, refusal: part.refusal });
    events.push(partEvent("response.content_part.done", block, part));
    return { ...block, content: [...block.content, part], part: null };
  }
  const logprobs = inOrder(block.part.logprobs);
  const text = {
    type: "output_text" as const,
    annotations: [...block.part.annotations],
    logprobs,
    text: wholeTextOf(block.part.text),
  };
  events.push({ type: "response.output_text.done", ...place, logprobs, text: text.text });
  // The reference sends no log probabilities in this event.
  events.push(partEvent("response.content_part.done", block, { ...text, logprobs: [] }));
  const part = { ...text, logprobs: logprobs.map(roundedLogProb) };
  return { ...block, content: [...block.content, part], part: null };
}

/** The reference sends exact log probabilities in deltas and rounds them in the finished item. */
function roundedLogProb(entry: LogProb): LogProb {
  return { ...entry, logprob: roundLogprob(entry.logprob), top_logprobs: entry.top_logprobs.map(roundedAlternative) };
}

function roundedAlternative<Entry extends { readonly logprob: number }>(entry: Entry): Entry {
  return { ...entry, logprob: roundLogprob(entry.logprob) };
}

function roundLogprob(logprob: number): number {
  return Math.round(logprob * 1e6) / 1e6 + 0; // Adding 0 turns -0 into 0.
}

function partEvent(
  type: "response.content_part.added" | "response.content_part.done",
  block: MessageBlock,
  part: AssistantContentPart,
): UnnumberedEvent {
  return { type, content_index: block.content.length, item_id: block.id, output_index: block.index, part };
}

function messageItem(
  block: MessageBlock,
  content: readonly AssistantContentPart[],
  status: OutputMessage["status"],
): OutputMessage {
  return {
    id: block.id,
    type: "message",
    status,
    content: [...content],
    ...(block.phase === null ? {} : { phase: block.phase }),
    role: "assistant",
  };
}

function inOrder(chain: LogProbChain): LogProb[] {
  const batches: (readonly LogProb[])[] = [];
  for (let link = chain; link !== null; link = link.before) batches.push(link.entries);
  return batches.toReversed().flat();
}
