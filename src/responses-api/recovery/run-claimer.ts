import { mapSomeAtOnce } from "@antiphon/base/limits/map-some-at-once.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import type { RunHost } from "../../runs/index.ts";
import {
  INTERRUPTED_FAILURE,
  type LeaveCause,
  OUTDATED_FAILURE,
  POISONED_FAILURE,
  type RunFailure,
  type RunOrder,
} from "../../runs/index.ts";
import { type EventLog, type OpenedRun, TASK_VERSION } from "../../runs/ports/event-log.ts";
import type { AbandonedRun, Release, RunLedger, UnmadeRuns } from "../../runs/ports/run-ledger.ts";
import type { RunIncident } from "../../runs/ports/run-watch.ts";
import type { Neighbours } from "../../runs/reading/neighbours.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { endingOrder, type OrderContext, orderOf, reportIncident } from "../create/begin-response.ts";
import type { ApprovalsInUse } from "../create/response-lock.ts";
import { endingTask, type RunTask } from "../task/run-task.ts";
import { toolSecrets } from "../task/seal-tools.ts";
import { readTask } from "../task/stored-task.ts";
import { freshApprovals } from "../tool-loop/approvals.ts";
import { chooseClaims, unreadableRuns } from "./choose-claims.ts";

/** What runs are claimed and resumed with. */
export interface ClaimContext {
  readonly ordering: OrderContext;
  readonly ledger: RunLedger;
  readonly toolLedger: Pick<ToolLedger, "turnsOf" | "listOf">;
  /** The runs of this process. */
  readonly runs: RunHost;
  readonly approvalsInUse: ApprovalsInUse;
  /** The other processes of this database; null if they tell each other nothing. */
  readonly neighbours: Neighbours | null;
}

/** The maximum of abandoned runs claimed at a time. Each loads its whole request into memory. */
const CLAIMS_MAX = 20;
/** The maximum of claimed runs whose events are in memory at the same time. */
const RESUMED_TOGETHER_MAX = 5;
/** The maximum restarts of a run without progress. */
const RESTARTS_MAX = 3;
/** The first and the longest pause after failing to read a run, in milliseconds. */
const UNREAD_PAUSE_MS = 1_000;
const UNREAD_PAUSE_MS_MAX = 300_000;
/** How long a run waits for a worker that can read its task, in milliseconds. */
const UNREADABLE_MS = 3_600_000;

/** Those of a paused run. They tell it from one that was interrupted. */
const NO_ATTEMPTS = { turn: 0, failures: 0, since: 0 };

/** The causes of `LeaveCause` after which a worker may still hold the run. */
type LeftBy = "store" | "fault" | "unstored_end";

/** Claims runs that no worker makes and continues or ends them. Releases runs of this worker. */
export class RunClaimer {
  readonly #context: ClaimContext;
  readonly #log: Logger;
  readonly #unreadableMs: number;
  readonly #onDue: () => void;
  /**
   * Why this worker left runs that it may still hold. It continues them when it claims its own runs, or ends them if
   * their readers saw an end.
   */
  readonly #causes = new Map<string, LeftBy>();
  /** Runs that are being released. */
  readonly #leaving = new Set<string>();
  /** The number of consecutive failures to read a run. */
  readonly #unread = new Map<string, number>();
  /** Since when no living worker can read the tasks of runs. */
  readonly #unreadableSince = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();

  /** `onDue`: called when a run that was suspended here can be claimed. */
  constructor(context: ClaimContext, log: Logger, onDue: () => void, unreadableMs = UNREADABLE_MS) {
    this.#context = context;
    this.#log = log;
    this.#onDue = onDue;
    this.#unreadableMs = unreadableMs;
    context.runs.onLeave((responseId, cause) => this.#noteLeave(responseId, cause));
  }

  /** Claims and resumes runs until none are left for this worker, or `mayGoOn` is false. Returns their number. */
  async claimAll(mayGoOn: () => boolean): Promise<number> {
    const { runs, ledger, neighbours } = this.#context;
    const triedIds = new Set<string>();
    const isHere = (responseId: string): boolean =>
      runs.has(responseId) || triedIds.has(responseId) || this.#leaving.has(responseId);
    const unmade = await ledger.listUnmade(isHere);
    this.#noteUnreadable(unmade);
    const limits = {
      places: runs.placesForWaiting,
      taskVersion: TASK_VERSION,
      isGivenUp: (responseId: string) => this.#isGivenUp(responseId),
    };
    const choices = chooseClaims(unmade, limits);
    for (let start = 0; start < choices.length && mayGoOn(); start += CLAIMS_MAX) {
      const claims = await ledger.claim(choices.slice(start, start + CLAIMS_MAX));
      await mapSomeAtOnce(claims, RESUMED_TOGETHER_MAX, async (run) => {
        triedIds.add(run.response.id);
        await this.#resumeOrRelease(run);
      });
      if (claims.length > 0) neighbours?.tellTaken(claims.map(({ response }) => response.id));
    }
    return triedIds.size;
  }

  /** Releases runs that wait here or were stopped. If that fails, others claim them once this worker is dead. */
  async release(responseIds: readonly string[], release: (responseId: string) => Release): Promise<void> {
    for (const responseId of responseIds)
      await this.#releaseOne(responseId, release(responseId)).catch((fault: unknown) => {
        this.#log.error({ err: fault, responseId }, "could not release a run to other workers");
      });
    if (responseIds.length > 0) this.#context.neighbours?.tellWork();
  }

  /** Releases paused runs that wait here for a place. */
  async leaveWaiting(responseIds: readonly string[]): Promise<void> {
    const leave = async (responseId: string): Promise<void> => {
      this.#leaving.add(responseId); // So that it is not claimed before it is released.
      await this.#context.runs.releaseAll([responseId]);
      await this.#suspend(responseId, { hadBegun: false, attempts: NO_ATTEMPTS });
    };
    await Promise.all(responseIds.map(leave));
  }

  /** Forgets why runs were left that this worker does not hold any more. */
  forgetLost(heldIds: ReadonlySet<string>): void {
    for (const responseId of this.#causes.keys()) if (!heldIds.has(responseId)) this.#causes.delete(responseId);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #noteLeave(responseId: string, cause: LeaveCause): void {
    if (cause.type === "store" || cause.type === "fault" || cause.type === "unstored_end")
      this.#causes.set(responseId, cause.type);
    if (cause.type === "paused") void this.#suspend(responseId, { hadBegun: true, attempts: NO_ATTEMPTS });
    if (cause.type !== "suspended") return;
    const { pauseMs, attempts } = cause.suspension;
    void this.#suspend(responseId, { hadBegun: true, pauseMs, attempts });
  }

  /** If the store is down, this worker continues the run when it is back. */
  async #suspend(responseId: string, release: Release): Promise<void> {
    this.#leaving.add(responseId);
    try {
      await this.#releaseOne(responseId, release);
      this.#wakeAfter(release.pauseMs ?? 0); // A paused run may have been resumed meanwhile.
    } catch (fault) {
      this.#causes.set(responseId, "store");
      this.#log.warn({ err: fault, responseId }, "could not release a waiting run");
    } finally {
      this.#leaving.delete(responseId);
    }
  }

  async #releaseOne(responseId: string, release: Release): Promise<void> {
    await this.#context.ledger.release(responseId, release);
  }

  #wakeAfter(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#onDue();
    }, ms).unref();
    this.#timers.add(timer);
  }

  #noteUnreadable(unmade: UnmadeRuns): void {
    const unreadable = new Set(unreadableRuns(unmade));
    for (const responseId of this.#unreadableSince.keys())
      if (!unreadable.has(responseId)) this.#unreadableSince.delete(responseId);
    for (const responseId of unreadable) {
      if (this.#unreadableSince.has(responseId)) continue;
      this.#unreadableSince.set(responseId, performance.now());
      this.#log.warn({ responseId }, "no server can read the task of a run: a later release has stored it");
    }
  }

  #isGivenUp(responseId: string): boolean {
    const since = this.#unreadableSince.get(responseId);
    return since !== undefined && performance.now() - since >= this.#unreadableMs;
  }

  async #resumeOrRelease(run: AbandonedRun): Promise<void> {
    const responseId = run.response.id;
    const { stops, pauses } = run.requests;
    if (pauses && !stops) return await this.#suspend(responseId, { hadBegun: false, attempts: NO_ATTEMPTS });
    this.#context.runs.requests.add(run.requests);
    try {
      await this.#resume(run);
      if (stops) void this.#context.runs.stop(responseId); // Before its model is asked again.
      this.#unread.delete(responseId);
    } catch (fault) {
      const failures = (this.#unread.get(responseId) ?? 0) + 1;
      this.#unread.set(responseId, failures);
      const pauseMs = Math.min(UNREAD_PAUSE_MS_MAX, UNREAD_PAUSE_MS * 2 ** (failures - 1));
      this.#log.error({ err: fault, responseId, pauseMs }, "could not read an abandoned run; retrying later");
      await this.#suspend(responseId, { hadBegun: false, pauseMs, attempts: run.attempts });
    }
  }

  async #resume(run: AbandonedRun): Promise<void> {
    const { runs, ordering } = this.#context;
    const { id: responseId } = run.response;
    // This process still makes the run. It lost its lease and has claimed the run under its new worker number.
    if (runs.has(responseId)) return;
    const events = await allEvents(ordering.eventLog, responseId);
    const cause = this.#causes.get(responseId) ?? null;
    if (run.response.status !== "queued")
      this.#log.info({ responseId, events: events.length, restarts: run.restarts }, "recovering an abandoned run");
    if (run.task === null || cause === "unstored_end")
      return await this.#start(this.#endOf(run, events), events, INTERRUPTED_FAILURE);
    const secrets = toolSecrets(ordering.sealer, run.owner, responseId);
    const storedTask = readTask(run.task, secrets);
    if ("problem" in storedTask) {
      this.#log.error({ responseId, task: storedTask.problem }, "could not read the stored task of a run");
      return await this.#start(this.#endOf(run, events), events, OUTDATED_FAILURE);
    }
    const steps = await this.#stepsOf(run);
    if (run.restarts >= RESTARTS_MAX && run.restartSteps === steps) {
      this.#log.error({ responseId, restarts: run.restarts }, "run restarted too often without progress");
      return await this.#start(this.#endOf(run, events), events, POISONED_FAILURE);
    }
    await this.#start(this.#restartOf(run, storedTask.task, { steps, cause }), events, null);
  }

  async #start(order: RunOrder, events: readonly RecordedEvent[], failure: RunFailure | null): Promise<void> {
    this.#causes.delete(order.plan.response.id);
    await this.#context.runs.resume(order, events, failure);
  }

  /** The number of completed turns of the model and calls of tools. */
  async #stepsOf({ owner, response }: AbandonedRun): Promise<number> {
    const { toolLedger } = this.#context;
    const turns = await toolLedger.turnsOf(owner, response.id);
    const calls = await toolLedger.listOf(owner, response.id);
    return turns.length + calls.filter(({ result }) => result !== null).length;
  }

  /** The order of a run that is restarted from its task. */
  #restartOf(
    run: AbandonedRun,
    task: RunTask,
    { steps, cause }: { readonly steps: number; readonly cause: LeftBy | null },
  ): RunOrder {
    const { ledger, approvalsInUse } = this.#context;
    const { owner, response, attempts } = run;
    const approvals = approvalsInUse.newLock(owner);
    approvals.takeFree(freshApprovals(task.tools?.context ?? []));
    const order = orderOf(
      this.#context.ordering,
      task,
      { owner, response, inputItems: [] },
      { log: this.#log, attempts },
    );
    const interruption = interruptionOf(run, cause);
    const withCount = (ask: RunOrder["ask"]): RunOrder["ask"] => {
      return async (signal, storeNow) => {
        // Counted first, because the run may crash the process.
        if (cause !== "store") await ledger.countRestart(response.id, steps);
        if (interruption !== null) reportIncident(this.#context.ordering, order, { incident: interruption, storeNow });
        return await ask(signal, storeNow);
      };
    };
    const resume: RunOrder["resume"] = (shownAnswer) => {
      const ask = order.resume?.(shownAnswer) ?? null;
      return ask === null ? null : withCount(ask);
    };
    return { ...order, ask: withCount(order.ask), resume, onOver: () => approvals.release() };
  }

  #endOf({ owner, response }: AbandonedRun, events: readonly RecordedEvent[]): RunOrder {
    const openedRun: OpenedRun = { owner, response, inputItems: [] };
    return endingOrder(this.#context.ordering, endingTask(response, events), openedRun, { log: this.#log });
  }
}

/** How the run was interrupted; null if it has not begun, or was suspended. */
function interruptionOf({ from, response, attempts }: AbandonedRun, cause: LeftBy | null): RunIncident | null {
  if (cause === "store") return { type: "interrupted", by: "store" };
  if (from === "queue") {
    const isHandedOver = response.status !== "queued" && attempts === null;
    return isHandedOver ? { type: "interrupted", by: "handover" } : null;
  }
  return response.status === "queued" ? null : { type: "interrupted", by: "crash" };
}

async function allEvents(eventLog: EventLog, responseId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of eventLog.read(responseId, -1)) events.push(...batch);
  return events;
}
