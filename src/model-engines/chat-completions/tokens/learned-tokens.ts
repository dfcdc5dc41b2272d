import { LRUCache } from "lru-cache";
import type { ModelRequest } from "../../../runs/request/model-request.ts";
import type { InputTooLong } from "../errors/model-errors.ts";

const MODELS_MAX = 1000;
/** A server that counts less or more than this times an estimate counts something else. */
const RATIO_MIN = 0.5;
const RATIO_MAX = 3;
/** Shorter inputs say little: what a chat template adds weighs too much. */
const TOKENS_MIN = 1000;
/** A model may be reloaded with another window or tokenizer. */
const FRESH_MS = 60 * 60_000;
/** How much deeper the next request is cut after a refusal without a number. */
const DEEPER = 1.25;

interface Learned {
  /** The tokens that the server counts for each that is estimated. */
  readonly ratio: number;
  /** The window that the server has told in a refusal; null if it has not. */
  readonly window: number | null;
}

const NOTHING: Learned = { ratio: 1, window: null };

/** An estimate, and the request that it is for. */
interface Estimate extends Pick<ModelRequest, "tools" | "instructions"> {
  readonly tokens: number;
}

/** What a server's own numbers say of the estimates of its models' tokens. */
export class LearnedTokens {
  readonly #models = new LRUCache<string, Learned>({ max: MODELS_MAX, ttl: FRESH_MS });
  /** By the items of the request. */
  readonly #estimates = new WeakMap<ModelRequest["items"], Estimate>();

  /** Remembers the raw estimate that was made for a request, for as long as its items live. */
  remember({ items, tools, instructions }: ModelRequest, tokens: number): void {
    this.#estimates.set(items, { tokens, tools, instructions });
  }

  /** The estimate as this server would count. */
  corrected(model: string, tokens: number): number {
    return Math.ceil(tokens * this.#of(model).ratio);
  }

  /** The window of a model, which the server may have told to be smaller. */
  window(model: string, known: number | null): number | null {
    const { window } = this.#of(model);
    return window === null || known === null ? (window ?? known) : Math.min(window, known);
  }

  /** The raw estimate that was made for this request; null if none was. */
  estimateOf({ items, tools, instructions }: ModelRequest): number | null {
    const made = this.#estimates.get(items);
    return made !== undefined && made.tools === tools && made.instructions === instructions ? made.tokens : null;
  }

  /** The server has counted the input of a turn. */
  learnUsage(model: string, estimate: number, counted: number): void {
    const ratio = counted / estimate;
    if (estimate < TOKENS_MIN || ratio < RATIO_MIN || ratio > RATIO_MAX) return;
    this.#models.set(model, { ...this.#of(model), ratio });
  }

  /** The server has refused a turn as too long. */
  learnRefusal(model: string, estimate: number, { counted, window }: InputTooLong): void {
    const known = this.#of(model);
    const ratio = counted === null ? known.ratio * DEEPER : counted / estimate;
    const least = counted === null ? known.ratio : RATIO_MIN;
    this.#models.set(model, {
      ratio: Math.min(Math.max(ratio, least), RATIO_MAX),
      window: window === null ? known.window : Math.min(window, known.window ?? window),
    });
  }

  #of(model: string): Learned {
    return this.#models.get(model) ?? NOTHING;
  }
}
