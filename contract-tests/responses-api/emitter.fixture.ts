import type { PactMessage } from "../pact-files.fixture.ts";
import type { Service } from "../providers.fixture.ts";
import { nameOfEvent } from "./stream-situations.fixture.ts";

type Emit = (service: Service, state: string) => Promise<readonly unknown[]>;

/** Runs the request of each state once and keeps its events. */
export class Emitter {
  readonly #emit: Emit;
  readonly #service: Service;
  readonly #emitted = new Map<string, Promise<readonly unknown[]>>();

  constructor(emit: Emit, service: Service) {
    this.#emit = emit;
    this.#service = service;
  }

  all(state: string): Promise<readonly unknown[]> {
    const events = this.#emitted.get(state) ?? this.#emit(this.#service, state);
    this.#emitted.set(state, events);
    return events;
  }

  /** Returns the event that a message describes. */
  async find({ description, state, example }: PactMessage): Promise<unknown> {
    const events = await this.all(state);
    const alike = events.filter((event) => nameOfEvent(event) === nameOfEvent(example));
    return alike[description.endsWith(", the second") ? 1 : 0] ?? { missing: description };
  }

  /** Returns the names of all events of these states. */
  async names(states: readonly string[]): Promise<ReadonlySet<string>> {
    const events = await Promise.all(states.map((state) => this.all(state)));
    return new Set(events.flat().map(nameOfEvent));
  }
}
