import { assertNever } from "@antiphon/base/assert.ts";
import type { HostedItemEvent } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { Answering } from "../run-state.ts";
import type { BlockEnd, UnnumberedEvent } from "../wire-event.ts";
import { addHostedText, addStep, endHostedText, finishHosted, openHosted } from "./hosted-block.ts";
import { closeOpen, growAnswer, nextId, uniqueCallId } from "./open-block.ts";
import { showCompaction, showToolSearch } from "./whole-items.ts";

export function isItemEvent(event: ModelEvent): event is HostedItemEvent {
  return event.type.startsWith("item_");
}

export function addToolSearch(
  state: Answering,
  search: Extract<ModelEvent, { type: "tool_search" }>,
  events: UnnumberedEvent[],
): Answering {
  const closedState = closeOpen(state, "completed", events);
  const item = {
    id: nextId("tsc", closedState),
    type: "tool_search_call" as const,
    status: endOfCall(search),
    arguments: search.arguments,
    call_id: uniqueCallId(closedState, search.callId),
    execution: "client" as const,
  };
  showToolSearch(item, closedState.output.length, events);
  return { ...closedState, output: [...closedState.output, item] };
}

export function addCompaction(state: Answering, encryptedContent: string, events: UnnumberedEvent[]): Answering {
  const closedState = closeOpen(state, "completed", events);
  const item = { id: nextId("cmp", closedState), type: "compaction" as const, encrypted_content: encryptedContent };
  showCompaction(item, closedState.output.length, events);
  return { ...closedState, output: [...closedState.output, item] };
}

/** Applies an event about an item of a hosted tool. Events about an item that is not open have no effect. */
export function applyItemEvent(state: Answering, event: HostedItemEvent, events: UnnumberedEvent[]): Answering {
  if (event.type === "item_started") {
    const closedState = closeOpen(state, "completed", events);
    return { ...closedState, open: openHosted(event.item, closedState.output.length, events) };
  }
  const { open } = state;
  if (open?.kind !== "hosted") return state;
  switch (event.type) {
    case "item_delta":
      return growAnswer(state, addHostedText(open, event.text, events), event.text.length);
    case "item_written":
      return { ...state, open: endHostedText(open, events) };
    case "item_step":
      return { ...state, open: addStep(open, event.step, events) };
    case "item_finished":
      if (event.item.id !== open.item.id) return state;
      return { ...state, open: null, output: [...state.output, finishHosted(open, event.item, events)] };
    default:
      return assertNever(event);
  }
}

export function endOfCall({ isCut }: { readonly isCut?: boolean }): BlockEnd {
  return isCut === true ? "incomplete" : "completed";
}
