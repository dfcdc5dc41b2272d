import { ShownEvents } from "./shown-events.ts";

/** One response and its reader. */
export class Run {
  /** What its input is called. A create without an answer is tried again under another name. */
  name: string;
  /** Null until a reply named it. */
  id: string | null = null;
  readonly beganAt = Date.now();
  readonly shown = new ShownEvents();
  /** Names under which it may have been created, too. */
  readonly formerNames: string[] = [];
  /** How often it was created again under its key, because no reply came. */
  repeats = 0;
  /** Why its latest connection broke. */
  latestBreak = "";
  #whyGivenUp: string | null = null;

  constructor(name: string) {
    this.name = name;
  }

  /** Why nobody waits for its end any longer; null if somebody does, or it has ended. */
  get whyGivenUp(): string | null {
    return this.#whyGivenUp;
  }

  get isOver(): boolean {
    return this.shown.end !== null || this.#whyGivenUp !== null;
  }

  giveUp(why: string): void {
    this.#whyGivenUp = why;
  }

  rename(name: string): void {
    this.formerNames.push(this.name);
    this.name = name;
  }
}

/** Names that no other run of this process has. */
export class RunNames {
  #count = 0;

  next(): string {
    this.#count += 1;
    return `run-${this.#count}`;
  }
}
