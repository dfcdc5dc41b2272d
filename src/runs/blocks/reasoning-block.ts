import { type GrowingText, grow, NO_TEXT, wholeTextOf } from "@antiphon/base/growing-text.ts";
import type { ReasoningItem } from "@antiphon/contracts/responses-api/types.ts";
import type { UnnumberedEvent } from "../wire-event.ts";

/** A reasoning item that is still being streamed: summary parts, raw text, or both. */
export interface ReasoningBlock {
  readonly kind: "reasoning";
  readonly id: string;
  readonly index: number;
  /** The finished summary parts. */
  readonly summary: readonly string[];
  /** The open summary part. */
  readonly summaryPart: GrowingText | null;
  /** Raw reasoning text; null before its first delta. */
  readonly text: GrowingText | null;
  readonly sealText: SealText | null;
  /** The form that only the model server reads; null if it sent none. */
  readonly sealedText: string | null;
}

type SealText = (text: string, itemId: string, sealedText: string | null) => string;

export function openReasoning(
  id: string,
  index: number,
  sealText: SealText | null,
  events: UnnumberedEvent[],
): ReasoningBlock {
  const block: ReasoningBlock = {
    kind: "reasoning",
    id,
    index,
    summary: [],
    summaryPart: null,
    text: null,
    sealText,
    sealedText: null,
  };
  events.push({ type: "response.output_item.added", output_index: index, item: reasoningItem(block, null) });
  return block;
}

export function addSummary(block: ReasoningBlock, delta: string, events: UnnumberedEvent[]): ReasoningBlock {
  const place = { item_id: block.id, output_index: block.index, summary_index: block.summary.length };
  if (block.summaryPart === null) {
    events.push({ type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } });
  }
  events.push({ type: "response.reasoning_summary_text.delta", ...place, delta });
  return { ...block, summaryPart: grow(block.summaryPart ?? NO_TEXT, delta) };
}

export function endSummaryPart(block: ReasoningBlock, events: UnnumberedEvent[]): ReasoningBlock {
  if (block.summaryPart === null) return block;
  const text = wholeTextOf(block.summaryPart);
  const place = { item_id: block.id, output_index: block.index, summary_index: block.summary.length };
  events.push({ type: "response.reasoning_summary_text.done", ...place, text });
  events.push({ type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text } });
  return { ...block, summary: [...block.summary, text], summaryPart: null };
}

export function addReasoningText(block: ReasoningBlock, delta: string, events: UnnumberedEvent[]): ReasoningBlock {
  const place = { content_index: 0, item_id: block.id, output_index: block.index };
  if (block.text === null) {
    events.push({ type: "response.content_part.added", ...place, part: { type: "reasoning_text", text: "" } });
  }
  events.push({ type: "response.reasoning_text.delta", ...place, delta });
  return { ...block, text: grow(block.text ?? NO_TEXT, delta) };
}

export function closeReasoning(block: ReasoningBlock, events: UnnumberedEvent[]): ReasoningItem {
  const closedBlock = endSummaryPart(block, events);
  const text = closedBlock.text === null ? null : wholeTextOf(closedBlock.text);
  if (text !== null) {
    const place = { content_index: 0, item_id: closedBlock.id, output_index: closedBlock.index };
    events.push({ type: "response.reasoning_text.done", ...place, text });
    events.push({ type: "response.content_part.done", ...place, part: { type: "reasoning_text", text } });
  }
  const item = reasoningItem(closedBlock, text);
  events.push({ type: "response.output_item.done", output_index: closedBlock.index, item });
  return item;
}

function reasoningItem(block: ReasoningBlock, text: string | null): ReasoningItem {
  const { sealText, sealedText, summary, id } = block;
  return {
    id,
    type: "reasoning",
    content: text === null ? [] : [{ type: "reasoning_text", text }],
    // The client sends this back, so that a later turn can show it to the model.
    ...(sealText === null ? {} : { encrypted_content: sealText(text ?? summary.join("\n\n"), id, sealedText) }),
    summary: summary.map((part) => ({ type: "summary_text", text: part })),
  };
}
