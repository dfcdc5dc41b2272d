import type { ModelEvent, ModelUsage } from "../../runs/ports.ts";
import type { LinePlace } from "./call-line.ts";
import type { StartedCall } from "./tool-calls.ts";
import { TurnItems } from "./turn-items.ts";

export type TurnFinish = Extract<ModelEvent, { type: "finished" }>["reason"];

/** What one turn of the model has brought so far. */
export interface TurnState {
  readonly items: TurnItems;
  readonly calls: StartedCall[];
  /** Resolves to true once the turn has ended well, so that calls with effects may run. */
  readonly ended: PromiseWithResolvers<boolean>;
  /** Where what the model says goes; null after a call. */
  place: LinePlace | null;
  /** The hosted call that the model is writing. */
  writing: StartedCall | null;
  /** Whether the client has to answer a call. */
  asksClient: boolean;
  usage: ModelUsage | null;
  finish: TurnFinish | null;
}

export function newTurn(): TurnState {
  return {
    items: new TurnItems(),
    calls: [],
    ended: Promise.withResolvers(),
    place: null,
    writing: null,
    asksClient: false,
    usage: null,
    finish: null,
  };
}
