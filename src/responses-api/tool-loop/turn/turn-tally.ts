/** Consecutive turns that only call ended tools; in the last of them, no tool of this server may be called. */
const VAIN_TURNS_MAX = 1;

/** How a turn ended. */
export interface TurnOutcome {
  readonly isProgram: boolean;
  /** Whether a program has not ended. */
  readonly hasOpenProgram: boolean;
  readonly asksClient: boolean;
  /** The calls of this server's tools that it made. */
  readonly calls: readonly { readonly isOver: boolean }[];
}

/** Counts the turns of a response, and decides after each one whether another follows. */
export class TurnTally {
  readonly #turnsMax: number;
  #number = 0;
  #programTurns = 0;
  #vainTurns = 0;
  /** Whether a turn has asked the client, so that the response ends once its program waits or has ended. */
  #hasAsked = false;

  /** `turnsMax`: of the model. Programs are limited by their calls. */
  constructor(turnsMax: number) {
    this.#turnsMax = turnsMax;
  }

  /** All turns so far, those of programs included. */
  get number(): number {
    return this.#number;
  }

  /** Whether the model's next turn is its first. */
  get isBeforeFirst(): boolean {
    return this.#modelTurns === 0;
  }

  /** Whether the model's next turn is its last. */
  get isBeforeLast(): boolean {
    return this.#modelTurns + 1 >= this.#turnsMax;
  }

  get isLast(): boolean {
    return this.#modelTurns >= this.#turnsMax;
  }

  /** Whether the latest turn only called ended tools. */
  get isVain(): boolean {
    return this.#vainTurns > 0;
  }

  get #modelTurns(): number {
    return this.#number - this.#programTurns;
  }

  /** Continues the count of a run that a crash interrupted. */
  goOnAt(number: number): void {
    this.#number = number;
  }

  begin(isProgram = false): void {
    this.#number += 1;
    if (isProgram) this.#programTurns += 1;
  }

  /** The same turn is requested again. */
  takeBack(): void {
    this.#number -= 1;
  }

  /** Whether another turn follows this one. */
  goesOnAfter({ isProgram, hasOpenProgram, asksClient, calls }: TurnOutcome): boolean {
    this.#hasAsked ||= asksClient;
    if (isProgram) return !this.#hasAsked;
    if (hasOpenProgram) return true;
    const isVain = calls.length > 0 && calls.every(({ isOver }) => isOver);
    this.#vainTurns = isVain ? this.#vainTurns + 1 : 0;
    return this.#vainTurns <= VAIN_TURNS_MAX && calls.length > 0 && !this.#hasAsked && !this.isLast;
  }
}
