import type { Response, ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import { mayRunAgain } from "@antiphon/domain/hosted-tool.ts";
import type { KnownExchange, ToolLedger, TurnInLedger } from "@antiphon/domain/tool-ledger.ts";
import type { EventLog } from "../../runs/ports/event-log.ts";
import type { WaitingEvent } from "../../runs/ports/packed-deltas.ts";
import { unpackDeltas } from "../../runs/ports/packed-deltas.ts";
import { RunLost } from "../../runs/ports/store-faults.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";

const NEVER = new Promise<never>(() => {});

/** The stored data of one response, and a process that dies after a number of changes. */
export class MortalProcess {
  readonly events: RecordedEvent[];
  readonly exchanges: Map<string, KnownExchange>;
  readonly turns: Map<number, TurnInLedger>;
  /** The final snapshot. */
  body: Response | null;
  readonly notes: ResponseNote[] = [];
  changes = 0;
  readonly #changesMax: number;
  readonly #death = Promise.withResolvers<void>();

  constructor(changesMax: number, before?: MortalProcess) {
    this.#changesMax = changesMax;
    this.events = [...(before?.events ?? [])];
    this.exchanges = new Map(before?.exchanges);
    this.turns = new Map(before?.turns);
    this.body = before?.body ?? null;
  }

  get isDead(): boolean {
    return this.changes >= this.#changesMax;
  }

  get death(): Promise<void> {
    return this.#death.promise;
  }

  /** Resolves at once while the process lives, and never afterwards. */
  async alive(): Promise<void> {
    if (this.isDead) await NEVER;
  }

  get log(): EventLog {
    return {
      open: (_run, events) => this.#store(events),
      append: (_id, events) => this.#store(events),
      appendNow: () => false,
      advance: (_id, events) => this.#store(events),
      close: (_id, events, { response }) => this.#store(events, response),
      storeWhole: (_run, events, { response }) => this.#store(events, response),
      addNote: async (_id, note) => void this.notes.push(note),
      read: (_id, after) => this.#read(after),
    };
  }

  get ledger(): ToolLedger {
    const find = (itemId: string): KnownExchange | undefined => this.exchanges.get(itemId);
    return {
      begin: async (_owner, _id, begun) => {
        const known = find(begun.itemId);
        if (known !== undefined && (!mayRunAgain(known.effect) || known.result !== null))
          throw new RunLost("begun twice");
        await this.#change(() => this.exchanges.set(begun.itemId, { ...begun, result: null }));
      },
      finish: async (_owner, _id, result, attempts) => {
        const known = find(result.itemId);
        if (known === undefined) throw new RunLost("not begun");
        await this.#change(() => this.exchanges.set(result.itemId, { ...known, result, attempts }));
      },
      endTurn: (_owner, _id, turn) => this.#change(() => this.turns.set(turn.number, turn)),
      turnsOf: async () => [...this.turns.values()].toSorted((one, other) => one.number - other.number),
      listOf: async () => [...this.exchanges.values()],
      find: async () => this.exchanges,
      spend: async () => {},
      findSpent: async () => new Set(),
    };
  }

  /** All or nothing, like the store. */
  #store(events: readonly WaitingEvent[], body: Response | null = null): Promise<void> {
    return this.#change(() => {
      this.events.push(...unpackDeltas(events));
      this.body = body;
    });
  }

  async *#read(after: number): AsyncGenerator<readonly RecordedEvent[]> {
    yield this.events.filter(({ number }) => number > after);
  }

  async #change(make: () => void): Promise<void> {
    await this.alive();
    make();
    this.changes += 1;
    if (this.isDead) this.#death.resolve();
    await this.alive();
  }
}
