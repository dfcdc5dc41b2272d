import type { CreateResponseRequest, Response, StoredItem } from "../../../generated/responses-api/types.ts";
import { QueueClosed, type RunOrder, RunsExhausted } from "../../runs/index.ts";
import { ModelError, type OpenedRun, type RecordedEvent, type RunWatch } from "../../runs/ports.ts";
import { Admission } from "../access/admission.ts";
import type { Caller } from "../access/caller.ts";
import { modelRefused } from "../errors/model-errors.ts";
import { shuttingDown, tooManyRuns } from "../errors/server-errors.ts";
import { type PlanTask, planOf, type RunTask } from "../keeping/run-task.ts";
import type { ResponseServices } from "../services.ts";
import { continueFromLog, type Watched, watchResponse } from "../show/watch-response.ts";
import { askModel, type TurnServices, warmUp } from "./ask-model.ts";
import { prepareRun } from "./prepare-run.ts";

/** The services that making a response from its task needs. */
export type OrderServices = TurnServices & Pick<ResponseServices, "eventLog" | "observer">;

export interface BegunResponse {
  readonly responseId: string;
  /**
   * All events from the first on, whichever process makes them. They stop without a final event only if the response is
   * deleted or the server shuts down.
   */
  readonly events: AsyncGenerator<readonly RecordedEvent[], void>;
  /** The first snapshot: `queued` in the background, `in_progress` otherwise. */
  readonly response: Response;
  /** The items of the request, in the form in which they are stored. */
  readonly inputItems: readonly StoredItem[];
  /** The six `x-ratelimit-*` headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Begins a response. Resolves for a background response once it is stored. Resolves for a foreground response once its
 * model has accepted, or for a streamed one after `streamStartWaitMs` at the latest. Throws an `ApiError` for any fault
 * before that. A foreground response is cancelled when its caller leaves.
 */
export async function beginResponse(
  services: ResponseServices,
  request: CreateResponseRequest,
  caller: Caller,
): Promise<BegunResponse> {
  const createdAt = Math.floor(Date.now() / 1000);
  const { principal, signal, generate = true } = caller;
  const { owner } = principal;
  if (request.store !== false) await services.quota.requireRoom(owner);
  const admission = await Admission.open(services, principal);
  const { task, opened, hold } = await prepareRun(services, caller, request, createdAt);
  const need = { input: task.inputTokensEstimate, outputMax: opened.response.max_output_tokens };
  await hold.during(() => admission.reserve(need));
  const { headers } = admission;
  const made = orderOf(services, task, opened, caller);
  const order: RunOrder = {
    ...(generate ? made : warmUpOrder(services, made, task)),
    ...(request.stream === true ? { acceptWaitMs: services.streamStartWaitMs } : {}),
    onEnd: settleAtEnd(admission),
  };
  try {
    const { response, inputItems } = opened;
    const events = await hold.during(() => begin(services, order, { owner, responseId: response.id, signal }));
    return { responseId: response.id, events, response, inputItems, headers };
  } catch (error) {
    admission.settle(0); // No model was used.
    made.watch.refused(error);
    return refused(error);
  }
}

/** Not inlined: the closure lives as long as the run and must not hold the whole history. */
function settleAtEnd(admission: Admission): NonNullable<RunOrder["onEnd"]> {
  return ({ usage }) => admission.settle(usage?.total_tokens ?? null);
}

async function begin(services: ResponseServices, order: RunOrder, watched: Watched): Promise<BegunResponse["events"]> {
  const { response } = order.opened;
  if (response.background === true) {
    await services.runs.enqueue(order);
    return watchResponse(services, watched, -1);
  }
  const { events } = await services.runs.start(order, watched.signal);
  return response.store ? continueFromLog(services, watched, -1, events) : events;
}

/** The known parts of a run's caller. For a recovered run that is only the log. */
type RunCaller = Pick<Caller, "log"> & Partial<Pick<Caller, "requestId" | "trace">>;

interface WatchedOrder extends RunOrder {
  readonly watch: RunWatch;
}

/** The order of a run that makes a response from its task. */
export function orderOf(services: OrderServices, task: RunTask, opened: OpenedRun, caller: RunCaller): WatchedOrder {
  const { request } = task;
  const order = endingOrder(services, task, opened, { ...caller, trace: request.trace ?? null });
  const traced = { ...task, request: { ...request, trace: order.watch.trace } };
  return {
    ...order,
    ask: (signal) => askModel(services, traced, { owner: opened.owner, onFault: order.onFault, signal }),
  };
}

/** The order of a warm-up. */
function warmUpOrder(services: TurnServices, order: RunOrder, { request }: RunTask): RunOrder {
  return { ...order, plan: { ...order.plan, isWarmUp: true }, ask: (signal) => warmUp(services, request, signal) };
}

/** The order of a run that only has to be ended; no model can be asked for it. */
export function endingOrder(
  services: OrderServices,
  task: PlanTask,
  opened: OpenedRun,
  caller: RunCaller,
): WatchedOrder {
  const { owner, response } = opened;
  const { log, requestId = null, trace = null } = caller;
  const { id: responseId, model } = response;
  return {
    watch: services.observer.watch({ responseId, requestId, model, isBackground: response.background === true, trace }),
    plan: planOf(task, response, owner, services.sealer),
    opened,
    log: response.store ? services.eventLog : null,
    ask: () => Promise.reject(new Error("the run has no stored task, so no model can be asked")),
    now: () => Math.floor(Date.now() / 1000),
    onFault: (fault) => log.error({ err: fault, responseId: response.id }, "a run had an internal fault"),
  };
}

function refused(error: unknown): never {
  if (error instanceof RunsExhausted) throw tooManyRuns(error.limit, error.max);
  if (error instanceof QueueClosed) throw shuttingDown();
  throw error instanceof ModelError ? modelRefused(error) : error;
}
