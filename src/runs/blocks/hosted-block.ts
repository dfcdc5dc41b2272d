import { type GrowingText, grow, NO_TEXT, wholeTextOf } from "@antiphon/base/growing-text.ts";
import type { HostedItem, ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import { cutForm, endOfItem, textsIn, withTexts } from "./hosted-forms.ts";
import { NO_OUTPUT, type ShownOutput, showOutput, showOutputs } from "./hosted-output.ts";
import { type HostedPlace, ITEM_SHAPES, type ItemShape, type ProgressType } from "./hosted-shapes.ts";

/** An item of a hosted tool that has not ended. */
export interface HostedBlock {
  readonly kind: "hosted";
  readonly index: number;
  /** Its first form. */
  readonly item: HostedItem;
  /** The texts whose done events were sent. */
  readonly texts: readonly string[];
  /** The current output position; null if no text is open. */
  readonly open: GrowingText | null;
  /** Whether the step that every complete item shows was shown. */
  readonly hasWorked: boolean;
  /** Whether the event before `output_item.done` was sent. */
  readonly hasEnded: boolean;
  /** The output of a `shell_call_output`. */
  readonly output: ShownOutput;
}

export function openHosted(item: HostedItem, index: number, events: UnnumberedEvent[]): HostedBlock {
  const block: HostedBlock = {
    kind: "hosted",
    index,
    item,
    texts: [],
    open: null,
    hasWorked: false,
    hasEnded: false,
    output: NO_OUTPUT,
  };
  events.push({ type: "response.output_item.added", output_index: index, item });
  tell(block, shapeOf(block).begins, events);
  return block;
}

/** Extends the open text, or opens the next one. A text without a place in the item is not shown. */
export function addHostedText(block: HostedBlock, delta: string, events: UnnumberedEvent[]): HostedBlock {
  const { texts: shape } = shapeOf(block);
  const index = block.texts.length;
  if (shape === null || index >= shape.textsMax) return block;
  if (block.open === null && delta === "" && shape.addedEvent === null) return block;
  if (block.open === null && shape.addedEvent !== null) events.push(shape.addedEvent(hostedPlace(block), index));
  if (delta !== "") events.push(shape.delta(hostedPlace(block), index, delta));
  return { ...block, open: grow(block.open ?? NO_TEXT, delta) };
}

/** Ends the open text. */
export function endHostedText(block: HostedBlock, events: UnnumberedEvent[]): HostedBlock {
  const { texts: shape, begins } = shapeOf(block);
  if (block.open === null || shape === null) return block;
  const text = wholeTextOf(block.open);
  // As in the reference, a call becomes in progress again after its approval.
  if (block.item.type === "mcp_call" && block.item.approval_request_id !== null) tell(block, begins, events);
  events.push(shape.doneEvent(hostedPlace(block), block.texts.length, text));
  return { ...block, texts: [...block.texts, text], open: null };
}

/** Shows a step. Repeated steps, and steps that the item type lacks, are not shown. */
export function addStep(block: HostedBlock, step: ToolStep, events: UnnumberedEvent[]): HostedBlock {
  const { type } = block.item;
  if (step.type === "command_printed" || step.type === "command_ended") {
    if (type !== "shell_call_output") return block;
    return { ...block, output: showOutput(block.output, step, hostedPlace(block), events) };
  }
  if (step.type === "partial_image") {
    if (type !== "image_generation_call") return block;
    const drawing = work(block, events);
    events.push({ ...step, type: "response.image_generation_call.partial_image", ...hostedPlace(block) });
    return drawing;
  }
  return shapeOf(block).works?.step === step.type ? work(block, events) : block;
}

/** Shows the event that comes before `output_item.done`, once. */
export function endWork(block: HostedBlock, hasFailed: boolean, events: UnnumberedEvent[]): HostedBlock {
  if (block.hasEnded) return block;
  const { ends, fails } = shapeOf(block);
  tell(block, hasFailed ? fails : ends, events);
  return { ...block, hasEnded: true };
}

/** Ends the item with its last form. First shows the parts of the last form that were not shown yet. */
export function finishHosted(block: HostedBlock, last: HostedItem, events: UnnumberedEvent[]): HostedItem {
  const end = endOfItem(last);
  let result = end === "incomplete" ? endHostedText(block, events) : showTexts(block, textsIn(last), events);
  if (end === "whole") result = work(result, events);
  if (end !== "incomplete") result = endWork(result, end === "failed", events);
  const item = withTexts(last, result.texts);
  const shownItem =
    item.type === "shell_call_output"
      ? { ...item, output: showOutputs(result.output, item.output, hostedPlace(result), events) }
      : item;
  events.push({ type: "response.output_item.done", output_index: result.index, item: shownItem });
  return shownItem;
}

/** Ends an item without a last form, because the run ends. */
export function cutHosted(block: HostedBlock, events: UnnumberedEvent[]): HostedItem {
  return finishHosted(block, cutForm(block.item), events);
}

/** Shows the rest of the last form's texts after the deltas. */
function showTexts(block: HostedBlock, texts: readonly string[], events: UnnumberedEvent[]): HostedBlock {
  let result = block;
  for (const text of texts.slice(block.texts.length)) {
    const openText = result.open === null ? "" : wholeTextOf(result.open);
    // Shown text cannot be withdrawn.
    if (text.startsWith(openText)) result = addHostedText(result, text.slice(openText.length), events);
    result = endHostedText({ ...result, open: result.open ?? NO_TEXT }, events);
  }
  return endHostedText(result, events);
}

/** Shows once that the tool works. Its text is complete by then, or is shown with the last form. */
function work(block: HostedBlock, events: UnnumberedEvent[]): HostedBlock {
  const { works, texts } = shapeOf(block);
  if (works === null || block.hasWorked) return block;
  const result = endHostedText(block, events);
  if (texts !== null && result.texts.length === 0) return result;
  tell(result, works.shownAs, events);
  return { ...result, hasWorked: true };
}

function tell(block: HostedBlock, type: ProgressType | null, events: UnnumberedEvent[]): void {
  if (type !== null) events.push({ type, ...hostedPlace(block) });
}

function shapeOf({ item }: HostedBlock): ItemShape {
  return ITEM_SHAPES[item.type];
}

function hostedPlace({ item, index }: HostedBlock): HostedPlace {
  return { item_id: item.id, output_index: index };
}
