import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { DecidedCall, DecidedPart } from "@antiphon/domain/tool-ledger.ts";
import type { OpenItem } from "../../../runs/index.ts";
import { hasMarker } from "../citations/markers.ts";

/** How far a recorded turn was shown. */
export interface PlacedTurn {
  /** The number of its parts that were shown completely as items. */
  readonly shownCount: number;
  /** The index of the next turn's items in the output. */
  readonly end: number;
  /** Whether the open item belongs to this turn. */
  readonly hasOpen: boolean;
}

/** A part of a turn that is shown as an item while the model writes it. */
export type ShownPart = Exclude<DecidedPart, DecidedCall> | (DecidedCall & { readonly itemId: string });

/** The parts of a turn that are immediately shown as items. */
export function shownParts(parts: readonly DecidedPart[]): readonly ShownPart[] {
  return parts.flatMap((part): readonly ShownPart[] => {
    if (part.type === "said") return [part];
    return part.itemId === null ? [] : [{ ...part, itemId: part.itemId }];
  });
}

/**
 * Finds the items of a recorded turn in the output of its response. Earlier items may be leftovers of interrupted
 * attempts at the same turn, so the turn is searched as a whole first, and then as far as it was shown at the end.
 */
export function placeTurn(
  parts: readonly ShownPart[],
  output: readonly OutputItem[],
  open: OpenItem | null,
): PlacedTurn {
  if (parts.length === 0) return { shownCount: 0, end: output.length, hasOpen: false };
  for (let start = 0; start + parts.length <= output.length; start += 1)
    if (isShownAt(parts, output, start)) return { shownCount: parts.length, end: start + parts.length, hasOpen: false };
  for (let shownCount = Math.min(parts.length - 1, output.length); shownCount >= 0; shownCount -= 1) {
    const hasOpen = open !== null && isOpenPart(parts[shownCount], open);
    if ((open === null || hasOpen) && isShownAt(parts.slice(0, shownCount), output, output.length - shownCount))
      return { shownCount, end: output.length, hasOpen };
  }
  return { shownCount: 0, end: output.length, hasOpen: false };
}

function isShownAt(parts: readonly ShownPart[], output: readonly OutputItem[], start: number): boolean {
  return parts.every((part, index) => {
    const item = output[start + index];
    return item !== undefined && isSamePart(part, item);
  });
}

function isSamePart(part: ShownPart, item: OutputItem): boolean {
  if (part.type === "call") return item.id === part.itemId;
  switch (part.item) {
    case "message":
      return item.type === "message" && item.status === "completed" && hasText(item, saidText(part.events));
    case "reasoning":
      return item.type === "reasoning" && reasoningText(item) === saidText(part.events);
    case "call":
      return (
        (item.type === "function_call" || item.type === "custom_tool_call" || item.type === "tool_search_call") &&
        item.status !== "incomplete"
      );
  }
}

function isOpenPart(part: ShownPart | undefined, open: OpenItem): boolean {
  if (part === undefined) return false;
  if (part.type === "call") return open.type === "hosted" && open.item.id === part.itemId;
  return open.type === part.item;
}

/** The text added by these events, in whatever part of an item. */
export function saidText(events: readonly ModelEvent[]): string {
  return events.map((event) => ("text" in event ? event.text : "")).join("");
}

/** A text with citations differs from the model's text. */
function hasText({ content }: Extract<OutputItem, { type: "message" }>, text: string): boolean {
  const isCited = hasMarker(text) || content.some((part) => "annotations" in part && part.annotations.length > 0);
  return isCited || content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("") === text;
}

function reasoningText({ summary, content }: Extract<OutputItem, { type: "reasoning" }>): string {
  return [...summary, ...(content ?? [])].map(({ text }) => text).join("");
}
