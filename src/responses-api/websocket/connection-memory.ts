import type { StoredItem } from "../../../generated/responses-api/types.ts";
import type { RememberedTurn, RememberedTurns } from "../access/caller.ts";
import type { Lane } from "./lanes.ts";

/** JSON text of the turns that one connection may have remembered. */
export const CONNECTION_CHARACTERS_MAX = 64 * 1024 * 1024;
/** The same of all connections of a process together. */
export const ALL_CONNECTIONS_CHARACTERS_MAX = 512 * 1024 * 1024;

/** What may be remembered by many, all together. */
export class CharacterBudget {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  /** False: there is not as much left, and nothing was taken. */
  take(characters: number): boolean {
    if (characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }

  giveBack(characters: number): void {
    this.#left += characters;
  }
}

/** A turn and how long its items are as JSON. */
export interface SizedTurn extends RememberedTurn {
  readonly characters: number;
}

/** A response that has ended, in words that a turn is made of. */
export interface EndedTurn {
  readonly previousId: string | null;
  /** What was remembered of that; null: nothing, it is stored if it is anywhere. */
  readonly previous: SizedTurn | null;
  /** Its input, then its output. */
  readonly items: readonly StoredItem[];
}

/** The turn that goes on after a remembered one, after a stored one, or begins by itself. */
export function turnAfter({ previousId, previous, items }: EndedTurn): SizedTurn {
  return {
    after: previous === null ? previousId : previous.after,
    items: previous === null ? items : [...previous.items, ...items],
    characters: (previous?.characters ?? 0) + JSON.stringify(items).length,
  };
}

interface Latest {
  readonly responseId: string;
  readonly turn: SizedTurn;
}

/**
 * What one connection remembers of responses that are not stored: the latest of each lane, as far as there is room; the
 * lane that was used last stays longest.
 */
export class ConnectionMemory implements RememberedTurns {
  readonly #shared: CharacterBudget;
  readonly #own: CharacterBudget;
  readonly #charactersMax: number;
  readonly #latest = new Map<Lane, Latest>();
  #isOpen = true;

  constructor(shared: CharacterBudget, charactersMax = CONNECTION_CHARACTERS_MAX) {
    this.#shared = shared;
    this.#own = new CharacterBudget(charactersMax);
    this.#charactersMax = charactersMax;
  }

  find(responseId: string): SizedTurn | null {
    for (const latest of this.#latest.values()) {
      if (latest.responseId === responseId) return latest.turn;
    }
    return null;
  }

  /** From now on this is the latest response of its lane. One for which there is no room is not remembered. */
  remember(lane: Lane, responseId: string, turn: SizedTurn): void {
    this.clearLane(lane);
    if (!this.#isOpen || turn.characters > this.#charactersMax) return;
    while (!this.#take(turn.characters)) {
      const [oldest] = this.#latest.keys();
      if (oldest === undefined) return;
      this.clearLane(oldest);
    }
    this.#latest.set(lane, { responseId, turn });
  }

  /** A response that is remembered no longer; any other is left alone. */
  forget(responseId: string): void {
    for (const [lane, latest] of this.#latest) {
      if (latest.responseId === responseId) this.clearLane(lane);
    }
  }

  clearLane(lane: Lane): void {
    const latest = this.#latest.get(lane);
    if (latest === undefined) return;
    this.#latest.delete(lane);
    this.#own.giveBack(latest.turn.characters);
    this.#shared.giveBack(latest.turn.characters);
  }

  /** Forgets everything, and remembers nothing more. */
  close(): void {
    this.#isOpen = false;
    for (const lane of this.#latest.keys()) this.clearLane(lane);
  }

  #take(characters: number): boolean {
    if (!this.#own.take(characters)) return false;
    if (this.#shared.take(characters)) return true;
    this.#own.giveBack(characters);
    return false;
  }
}
