import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { TurnFinish } from "@antiphon/domain/tool-ledger.ts";
import type { LinePlace } from "../call-line.ts";
import type { StartedCall } from "../started-call.ts";
import { type OpenPart, OpenText } from "./open-text.ts";
import { TurnItems } from "./turn-items.ts";
import { TurnRecord } from "./turn-record.ts";

/** The model's output of one turn so far. */
export class TurnState {
  readonly items = new TurnItems();
  readonly calls: StartedCall[] = [];
  /** The model's decisions, for the ledger; null if nobody could continue the run. */
  readonly record: TurnRecord | null;
  readonly open: OpenText;
  /** Resolves to true once the turn has ended well, so that calls with effects may run. */
  readonly turnEnd: PromiseWithResolvers<boolean> = Promise.withResolvers();
  /** Current output position; null after a call. */
  place: LinePlace | null = null;
  /** The hosted call that the model is writing. */
  writing: StartedCall | null = null;
  /** Whether the model has begun a call that the client must answer. */
  asksClient = false;
  /** Whether such a call is complete. */
  hasAskedClient = false;
  usage: ModelUsage | null = null;
  finish: TurnFinish | null = null;

  constructor(before: OpenPart | null, isRecorded: boolean) {
    this.record = isRecorded ? new TurnRecord() : null;
    this.open = new OpenText();
    for (const event of eventsOf(before)) this.hear(event);
  }

  /** Records the model's output, without calls of this server's tools. */
  hear(event: ModelEvent): void {
    this.items.add(event);
    this.record?.add(event);
    const before = this.open.add(event);
    if (event.type === "turn_cut") this.asksClient = false;
    if (event.type === "call_started" || event.type === "tool_search") this.asksClient = true;
    const endsCall = event.type === "tool_search" || (event.type === "call_finished" && before?.type === "call");
    if (endsCall && event.isCut !== true) this.hasAskedClient = true;
  }
}

/** `before`: the item of an earlier attempt that may continue. */
export function newTurn(before: OpenPart | null, isRecorded: boolean): TurnState {
  return new TurnState(before, isRecorded);
}

/** The events that would have begun an item. */
function eventsOf(open: OpenPart | null): readonly ModelEvent[] {
  if (open === null) return [];
  if (open.type === "message") return [{ type: "text_delta", text: open.text }];
  const { kind, name, namespace, text } = open;
  return [
    { type: "call_started", kind, callId: null, name, ...(namespace === null ? {} : { namespace }) },
    { type: "call_delta", text },
  ];
}
