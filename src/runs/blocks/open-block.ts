import { assertNever } from "@antiphon/base/assert.ts";
import { idFromStem } from "@antiphon/base/ids.ts";
import type { Answering } from "../run-state.ts";
import type { BlockEnd, UnnumberedEvent } from "../wire-event.ts";
import { closeCall } from "./call-block.ts";
import { cutHosted } from "./hosted-block.ts";
import { closeMessage } from "./message-block.ts";
import { closeReasoning } from "./reasoning-block.ts";

export function closeOpen(state: Answering, end: BlockEnd, events: UnnumberedEvent[]): Answering {
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
    case "hosted": // Only `item_finished` ends it regularly.
      return cutHosted(open, events);
    default:
      return assertNever(open);
  }
}

export function growAnswer(state: Answering, open: Answering["open"], characters: number): Answering {
  return { ...state, open, characters: state.characters + characters };
}

/** The model server's id if it is unique in the response, otherwise a new id. */
export function uniqueCallId(state: Answering, callId: string | null): string {
  const isTaken = state.output.some((item) => "call_id" in item && item.call_id === callId);
  if (callId !== null && callId !== "" && !isTaken) return callId;
  return `call_${nextId("call", state).slice(-24)}`;
}

export function nextId(prefix: string, state: Answering): string {
  return idFromStem(prefix, state.plan.ids, state.output.length);
}
