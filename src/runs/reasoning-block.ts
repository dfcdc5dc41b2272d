import type { ReasoningItem } from "../../generated/responses-api/types.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/** A reasoning item while it is being written: summary parts, raw text, or both. */
export interface ReasoningBlock {
  readonly kind: "reasoning";
  readonly id: string;
  readonly index: number;
  /** Summary parts that are whole. */
  readonly summary: readonly string[];
  /** The summary part that grows. */
  readonly summaryPart: string | null;
  /** Raw reasoning text; null until the first of it. */
  readonly text: string | null;
  readonly sealed: SealText | null;
}

type SealText = (text: string, itemId: string) => string;

export function openReasoning(
  id: string,
  index: number,
  sealed: SealText | null,
  events: UnnumberedEvent[],
): ReasoningBlock {
  const block: ReasoningBlock = { kind: "reasoning", id, index, summary: [], summaryPart: null, text: null, sealed };
  events.push({ type: "response.output_item.added", output_index: index, item: reasoningItem(block) });
  return block;
}

export function addSummary(block: ReasoningBlock, delta: string, events: UnnumberedEvent[]): ReasoningBlock {
  const place = { item_id: block.id, output_index: block.index, summary_index: block.summary.length };
  if (block.summaryPart === null) {
    events.push({ type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } });
  }
  events.push({ type: "response.reasoning_summary_text.delta", ...place, delta });
  return { ...block, summaryPart: (block.summaryPart ?? "") + delta };
}

export function endSummaryPart(block: ReasoningBlock, events: UnnumberedEvent[]): ReasoningBlock {
  if (block.summaryPart === null) return block;
  const text = block.summaryPart;
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
  return { ...block, text: (block.text ?? "") + delta };
}

export function closeReasoning(block: ReasoningBlock, events: UnnumberedEvent[]): ReasoningItem {
  const closed = endSummaryPart(block, events);
  if (closed.text !== null) {
    const place = { content_index: 0, item_id: closed.id, output_index: closed.index };
    events.push({ type: "response.reasoning_text.done", ...place, text: closed.text });
    events.push({ type: "response.content_part.done", ...place, part: { type: "reasoning_text", text: closed.text } });
  }
  const item = reasoningItem(closed);
  events.push({ type: "response.output_item.done", output_index: closed.index, item });
  return item;
}

function reasoningItem(block: ReasoningBlock): ReasoningItem {
  return {
    id: block.id,
    type: "reasoning",
    content: block.text === null ? [] : [{ type: "reasoning_text", text: block.text }],
    ...(block.sealed === null ? {} : { encrypted_content: block.sealed(thought(block), block.id) }),
    summary: block.summary.map((text) => ({ type: "summary_text", text })),
  };
}

/** What the model needs back in a later turn. */
function thought(block: ReasoningBlock): string {
  return block.text ?? block.summary.join("\n\n");
}
