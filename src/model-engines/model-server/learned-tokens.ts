import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { LRUCache } from "lru-cache";
import type { InputTooLong } from "./errors/model-errors.ts";

const MODELS_MAX = 1000;
/** If the server's count is off by more than this factor, it counts something else. */
const RATIO_MIN = 0.5;
const RATIO_MAX = 3;
/** Shorter inputs say little: the chat template's share is too large. */
const TOKENS_MIN = 1000;
/** A model may be reloaded with another window or tokenizer. */
const FRESH_MS = 60 * 60_000;
/** How much more the next request is cut after a refusal without a number. */
const DEEPER = 1.25;

interface Learned {
  /** The server's tokens per estimated token. */
  readonly ratio: number;
  /** The window reported in a refusal; null if there was none. */
  readonly window: number | null;
}

const NOTHING: Learned = { ratio: 1, window: null };

/** An estimate and its request. */
interface Estimate extends Pick<ModelRequest, "tools" | "instructions"> {
  readonly tokens: number;
}

/** Corrections of token estimates, from a server's own numbers for its models. */
export class LearnedTokens {
  readonly #models = new LRUCache<string, Learned>({ max: MODELS_MAX, ttl: FRESH_MS });
  /** Keyed by the items of the request. */
  readonly #estimates = new WeakMap<ModelRequest["items"], Estimate>();

  /** Remembers the raw estimate for a request as long as its items are in memory. */
  remember({ items, tools, instructions }: ModelRequest, tokens: number): void {
    this.#estimates.set(items, { tokens, tools, instructions });
  }

  /** The estimate, corrected to this server's counting. */
  correctEstimate(model: string, tokens: number): number {
    return Math.ceil(tokens * this.#of(model).ratio);
  }

  /** The window of a model, or the server's smaller one. */
  window(model: string, knownWindow: number | null): number | null {
    const { window } = this.#of(model);
    return window === null || knownWindow === null ? (window ?? knownWindow) : Math.min(window, knownWindow);
  }

  /** The raw estimate for this request; null if there was none. */
  estimateOf({ items, tools, instructions }: ModelRequest): number | null {
    const estimate = this.#estimates.get(items);
    return estimate !== undefined && estimate.tools === tools && estimate.instructions === instructions
      ? estimate.tokens
      : null;
  }

  /** The server has reported the input tokens of a turn. */
  learnUsage(model: string, estimate: number, count: number): void {
    const ratio = count / estimate;
    if (estimate < TOKENS_MIN || ratio < RATIO_MIN || ratio > RATIO_MAX) return;
    this.#models.set(model, { ...this.#of(model), ratio });
  }

  /** The server has refused a turn as too long. */
  learnRefusal(model: string, estimate: number, { tokenCount, window }: InputTooLong): void {
    const entry = this.#of(model);
    const ratio = tokenCount === null ? entry.ratio * DEEPER : tokenCount / estimate;
    const least = tokenCount === null ? entry.ratio : RATIO_MIN;
    this.#models.set(model, {
      ratio: Math.min(Math.max(ratio, least), RATIO_MAX),
      window: window === null ? entry.window : Math.min(window, entry.window ?? window),
    });
  }

  #of(model: string): Learned {
    return this.#models.get(model) ?? NOTHING;
  }
}
