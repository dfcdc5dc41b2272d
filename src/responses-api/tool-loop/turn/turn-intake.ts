import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { CallLine } from "../call-line.ts";
import type { StartedCall } from "../started-call.ts";
import type { ToolCalls } from "../tool-calls.ts";
import type { TurnState } from "./turn-state.ts";

/** Takes in the events of a turn: shows what is said, and starts the calls of this server's tools. */
export class TurnIntake {
  readonly #line: CallLine;
  readonly #calls: Pick<ToolCalls, "start">;

  constructor(line: CallLine, calls: Pick<ToolCalls, "start">) {
    this.#line = line;
    this.#calls = calls;
  }

  /** `turn`: counted from 1. */
  hear(state: TurnState, event: ModelEvent, turn: number): void {
    switch (event.type) {
      case "usage":
        state.usage = event.usage;
        return;
      case "finished":
        state.finish = event.reason;
        return;
      case "call_started":
        if (event.kind === "hosted") return this.#beginCall(state, event, turn);
        return this.say(state, event);
      case "call_delta":
        return state.writing === null ? this.say(state, event) : state.writing.add(event.text);
      case "call_finished":
        return state.writing === null ? this.say(state, event) : this.endCall(state, state.writing, event.isCut);
      default:
        this.say(state, event);
    }
  }

  say(state: TurnState, event: ModelEvent): void {
    state.hear(event);
    state.place ??= this.#line.take();
    state.place.add(event);
  }

  #beginCall(state: TurnState, event: Extract<ModelEvent, { type: "call_started" }>, turn: number): void {
    if (state.open.isText) this.say(state, { type: "message_finished" }); // Even if the call shows no item.
    state.place?.close();
    state.place = null;
    state.writing = this.#calls.start(event, turn);
    state.calls.push(state.writing);
  }

  endCall(state: TurnState, call: StartedCall, isCut = false): void {
    state.writing = null;
    const finishedCall = call.end(isCut, state.turnEnd.promise);
    if (finishedCall === null) return;
    state.items.addCall(finishedCall);
    state.record?.addCall(finishedCall, call);
  }
}
