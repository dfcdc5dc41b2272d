import type { CreateResponseRequest, Response, StoredItem } from "../../../generated/responses-api/types.ts";
import type { Logger } from "../../base/logger.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import { type RunHost, type RunOrder, RunsExhausted, RunsLeaving } from "../../runs/index.ts";
import {
  type EventLog,
  ModelError,
  type OpenedRun,
  type RecordedEvent,
  type RunObserver,
  type RunWatch,
} from "../../runs/ports.ts";
import { Admission } from "../access/admission.ts";
import type { Principal } from "../access/authenticate.ts";
import { modelRefused } from "../errors/model-errors.ts";
import { shuttingDown, tooManyRuns } from "../errors/server-errors.ts";
import { type PlanTask, planOf, type RunTask } from "../keeping/run-task.ts";
import type { Sealer } from "../keeping/seal.ts";
import type { RateLimiter, ResponseStore, StorageQuota } from "../ports.ts";
import { toTheEnd, type Watched, watchResponse } from "../show/watch-response.ts";
import { askModel, type TurnParts } from "./ask-model.ts";
import { prepareRun, type RunSources } from "./prepare-run.ts";
import { warmUp } from "./warm-up.ts";

export interface OrderParts extends TurnParts {
  readonly log: EventLog;
  readonly sealer: Sealer;
  readonly observer: RunObserver;
}

export interface BeginParts extends RunSources, OrderParts {
  readonly runs: RunHost;
  readonly limiter: RateLimiter;
  readonly quota: StorageQuota;
  /** How long a streamed response waits for its model server before it begins. */
  readonly streamStartWaitMs: number;
  readonly store: RunSources["store"] & Pick<ResponseStore, "findResponse">;
}

/** Who asks for a response, over whichever transport. */
export interface Caller {
  readonly principal: Principal;
  /** Aborts when the client leaves; that ends a response of the foreground. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** For the log; absent: none is known. */
  readonly requestId?: string;
  readonly trace?: TraceContext | null;
  /** False: nothing is answered, and the response can be continued all the same. Absent: true. */
  readonly generate?: boolean;
}

export interface BegunResponse {
  readonly responseId: string;
  /**
   * The events from the first on, wherever they are made. End without an end only if the response is deleted or the
   * server stops.
   */
  readonly events: AsyncGenerator<readonly RecordedEvent[], void>;
  /** The first snapshot: `queued` in the background, `in_progress` otherwise. */
  readonly response: Response;
  /** The items of the request, as they are stored if they are. */
  readonly inputItems: readonly StoredItem[];
  /** The six headers of the key's rate limits. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Begins to make a response. A foreground one is begun when its model has accepted the request or, if it is streamed,
 * when it has waited long enough for that; it belongs to its caller. A background one is begun when it is stored.
 * Throws the `ApiError` for whatever is found before that.
 */
export async function beginResponse(
  parts: BeginParts,
  request: CreateResponseRequest,
  caller: Caller,
): Promise<BegunResponse> {
  const createdAt = Math.floor(Date.now() / 1000);
  const { principal, signal, trace = null, generate = true } = caller;
  const { owner } = principal;
  if (request.store !== false) await parts.quota.requireRoom(owner);
  const admission = await Admission.open(parts.limiter, principal);
  const { task, opened, hold } = await prepareRun(parts, { owner, signal, generate, trace }, request, createdAt);
  const need = { input: task.inputTokensEstimate, outputMax: opened.response.max_output_tokens };
  await hold.during(() => admission.reserve(need));
  const { headers } = admission;
  const made = orderOf(parts, task, opened, caller);
  const order: RunOrder = {
    ...(generate ? made : warmUpOrder(parts, made, task)),
    ...(request.stream === true ? { acceptWaitMs: parts.streamStartWaitMs } : {}),
    onEnd: settling(admission),
  };
  try {
    const { response, inputItems } = opened;
    const events = await hold.during(() => begin(parts, order, { owner, responseId: response.id, signal }));
    return { responseId: response.id, events, response, inputItems, headers };
  } catch (error) {
    admission.settle(0); // No model has answered.
    made.watch.refused(error);
    return refused(error);
  }
}

/** A function of its own: it lasts as long as the run, and must not hold the whole history with it. */
function settling(admission: Admission): NonNullable<RunOrder["onEnd"]> {
  return ({ usage }) => admission.settle(usage?.total_tokens ?? null);
}

async function begin(parts: BeginParts, order: RunOrder, watched: Watched): Promise<BegunResponse["events"]> {
  const { response } = order.opened;
  if (response.background === true) {
    await parts.runs.enqueue(order);
    return watchResponse(parts, watched, -1);
  }
  const { events } = await parts.runs.start(order, watched.signal);
  return response.store ? toTheEnd(parts, watched, -1, events) : events;
}

/** What a run is begun for, as far as it is known. */
export interface RunCause extends Pick<Caller, "log" | "requestId" | "trace"> {}

interface WatchedOrder extends RunOrder {
  readonly watch: RunWatch;
}

/** How a response is made by its task. */
export function orderOf(parts: OrderParts, task: RunTask, opened: OpenedRun, cause: RunCause): WatchedOrder {
  const { request } = task;
  const order = endingOrder(parts, task, opened, { ...cause, trace: request.trace ?? null });
  const scope = { owner: opened.owner, onFault: order.onFault };
  const traced = { ...task, request: { ...request, trace: order.watch.trace } };
  return { ...order, ask: (signal) => askModel(parts, traced, scope, signal) };
}

/** The same for a response that answers nothing. */
function warmUpOrder({ engine }: OrderParts, order: RunOrder, { request }: RunTask): RunOrder {
  return { ...order, plan: { ...order.plan, isWarmUp: true }, ask: (signal) => warmUp(engine, request, signal) };
}

/** How a response is ended for which no model can be asked any more. */
export function endingOrder(parts: OrderParts, task: PlanTask, opened: OpenedRun, cause: RunCause): WatchedOrder {
  const { owner, response } = opened;
  const { log, requestId = null, trace = null } = cause;
  const { id: responseId, model } = response;
  return {
    watch: parts.observer.watch({ responseId, requestId, model, isBackground: response.background === true, trace }),
    plan: planOf(task, response, owner, parts.sealer),
    opened,
    log: response.store ? parts.log : null,
    ask: () => Promise.reject(new Error("there is no task by which a model could be asked")),
    now: () => Math.floor(Date.now() / 1000),
    onFault: (fault) => log.error({ err: fault, responseId: response.id }, "a run met a fault"),
  };
}

function refused(error: unknown): never {
  if (error instanceof RunsExhausted) throw tooManyRuns(error.limit, error.max);
  if (error instanceof RunsLeaving) throw shuttingDown();
  throw error instanceof ModelError ? modelRefused(error) : error;
}
