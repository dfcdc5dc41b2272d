import type {
  CreateResponseRequest,
  Response,
  ResponseNote,
  StoredItem,
} from "@antiphon/contracts/responses-api/types.ts";
import type { AnsweringServer, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { RateLimiter } from "@antiphon/domain/rates.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { KnownExchange } from "@antiphon/domain/tool-ledger.ts";
import {
  type KnownRequests,
  QueueClosed,
  type RunOrder,
  type RunOutcome,
  RunsExhausted,
  type RunUse,
  type ShownAnswer,
} from "../../runs/index.ts";
import type { EventLog, OpenedRun } from "../../runs/ports/event-log.ts";
import type { RunIncident, RunObserver, RunWatch } from "../../runs/ports/run-watch.ts";
import { RunLost, type TurnAttempts } from "../../runs/ports/store-faults.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { Admission } from "../access/admission.ts";
import type { Caller } from "../access/caller.ts";
import type { KeyBudgets } from "../access/key-budgets.ts";
import type { RunHold } from "../access/key-hold.ts";
import type { ModelUser, UsageMeter } from "../access/usage-meter.ts";
import { modelRefused } from "../errors/model-errors.ts";
import { shuttingDown, tooManyRuns } from "../errors/server-errors.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import type { RefusalLog } from "../exchanges/refusal-log.ts";
import type { Sealer } from "../seal.ts";
import { modelServerHeader } from "../show/reply-headers.ts";
import {
  continueFromLog,
  isOver,
  type WatchContext,
  type Watched,
  waitUntilOver,
  watchResponse,
} from "../show/watch-response.ts";
import { type PlanTask, planOf, type RunTask } from "../task/run-task.ts";
import { canResume } from "../tool-loop/resume/resume-point.ts";
import { type AskTurns, warmUp } from "./ask-model.ts";
import { noteOf } from "./notes/incident-note.ts";
import { type PreparingContext, prepareRun } from "./prepare-run.ts";
import type { ApprovalLock, ResponseLock } from "./response-lock.ts";

/** What responses are made with, by subject. */
export interface CreateContext {
  readonly preparing: PreparingContext;
  readonly ordering: OrderContext;
  readonly watching: WatchContext;
  readonly quota: StorageQuota;
  readonly limiter: RateLimiter;
  readonly budgets: KeyBudgets;
  /** Keeps requests that were refused. */
  readonly refusalLog: RefusalLog;
  /** How long a streamed response waits for its model to accept before its first events are sent, in milliseconds. */
  readonly streamStartWaitMs: number;
}

/** What the order of a run is made with. */
export interface OrderContext {
  readonly ask: AskTurns;
  readonly eventLog: EventLog;
  readonly observer: RunObserver;
  readonly sealer: Sealer;
  /** The name of this server among several. */
  readonly nodeName: string;
  /** Counts what runs use. */
  readonly meter: UsageMeter;
  /** What clients ask of the runs of this process. */
  readonly requests: KnownRequests;
}

export interface BegunResponse {
  readonly responseId: string;
  /**
   * All events from the first on, whichever process makes them. They end without a final event only if the response is
   * deleted or the server shuts down.
   */
  readonly events: AsyncGenerator<readonly RecordedEvent[], void>;
  /** The first snapshot: `queued` in the background, `in_progress` otherwise. */
  readonly response: Response;
  /** The items of the request in stored form. */
  readonly inputItems: readonly StoredItem[];
  /** Notes on deviations from the request. */
  readonly notes: readonly ResponseNote[];
  /** The calls of hosted functions so far, if the response is not stored; otherwise, the ledger has them. */
  readonly exchanges: readonly KnownExchange[];
  /** The tokens of the request, before the model server has counted them. */
  readonly inputTokensEstimate: number;
  /** The six `x-ratelimit-*` headers, and the model server that answers if there are several. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Begins a response. Resolves for a background response once it is stored. Resolves for a foreground response once its
 * model has accepted, or for a streamed one after `streamStartWaitMs` at the latest. Throws an `ApiError` for any fault
 * before that. A foreground response is cancelled when its caller leaves.
 */
export async function beginResponse(
  context: CreateContext,
  request: CreateResponseRequest,
  caller: Caller,
): Promise<BegunResponse> {
  const admittedRequest = await admit(context, request, caller);
  const { order } = admittedRequest;
  const { response, inputItems, owner } = order.openedRun;
  const watch = { owner, responseId: response.id, signal: caller.signal };
  const events = await beginHeld(admittedRequest, () => startRun(context.watching, order, watch));
  caller.runHold?.begin();
  const { exchanges, plan } = order;
  const { inputTokensEstimate } = plan;
  const { notes, headers } = replyParts(admittedRequest);
  return { responseId: response.id, events, response, inputItems, notes, exchanges, inputTokensEstimate, headers };
}

export interface AnsweredResponse {
  /** The final snapshot. */
  readonly response: Response;
  /** Notes on deviations from the request. */
  readonly notes: readonly ResponseNote[];
  /** The six `x-ratelimit-*` headers, and the model server that answers if there are several. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes a foreground response whose events nobody reads. Resolves once it has ended and is stored, whichever process
 * ends it. Throws an `ApiError` if its model refuses it or it was deleted, and the fault if it could not be stored. It
 * is cancelled when its caller leaves.
 */
export async function answerResponse(
  context: CreateContext,
  request: CreateResponseRequest,
  caller: Caller,
): Promise<AnsweredResponse> {
  const admittedRequest = await admit(context, request, caller);
  const { order } = admittedRequest;
  const { owner, response } = order.openedRun;
  const { outcome: ended } = await beginHeld(admittedRequest, () =>
    context.watching.runs.startPlain(order, caller.signal),
  );
  caller.runHold?.begin();
  const outcome = await admittedRequest.lock.during(() => storedOutcome(ended));
  const { notes, headers } = replyParts(admittedRequest);
  if (outcome.type === "ended") return { response: outcome.response, notes: [...notes, ...outcome.notes], headers };
  const watch = { owner, responseId: response.id, signal: caller.signal };
  return { response: await endElsewhere(context.watching, watch), notes, headers };
}

/** What a reply has beside its response. The model server is known once the run has begun. */
function replyParts({ order, admission }: AdmittedRequest): Pick<BegunResponse, "notes" | "headers"> {
  const headers = { ...admission.headers, ...modelServerHeader(order.answering.by) };
  return { notes: order.openedRun.origin?.notes ?? [], headers };
}

/** An admitted request, ready for its response. */
interface AdmittedRequest {
  readonly order: WatchedOrder;
  readonly lock: ResponseLock;
  readonly admission: Admission;
}

async function admit(context: CreateContext, request: CreateResponseRequest, caller: Caller): Promise<AdmittedRequest> {
  const createdAt = Math.floor(Date.now() / 1000);
  const { principal, generate = true } = caller;
  await context.budgets.requireRoom(principal);
  if (request.store !== false) await context.quota.requireRoom(principal.owner);
  const admission = await Admission.open(context.limiter, principal);
  const { task, openedRun: preparedRun, lock } = await prepareRun(context.preparing, caller, request, createdAt);
  const openedRun = { ...preparedRun, claimedBy: caller.runHold?.worker ?? null };
  await lock.during(async () => caller.runHold?.name(openedRun.response.id));
  const need = { input: task.inputTokensEstimate, outputMax: openedRun.response.max_output_tokens };
  await lock.during(() => admission.reserve(need));
  const watchedOrder = orderOf(context.ordering, task, openedRun, caller);
  const order = {
    ...(generate ? watchedOrder : warmUpOrder(context.preparing.model.engine, watchedOrder, task)),
    ...(request.stream === true ? { acceptWaitMs: context.streamStartWaitMs } : {}),
    watch: watchedOrder.watch,
    exchanges: watchedOrder.exchanges,
    answering: watchedOrder.answering,
    onEnd: settleAtEnd(admission),
    onOver: releaseAtEnd(lock.approvals, caller.runHold ?? null),
  };
  return { order, lock, admission };
}

/** Begins the run. If it is refused, releases the resources of the request. */
async function beginHeld<Run>({ order, lock, admission }: AdmittedRequest, start: () => Promise<Run>): Promise<Run> {
  try {
    return await lock.during(start);
  } catch (error) {
    admission.settle(0); // No model was used.
    order.watch.noteRefusal(error);
    return rethrowRefusal(error);
  }
}

async function storedOutcome(ending: Promise<RunOutcome>): Promise<Exclude<RunOutcome, { type: "unstored" }>> {
  const outcome = await ending;
  if (outcome.type === "unstored") throw outcome.fault;
  return outcome;
}

/** The final snapshot of a response that another process ends. Throws an `ApiError` if it was deleted. */
async function endElsewhere(watching: WatchContext, watch: Watched): Promise<Response> {
  const waitMs = watching.runs.isQueueClosed ? 0 : Number.POSITIVE_INFINITY;
  const response = await waitUntilOver(watching, watch, waitMs);
  if (response === null || !isOver(response)) throw responseNotFound(watch.responseId);
  return response;
}

/** Not inlined: the closure lives as long as the run and must not keep the whole history in memory. */
function settleAtEnd(admission: Admission): NonNullable<RunOrder["onEnd"]> {
  return ({ usage }) => admission.settle(usage?.total_tokens ?? null);
}

/** Not inlined, for the same reason. */
function meterUse(meter: UsageMeter, user: ModelUser): NonNullable<RunOrder["onUsed"]> {
  return ({ response, usage }: RunUse) => {
    if (usage !== null) meter.noteAnswer(user, usage, response.service_tier);
    meter.noteTools(user, response.output);
  };
}

/** Not inlined, for the same reason. */
function releaseAtEnd(approvals: ApprovalLock, runHold: RunHold | null): NonNullable<RunOrder["onOver"]> {
  return () => {
    approvals.release();
    runHold?.end();
  };
}

async function startRun(watching: WatchContext, order: RunOrder, watch: Watched): Promise<BegunResponse["events"]> {
  const { response } = order.openedRun;
  if (response.background === true) {
    await watching.runs.enqueue(order);
    return watchResponse(watching, watch, -1);
  }
  const { events } = await watching.runs.start(order, watch.signal);
  return response.store ? continueFromLog(watching, watch, -1, events) : events;
}

/** The known parts of a run's caller. For a recovered run, only the log. */
type RunCaller = Pick<Caller, "log"> & Partial<Pick<Caller, "requestId" | "trace" | "runHold" | "isSteered">>;

/** A caller, or a run that was suspended. */
type OrderingCaller = RunCaller & { readonly attempts?: TurnAttempts | null };

interface WatchedOrder extends RunOrder {
  readonly watch: RunWatch;
  /** Filled while the run is in progress, unless it is stored. */
  readonly exchanges: readonly KnownExchange[];
  /** Which of several model servers answered the first turn; null until then, and if there is one only. */
  readonly answering: { by: AnsweringServer | null };
}

/** The order of a run that makes a response from its task. */
export function orderOf(
  context: OrderContext,
  task: RunTask,
  openedRun: OpenedRun,
  caller: OrderingCaller,
): WatchedOrder {
  const { request } = task;
  const order = endingOrder(context, task, openedRun, { ...caller, trace: request.trace ?? null });
  const isStored = openedRun.response.store ?? true;
  const exchanges: KnownExchange[] = [];
  const tracedTask = { ...task, request: { ...request, trace: order.watch.trace } };
  const askFrom =
    (shownAnswer: ShownAnswer | null): RunOrder["ask"] =>
    (signal, storeNow) =>
      context.ask(tracedTask, {
        owner: openedRun.owner,
        signal,
        isStored,
        isBackground: openedRun.response.background === true,
        dropsOldest: openedRun.response.truncation === "auto",
        storeNow: tellingStore(storeNow, caller.runHold ?? null),
        past: {
          shown: shownAnswer,
          attempts: caller.attempts ?? null,
          continuedId: continuedIdOf(openedRun.response),
        },
        listener: {
          onFault: order.onFault,
          onExchange: (exchange) => (isStored ? undefined : void exchanges.push(exchange)),
          onIncident: (incident) => reportIncident(context, order, { incident, storeNow }),
          onAnsweredBy: (server) => void (order.answering.by ??= server),
          isSteered: caller.isSteered ?? (() => context.requests.isSteered(order.plan.response.id)),
          isPaused: () => context.requests.pauses(order.plan.response.id),
        },
      });
  const user = { owner: openedRun.owner, keyId: request.payer ?? null, model: openedRun.response.model };
  return {
    ...order,
    onUsed: meterUse(context.meter, user),
    exchanges,
    ask: askFrom(null),
    resume: (shownAnswer) => (canResume(task, shownAnswer) ? askFrom(shownAnswer) : null),
  };
}

/** Tells that something is about to change, and stores the run first. */
function tellingStore(storeNow: () => Promise<void>, runHold: RunHold | null): () => Promise<void> {
  if (runHold === null) return storeNow;
  return () => {
    runHold.act();
    return storeNow();
  };
}

function continuedIdOf({ conversation, previous_response_id: previousId }: Response): string | null {
  return conversation?.id ?? previousId ?? null;
}

interface NotedIncident {
  readonly incident: RunIncident;
  /** Stores the run if it is a stored one. */
  readonly storeNow: () => Promise<void>;
}

/** Counts an incident of a run, and adds it to the notes of a stored run. */
export function reportIncident(
  { nodeName }: Pick<OrderContext, "nodeName">,
  { watch, log, plan, now, onFault }: Pick<WatchedOrder, "watch" | "log" | "plan" | "now" | "onFault">,
  { incident, storeNow }: NotedIncident,
): void {
  watch.noteIncident(incident);
  if (log === null) return;
  const note = noteOf(incident, now(), nodeName);
  const addition = storeNow().then(() => log.addNote(plan.response.id, note));
  addition.catch((fault: unknown) => (fault instanceof RunLost ? undefined : onFault(fault)));
}

/** The order of a warm-up. */
function warmUpOrder(engine: ModelEngine, order: RunOrder, { request }: RunTask): RunOrder {
  return { ...order, plan: { ...order.plan, isWarmUp: true }, ask: (signal) => warmUp(engine, request, signal) };
}

/** The order of a run that only has to be ended; no model can be asked for it. */
export function endingOrder(
  context: OrderContext,
  task: PlanTask,
  openedRun: OpenedRun,
  caller: RunCaller,
): WatchedOrder {
  const { owner, response } = openedRun;
  const { log, requestId = null, trace = null } = caller;
  const { id: responseId, model } = response;
  const isBackground = response.background === true;
  const face = openedRun.origin?.face?.name ?? null;
  return {
    watch: context.observer.watch({ responseId, requestId, model, isBackground, face, trace }),
    plan: planOf(task, response, owner, context.sealer),
    exchanges: [],
    answering: { by: null },
    openedRun,
    log: response.store ? context.eventLog : null,
    ask: () => Promise.reject(new Error("the run has no stored task, so no model can be asked")),
    now: () => Math.floor(Date.now() / 1000),
    onFault: (fault) => log.error({ err: fault, responseId: response.id }, "internal fault of a run"),
  };
}

function rethrowRefusal(error: unknown): never {
  if (error instanceof RunsExhausted) throw tooManyRuns(error.limit, error.max);
  if (error instanceof QueueClosed) throw shuttingDown();
  throw error instanceof ModelError ? modelRefused(error) : error;
}
