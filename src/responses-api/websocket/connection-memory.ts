import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { KnownExchange } from "@antiphon/domain/tool-ledger.ts";
import type { RememberedTurn, RememberedTurns } from "../access/caller.ts";
import type { Lane } from "./lanes.ts";

/** The maximum characters of JSON that one connection may remember. */
export const CONNECTION_CHARACTERS_MAX = 64 * 1024 * 1024;
/** The same for all connections of a process together. */
export const ALL_CONNECTIONS_CHARACTERS_MAX = 512 * 1024 * 1024;

/** A budget of characters that several users share. */
export class CharacterBudget {
  #charactersLeft: number;

  constructor(characters: number) {
    this.#charactersLeft = characters;
  }

  /** Returns false, and takes nothing, if less is left. */
  take(characters: number): boolean {
    if (characters > this.#charactersLeft) return false;
    this.#charactersLeft -= characters;
    return true;
  }

  giveBack(characters: number): void {
    this.#charactersLeft += characters;
  }
}

/** A turn and the characters of its items' JSON. */
export interface SizedTurn extends RememberedTurn {
  readonly characters: number;
}

/** An ended response: the parts for a turn. */
export interface EndedTurn {
  readonly previousId: string | null;
  /** The remembered turn of that response; null if it can only be in the store. */
  readonly previous: SizedTurn | null;
  /** Its input items, then its output items. */
  readonly items: readonly StoredItem[];
  /** Its calls of hosted functions. */
  readonly exchanges: readonly KnownExchange[];
}

/** The turn of an ended response. It continues a remembered response, a stored one, or none. */
export function turnAfter({ previousId, previous, items, exchanges }: EndedTurn): SizedTurn {
  return {
    after: previous === null ? previousId : previous.after,
    items: previous === null ? items : [...previous.items, ...items],
    exchanges: previous === null ? exchanges : [...previous.exchanges, ...exchanges],
    characters: (previous?.characters ?? 0) + JSON.stringify(items).length + charactersOf(exchanges),
  };
}

function charactersOf(exchanges: readonly KnownExchange[]): number {
  return exchanges.length === 0 ? 0 : JSON.stringify(exchanges).length;
}

interface RememberedResponse {
  readonly responseId: string;
  readonly turn: SizedTurn;
}

/**
 * Remembers the responses of one connection that are not stored: the latest of each lane. If the budget is used up, the
 * oldest one is removed.
 */
export class ConnectionMemory implements RememberedTurns {
  readonly #budget: CharacterBudget;
  readonly #own: CharacterBudget;
  readonly #charactersMax: number;
  readonly #latest = new Map<Lane, RememberedResponse>();
  #isOpen = true;

  constructor(budget: CharacterBudget, charactersMax = CONNECTION_CHARACTERS_MAX) {
    this.#budget = budget;
    this.#own = new CharacterBudget(charactersMax);
    this.#charactersMax = charactersMax;
  }

  find(responseId: string): SizedTurn | null {
    for (const latest of this.#latest.values()) {
      if (latest.responseId === responseId) return latest.turn;
    }
    return null;
  }

  /** Replaces the latest response of its lane. A response that is too large is not remembered. */
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

  /** Removes a response. An unknown id is ignored. */
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
    this.#budget.giveBack(latest.turn.characters);
  }

  /** Removes all responses and remembers no further ones. */
  close(): void {
    this.#isOpen = false;
    for (const lane of this.#latest.keys()) this.clearLane(lane);
  }

  #take(characters: number): boolean {
    if (!this.#own.take(characters)) return false;
    if (this.#budget.take(characters)) return true;
    this.#own.giveBack(characters);
    return false;
  }
}
