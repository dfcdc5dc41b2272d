import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { DeltaTemplate, RecordedDelta, type RecordedEvent, RecordedWhole } from "./recorded-event.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/** Numbers the events of one run. Deltas of one part of an item share a template. */
export class Numbering {
  #next: number;
  /** The template of the latest delta of each type. */
  readonly #templates = new Map<string, KnownTemplate>();

  constructor(next: number) {
    this.#next = next;
  }

  /** Takes back numbers of unseen events, so that the visible numbers have no gaps. */
  rewind(to: number): void {
    this.#next = Math.min(this.#next, to);
  }

  number(events: readonly UnnumberedEvent[]): readonly RecordedEvent[] {
    return events.map((event) => this.#record(event, this.#next++));
  }

  #record(event: UnnumberedEvent, number: number): RecordedEvent {
    if (event.type === "response.output_text.delta" && event.logprobs.length === 0)
      return this.#delta(event, event.content_index, number);
    if (event.type === "response.refusal.delta" || event.type === "response.reasoning_text.delta")
      return this.#delta(event, event.content_index, number);
    if (event.type === "response.reasoning_summary_text.delta") return this.#delta(event, event.summary_index, number);
    if (
      event.type === "response.function_call_arguments.delta" ||
      event.type === "response.custom_tool_call_input.delta" ||
      event.type === "response.mcp_call_arguments.delta" ||
      event.type === "response.code_interpreter_call_code.delta" ||
      event.type === "response.apply_patch_call_operation_diff.delta"
    )
      return this.#delta(event, 0, number);
    return RecordedWhole.of(numberEvent(event, number));
  }

  #delta(event: PartDelta, part: number, number: number): RecordedEvent {
    const entry = this.#templates.get(event.type);
    if (entry !== undefined && entry.itemId === event.item_id && entry.part === part)
      return new RecordedDelta(number, entry.template, event.delta);
    const template = DeltaTemplate.of(event);
    this.#templates.set(event.type, { itemId: event.item_id, part, template });
    return new RecordedDelta(number, template, event.delta);
  }
}

/** A delta of one part of an item. Within a run, an item's id determines its output index. */
type PartDelta = Extract<UnnumberedEvent, { readonly delta: string; readonly item_id: string }>;

interface KnownTemplate {
  readonly itemId: string;
  readonly part: number;
  readonly template: DeltaTemplate;
}

/** Adds the number to the event object itself, which its creator no longer uses. */
export function numberEvent(event: UnnumberedEvent, number: number): ResponseStreamEvent {
  return Object.assign(event, { sequence_number: number });
}
