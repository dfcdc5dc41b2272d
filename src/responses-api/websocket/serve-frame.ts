import { rememberJson } from "@antiphon/base/json/json-text.ts";
import type { CreateResponseRequest, Response } from "@antiphon/contracts/responses-api/types.ts";
import { endsRun, type RecordedEvent } from "../../runs/recorded-event.ts";
import type { Principal } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import { type BegunResponse, beginResponse, type CreateContext } from "../create/begin-response.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import { successorRequest, withSteers } from "../input/steer-input.ts";
import { showOptionsOf } from "../show/show-events.ts";
import { type ShowOptions, shownJson, shownType } from "../show/shown-event.ts";
import type { BoundedMessageQueue } from "./bounded-message-queue.ts";
import { type ConnectionMemory, type SizedTurn, turnAfter } from "./connection-memory.ts";
import type { Lane } from "./lanes.ts";
import type { CreateFrame, Frame } from "./read-frame.ts";
import type { Steer, SteeredResponse, Steering } from "./steering.ts";

/** A response that is being made for a frame. */
interface MadeResponse extends SteeredResponse {
  lastNumber: number;
}

/** The state that the frames of one connection share. */
export interface WebSocketConnection {
  readonly context: CreateContext;
  /**
   * The client of the connection. Its signal aborts when the client leaves or its time is over; all work then stops.
   */
  readonly caller: Caller;
  /** Checks the key again. Throws an `ApiError` if it was revoked since. */
  readonly authenticate: () => Promise<Principal>;
  readonly memory: ConnectionMemory;
  /**
   * Responses in progress on this connection, by id. Each promise resolves when its response has ended and never
   * rejects.
   */
  readonly running: Map<string, Promise<void>>;
  /** The frames being served, by lane; one for each lane. */
  readonly serving: Map<Lane, ServedFrame>;
  readonly queue: BoundedMessageQueue;
  readonly steering: Steering;
}

/** A frame being served. */
export interface ServedFrame {
  readonly cancel: AbortController;
  /** Null until its response has begun. */
  madeResponse: MadeResponse | null;
}

/** A frame that requests a response. */
export interface CreateRequestFrame extends Pick<Frame, "lane" | "previousId"> {
  readonly createFrame: CreateFrame;
  /** The inputs of steering that the request takes. None if absent. */
  readonly steers?: Steer[];
}

/** An ended response, and the frame of the one that follows it by itself; null if none does. */
export interface ServedResponse {
  readonly response: Response;
  readonly successor: CreateRequestFrame | null;
}

/** Serves a frame until the last event of its response. Throws the error that HTTP would reply with. */
export async function serveFrame(connection: WebSocketConnection, frame: CreateRequestFrame): Promise<ServedResponse> {
  const { memory, serving, steering } = connection;
  const servedFrame: ServedFrame = { madeResponse: null, cancel: new AbortController() };
  serving.set(frame.lane, servedFrame);
  try {
    const { response, madeResponse } = await sendResponse(connection, frame, servedFrame);
    if (isFailure(response) && frame.previousId !== null) memory.forget(frame.previousId);
    serving.delete(frame.lane);
    steering.noteEnd(response.id, response.status === "completed");
    return { response, successor: successorOf(frame, response, await steering.settle(madeResponse, response)) };
  } catch (error) {
    if (frame.previousId !== null) memory.forget(frame.previousId);
    const { cancel, madeResponse } = servedFrame;
    if (madeResponse !== null) await steering.leave(madeResponse.steers.splice(0), madeResponse);
    throw cancel.signal.aborted && madeResponse === null ? cancel.signal.reason : error;
  } finally {
    serving.delete(frame.lane);
  }
}

function successorOf(
  { lane, createFrame }: CreateRequestFrame,
  { id }: Response,
  steers: Steer[],
): CreateRequestFrame | null {
  if (steers.length === 0) return null;
  const request = successorRequest(createFrame.request, id, steers);
  return { lane, previousId: id, createFrame: { request, generate: true }, steers };
}

async function sendResponse(
  connection: WebSocketConnection,
  { createFrame, lane, previousId, steers }: CreateRequestFrame,
  servedFrame: ServedFrame,
): Promise<{ readonly response: Response; readonly madeResponse: MadeResponse }> {
  const { caller, memory, running, steering } = connection;
  const signal = AbortSignal.any([caller.signal, servedFrame.cancel.signal]);
  const principal = await connection.authenticate();
  // The response to continue may still be in progress in another lane.
  if (previousId !== null) await running.get(previousId);
  const previous = previousId === null ? null : memory.find(previousId);
  const earlierTurns = { find: (id: string) => (id === previousId ? previous : null) };
  const parkedSteers = steers === undefined ? steering.parkedFor(lane, previousId) : [];
  const request = withSteers(createFrame.request, parkedSteers);
  const isSteered = (): boolean => (servedFrame.madeResponse?.steers.length ?? 0) > 0;
  const parts = { principal, signal, generate: createFrame.generate, earlierTurns, isSteered };
  const run = await beginFrameResponse(connection, request, { ...caller, ...parts });
  const madeResponse: MadeResponse = { responseId: run.responseId, lane, request, lastNumber: 0, steers: [] };
  servedFrame.madeResponse = madeResponse;
  steering.commit(steers ?? parkedSteers, lane);
  memory.clearLane(lane);
  const ending = Promise.withResolvers<void>();
  running.set(run.responseId, ending.promise);
  try {
    const options = showOptionsOf(request);
    let end: Response | null = null;
    for await (const batch of run.events) {
      end = endIn(batch);
      if (end !== null) remember(connection, { lane, previousId, previous }, run, end);
      await sendEvents(connection.queue, batch, options, madeResponse);
    }
    // It was deleted, or another worker took it.
    if (end === null) throw responseNotFound(run.responseId);
    return { response: end, madeResponse };
  } finally {
    running.delete(run.responseId);
    ending.resolve();
  }
}

async function beginFrameResponse(
  connection: WebSocketConnection,
  request: CreateResponseRequest,
  caller: Caller,
): Promise<BegunResponse> {
  try {
    return await beginResponse(connection.context, request, caller);
  } catch (error) {
    if (!caller.signal.aborted) noteRefusal(connection, request, error); // A stop by the client is not a refusal.
    throw error;
  }
}

/** Keeps a refusal, as over HTTP. `request`: what the client sent; null if it cannot be read. */
export function noteRefusal({ context, caller }: WebSocketConnection, request: unknown, error: unknown): void {
  context.refusalLog.note(caller.principal, request, error, true);
}

async function sendEvents(
  queue: BoundedMessageQueue,
  batch: readonly RecordedEvent[],
  options: ShowOptions,
  madeResponse: MadeResponse,
): Promise<void> {
  for (const event of batch) {
    const type = shownType(event.type, options);
    const room = type === null ? undefined : queue.put(eventMessage(event, type, options, madeResponse.lane));
    madeResponse.lastNumber = event.number;
    if (room !== undefined) await room;
  }
}

/** Remembers a response that is not stored, so that its lane can continue it. */
function remember(
  { memory }: WebSocketConnection,
  place: { readonly lane: Frame["lane"]; readonly previousId: string | null; readonly previous: SizedTurn | null },
  { responseId, inputItems, exchanges }: BegunResponse,
  response: Response,
): void {
  const { lane, previousId, previous } = place;
  const isStored = response.store && previous === null;
  if (isStored || isFailure(response)) return;
  const items = [...inputItems, ...response.output];
  memory.remember(lane, responseId, turnAfter({ previousId, previous, items, exchanges }));
}

/** Whether the response ended in a way that cannot be continued. */
function isFailure({ status }: Response): boolean {
  return status === "failed" || status === "cancelled";
}

/** The final snapshot, if these events end the run. */
function endIn(batch: readonly RecordedEvent[]): Response | null {
  const last = batch.at(-1);
  if (last === undefined || !endsRun(last)) return null;
  return "response" in last.event ? last.event.response : null;
}

/** An event as a message with the name of its lane. Lane names need no escapes in JSON. */
function eventMessage(event: RecordedEvent, type: string, options: ShowOptions, lane: Lane): object {
  const json = shownJson(event, type, options);
  const message = { type, sequence_number: event.number };
  return rememberJson(message, lane === null ? json : `${json.slice(0, -1)},"stream_id":"${lane}"}`);
}
