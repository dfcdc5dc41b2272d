import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import { waitAtMost } from "@antiphon/base/limits/wait-at-most.ts";
import type { Challenge } from "./challenge.ts";
import type { AccessToken } from "./token-requests.ts";

/** Before its end, a token is replaced: by this time, or by a tenth of its life if that is shorter. */
const EARLY_MS = 30_000;
const EARLY_SHARE = 0.1;
/** How long the end of the server waits for a renewal. */
const CLOSE_MS = 3000;

/** Where the tokens of one server are, and how another one comes. */
export interface TokenOrigin {
  /** The token that is there. `isNew`: the one of this moment, not of a moment ago. */
  current(isNew: boolean): Promise<AccessToken | null>;
  /** Gets another token than `old`; null if it takes a person. Bounded; rejects with `AuthorizationFailed`. */
  renew(old: AccessToken | null, challenge: Challenge | null): Promise<AccessToken | null>;
  /** All values that must not be shown. */
  secrets(): readonly string[];
  /** Ends renewals that nothing is lost by. */
  close(): void;
}

/** The tokens of one server, for all responses of this process. They are asked for once at a time. */
export class TokenSource {
  readonly #origin: TokenOrigin;
  #renewing: Promise<AccessToken | null> | null = null;

  constructor(origin: TokenOrigin) {
    this.#origin = origin;
  }

  secrets(): readonly string[] {
    return this.#origin.secrets();
  }

  /** The token to send; null if there is none. Rejects with `AuthorizationFailed` or the signal's reason. */
  async token(signal: AbortSignal): Promise<string | null> {
    const current = await this.#origin.current(false);
    if (current !== null && !isEnding(current)) return current.value;
    try {
      return (await this.#renew(current, null, signal))?.value ?? null;
    } catch (error) {
      signal.throwIfAborted();
      if (current !== null && !isOver(current)) return current.value;
      throw error;
    }
  }

  /**
   * A token in place of the refused one; null if there is no other. Only a token that is worthless is renewed: a
   * renewed one has the same scopes. Rejects like `token`.
   */
  async replace(
    refused: string | null,
    { challenge, isWorthless }: { readonly challenge: Challenge; readonly isWorthless: boolean },
    signal: AbortSignal,
  ): Promise<string | null> {
    const current = await this.#origin.current(true);
    if (current !== null && current.value !== refused) return current.value;
    if (!isWorthless) return null;
    const next = await this.#renew(current, challenge, signal);
    return next === null || next.value === refused ? null : next.value;
  }

  /** Waits a moment for a token that is being asked for, because its end can cost the login. Never rejects. */
  async close(): Promise<void> {
    this.#origin.close();
    await waitAtMost(CLOSE_MS, this.#renewing?.catch(() => {}) ?? Promise.resolve());
  }

  async #renew(old: AccessToken | null, challenge: Challenge | null, signal: AbortSignal): Promise<AccessToken | null> {
    this.#renewing ??= this.#origin.renew(old, challenge).finally(() => {
      this.#renewing = null;
    });
    return await unlessAborted(this.#renewing, signal);
  }
}

function isEnding({ obtainedAt, expiresAt }: AccessToken): boolean {
  if (expiresAt === null) return false;
  return Date.now() >= expiresAt - Math.min(EARLY_MS, EARLY_SHARE * (expiresAt - obtainedAt));
}

function isOver({ expiresAt }: AccessToken): boolean {
  return expiresAt !== null && Date.now() >= expiresAt;
}
