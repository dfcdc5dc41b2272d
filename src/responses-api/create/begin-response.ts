import type { CreateResponseRequest, Response, StoredItem } from "../../../generated/responses-api/types.ts";
import { QueueClosed, type RunOrder, RunsExhausted } from "../../runs/index.ts";
import { ModelError, type OpenedRun, type RecordedEvent, type RunWatch } from "../../runs/ports.ts";
import { Admission } from "../access/admission.ts";
import type { Caller } from "../access/caller.ts";
import { modelRefused } from "../errors/model-errors.ts";
import { shuttingDown, tooManyRuns } from "../errors/server-errors.ts";
import { type PlanTask, planOf, type RunTask } from "../keeping/run-task.ts";
import type { ResponseServices } from "../services.ts";
import { toTheEnd, type Watched, watchResponse } from "../show/watch-response.ts";
import { askModel, type TurnServices, warmUp } from "./ask-model.ts";
import { prepareRun } from "./prepare-run.ts";

/** What making a response by its task takes of the services. */
export type OrderServices = TurnServices & Pick<ResponseServices, "eventLog" | "observer">;

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
    onEnd: settling(admission),
  };
  try {
    const { response, inputItems } = opened;
    const events = await hold.during(() => begin(services, order, { owner, responseId: response.id, signal }));
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

async function begin(services: ResponseServices, order: RunOrder, watched: Watched): Promise<BegunResponse["events"]> {
  const { response } = order.opened;
  if (response.background === true) {
    await services.runs.enqueue(order);
    return watchResponse(services, watched, -1);
  }
  const { events } = await services.runs.start(order, watched.signal);
  return response.store ? toTheEnd(services, watched, -1, events) : events;
}

/** Who a run is begun for, as far as that is known: of one that an earlier process left, only the log is. */
type KnownCaller = Pick<Caller, "log"> & Partial<Pick<Caller, "requestId" | "trace">>;

interface WatchedOrder extends RunOrder {
  readonly watch: RunWatch;
}

/** How a response is made by its task. */
export function orderOf(services: OrderServices, task: RunTask, opened: OpenedRun, caller: KnownCaller): WatchedOrder {
  const { request } = task;
  const order = endingOrder(services, task, opened, { ...caller, trace: request.trace ?? null });
  const traced = { ...task, request: { ...request, trace: order.watch.trace } };
  return {
    ...order,
    ask: (signal) => askModel(services, traced, { owner: opened.owner, onFault: order.onFault, signal }),
  };
}

/** The same for a response that answers nothing. */
function warmUpOrder(services: TurnServices, order: RunOrder, { request }: RunTask): RunOrder {
  return { ...order, plan: { ...order.plan, isWarmUp: true }, ask: (signal) => warmUp(services, request, signal) };
}

/** How a response is ended for which no model can be asked any more. */
export function endingOrder(
  services: OrderServices,
  task: PlanTask,
  opened: OpenedRun,
  caller: KnownCaller,
): WatchedOrder {
  const { owner, response } = opened;
  const { log, requestId = null, trace = null } = caller;
  const { id: responseId, model } = response;
  return {
    watch: services.observer.watch({ responseId, requestId, model, isBackground: response.background === true, trace }),
    plan: planOf(task, response, owner, services.sealer),
    opened,
    log: response.store ? services.eventLog : null,
    ask: () => Promise.reject(new Error("there is no task by which a model could be asked")),
    now: () => Math.floor(Date.now() / 1000),
    onFault: (fault) => log.error({ err: fault, responseId: response.id }, "a run met a fault"),
  };
}

function refused(error: unknown): never {
  if (error instanceof RunsExhausted) throw tooManyRuns(error.limit, error.max);
  if (error instanceof QueueClosed) throw shuttingDown();
  throw error instanceof ModelError ? modelRefused(error) : error;
}
