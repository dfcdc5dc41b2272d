import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { CreateKeyStore } from "@antiphon/domain/create-keys.ts";
import type { Caller, Peer } from "../../access/caller.ts";
import { LEFT_RUN_MS, type RunHold } from "../../access/key-hold.ts";
import { fingerprintOf } from "./create-key.ts";

/** How long after a reply was lost a retry finds its response, in seconds. */
const FINDABLE_SECONDS = 60;
/** The header in which the official SDKs count their retries of a request: 0, 1, 2. */
const RETRY_COUNT = "x-stainless-retry-count";

/** The sender of a create request. */
type LostCaller = Pick<Caller, "signal" | "log" | "peer"> & {
  readonly principal: Pick<Caller["principal"], "owner" | "keyId">;
};

export interface RetryTurn {
  /** The response of an earlier request whose reply was lost; null unless this one is a retry of it. */
  readonly lostId: string | null;
  /** For the response of this request; null if no retry will look for it. */
  readonly hold: LostRunHold | null;
}

/**
 * Finds the response of a request whose reply was lost, if this one is a retry of it by an official SDK: it says so,
 * and has the same body and API key. Only requests are watched that can do something twice: those with tools, and
 * background ones. What is not stored cannot be found.
 */
export async function takeRetry(
  createKeys: CreateKeyStore,
  request: CreateResponseRequest,
  caller: LostCaller,
): Promise<RetryTurn> {
  const count = retryCountOf(caller.peer);
  const canAct = request.background === true || (request.tools ?? []).length > 0;
  if (count === null || !canAct || request.store === false) return { lostId: null, hold: null };
  const { owner, keyId } = caller.principal;
  const fingerprint = await fingerprintOf({ keyId, request });
  const since = Math.floor(Date.now() / 1000) - FINDABLE_SECONDS;
  const lostId = count === 0 ? null : await createKeys.takeLost(owner, fingerprint, since);
  const hold = new LostRunHold(createKeys, caller, { fingerprint, isBackground: request.background === true });
  return { lostId, hold };
}

/** Null for clients that do not count. */
function retryCountOf({ headers }: Peer): number | null {
  const text = headers[RETRY_COUNT];
  return typeof text === "string" && /^\d{1,3}$/.test(text) ? Number(text) : null;
}

/**
 * A run without a key. If its client leaves before anything was changed, it is stopped, and a retry makes it anew.
 * Otherwise it goes on for a while, so that a retry finds it.
 */
export class LostRunHold implements RunHold {
  readonly worker = null;
  readonly #store: CreateKeyStore;
  readonly #caller: Pick<LostCaller, "principal" | "signal" | "log">;
  readonly #fingerprint: string;
  readonly #isBackground: boolean;
  readonly #controller = new AbortController();
  #responseId: string | null = null;
  #hasActed = false;
  #isOver = false;

  constructor(
    store: CreateKeyStore,
    { principal, signal, log }: Pick<LostCaller, "principal" | "signal" | "log">,
    { fingerprint, isBackground }: { readonly fingerprint: string; readonly isBackground: boolean },
  ) {
    this.#store = store;
    this.#caller = { principal, signal, log };
    this.#fingerprint = fingerprint;
    this.#isBackground = isBackground;
    if (signal.aborted) this.#controller.abort(signal.reason);
    else signal.addEventListener("abort", () => void this.#leave(), { once: true });
  }

  /** Aborts when the run must be stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async name(responseId: string): Promise<void> {
    this.#responseId = responseId;
  }

  begin(): void {}

  act(): void {
    this.#hasActed = true;
  }

  end(): void {
    this.#isOver = true;
  }

  async release(): Promise<void> {
    this.#responseId = null;
  }

  async #leave(): Promise<void> {
    const { principal, signal, log } = this.#caller;
    const responseId = this.#responseId;
    const goesOn = this.#isBackground || this.#hasActed || this.#isOver;
    // A background run does not end with its signal.
    if (responseId === null || !goesOn || this.#isBackground) this.#controller.abort(signal.reason);
    if (responseId === null || !goesOn) return;
    try {
      await this.#store.noteLost(principal.owner, this.#fingerprint, responseId);
    } catch (error) {
      log.warn({ err: error, responseId }, "a lost reply could not be noted");
    }
    if (!this.#isBackground) setTimeout(() => void this.#endUnwanted(responseId), LEFT_RUN_MS).unref();
  }

  async #endUnwanted(responseId: string): Promise<void> {
    if (this.#isOver) return;
    const { owner } = this.#caller.principal;
    const isWanted = await this.#store.isTaken(owner, this.#fingerprint, responseId).catch(() => false);
    if (!isWanted) this.#controller.abort(this.#caller.signal.reason);
  }
}
