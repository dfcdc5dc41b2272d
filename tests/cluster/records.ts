import type { Response as ResponseBody } from "openai/resources/responses/responses";
import type { View } from "./view.ts";
import type { Name } from "./world.ts";

/** Everything that the clients of a trial were told, for checks at its end. */
export class Records {
  readonly views: View[] = [];
  readonly talks: Talk[] = [];
  /** Numbers that clients asked to pay, each once. */
  readonly payments: number[] = [];
  readonly files: StoredFile[] = [];
  /** Responses as requests that were not streamed showed them after their end. */
  readonly answers: ResponseBody[] = [];
  /** Ids of responses that were deleted. */
  readonly deleted: string[] = [];
  /** What each of these must have shown the model, at the least. */
  readonly contexts: { readonly name: Name; readonly before: readonly Name[] }[] = [];
  readonly faults: string[] = [];
  readonly #counts = new Map<string, number>();
  #names = 0;

  /** Something to say that nobody said before. */
  nextName(): Name {
    this.#names += 1;
    return `say-${this.#names}`;
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** How often things happened, by name. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** A conversation, and what clients said in it. What is in no set may be there or not: the client was told nothing. */
export interface Talk {
  readonly id: string;
  /** What the server said was added. */
  readonly added: Set<Name>;
  /** What must not be there: the server refused it, or its response failed. */
  readonly absent: Set<Name>;
  /** What a completed response answered: the answer follows it. */
  readonly answered: Set<Name>;
}

export interface StoredFile {
  readonly id: string;
  readonly text: string;
}
