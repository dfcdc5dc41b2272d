import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "@antiphon/base/api-error.ts";
import { newRequestId } from "@antiphon/base/ids.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { WakeUp } from "@antiphon/base/streams/wake-up.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { KnownKey } from "@antiphon/domain/keys.ts";
import type { DueSteers, SteerEnd, SteerStore } from "@antiphon/domain/steering/steers.ts";
import { RunLost } from "../../runs/ports/store-faults.ts";
import { principalOf } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import { beginResponse, type CreateContext } from "../create/begin-response.ts";
import { requiredInput } from "../input/required-input.ts";
import { successorRequest } from "../input/steer-input.ts";
import { openSettings } from "../task/steer-settings.ts";

export interface SteerApplierParts {
  readonly steers: SteerStore;
  readonly creating: CreateContext;
  readonly keys: { findById(id: string): Promise<KnownKey | null> };
  readonly log: Logger;
}

/** How often responses are looked for that ended in other processes, or in dead ones, in milliseconds. */
const INTERVAL_MS = 2_000;
/** The pause after a database fault, in milliseconds. */
const FAULT_PAUSE_MS = 1_000;
/** A successor that is refused for a reason that may pass is tried again this often, with pauses that double. */
const ATTEMPTS_MAX = 10;
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
const STATUS_LIMIT = 429;
const STATUS_FAULT = 500;

/** Gives the inputs that were added to responses to their successors, until it is stopped. */
export class SteerApplier {
  readonly #parts: SteerApplierParts;
  readonly #stopping = new AbortController();
  readonly #wakeUp = new WakeUp();
  readonly #running: Promise<void>;

  constructor(parts: SteerApplierParts) {
    this.#parts = parts;
    parts.steers.listen(() => this.#wakeUp.wake());
    this.#running = this.#run();
  }

  /** Begins no further successor. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#applyAll();
        await this.#wakeUp.wait(INTERVAL_MS, signal);
      } catch (fault) {
        if (signal.aborted) return;
        this.#parts.log.error({ err: fault }, "input that was added to responses waits; retrying");
        await sleep(FAULT_PAUSE_MS, null, { signal }).catch(() => null);
      }
    }
  }

  async #applyAll(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const due = await this.#parts.steers.claim();
      if (due === null) return;
      const end = await this.#endOf(due);
      if (end !== null) await this.#parts.steers.settle(due, end);
    }
  }

  /** Null if a successor has the inputs, or another process is making it. */
  async #endOf(due: DueSteers): Promise<SteerEnd | null> {
    const { watching } = this.#parts.creating;
    const response = await watching.store.findResponse(due.owner, due.responseId);
    if (response === null) return null; // They are removed with it.
    if (response.status !== "completed" && response.status !== "incomplete") {
      const message = `Response '${due.responseId}' has ended as ${response.status}.`;
      return { type: "failed", error: { code: "response_not_active", message } };
    }
    if (requiredInput(response.output).length > 0) return { type: "pending" };
    try {
      await this.#beginSuccessor(due, response);
      return null;
    } catch (fault) {
      return this.#afterRefusal(due, fault);
    }
  }

  async #beginSuccessor(due: DueSteers, { id }: Response): Promise<void> {
    const { creating, keys, log } = this.#parts;
    const { owner, steers } = due;
    const settings = openSettings(creating.ordering.sealer, due, due.settings);
    const key = await keys.findById(due.keyId);
    if (settings === null || key === null) throw new SuccessorImpossible();
    const turns = await creating.preparing.tools.ledger.turnsOf(owner, id);
    const caller: Caller = {
      principal: { ...principalOf(key, {}), owner },
      signal: this.#stopping.signal,
      requestId: newRequestId(),
      trace: null,
      log,
      peer: { remoteAddress: "", headers: {} },
      steers: { responseId: id, ids: steers.map((steer) => steer.id), turn: turns.length + 1 },
    };
    const run = await beginResponse(creating, successorRequest(settings, id, steers), caller);
    log.info({ responseId: id, successorId: run.responseId }, "a steered response has a successor");
  }

  #afterRefusal({ responseId, attempts }: DueSteers, fault: unknown): SteerEnd | null {
    const { log } = this.#parts;
    if (this.#stopping.signal.aborted) return { type: "again", pauseMs: 0 };
    if (fault instanceof RunLost) return null;
    const isRefusal = fault instanceof ApiError || fault instanceof SuccessorImpossible;
    const mayPass = !isRefusal || (fault instanceof ApiError && isPassing(fault));
    if (!isRefusal) log.error({ err: fault, responseId }, "a successor could not be made");
    if (mayPass && attempts < ATTEMPTS_MAX)
      return { type: "again", pauseMs: Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** attempts) };
    const message = isRefusal ? fault.message : "The server had an error while making the successor.";
    return { type: "failed", error: { code: "successor_creation_failed", message } };
  }
}

/** The settings or the key of the successor are gone. */
class SuccessorImpossible extends Error {
  override readonly name = "SuccessorImpossible";

  constructor() {
    super("The API key of the input, or the key that sealed the settings of its response, is gone.");
  }
}

function isPassing({ status }: ApiError): boolean {
  return status === STATUS_LIMIT || status >= STATUS_FAULT;
}
