import type { Response } from "../../../generated/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/ports.ts";
import type { Principal } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import { type BegunResponse, beginResponse } from "../create/begin-response.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import type { ResponseServices } from "../services.ts";
import { showEvents } from "../show/show-events.ts";
import type { BoundedMessageQueue } from "./bounded-message-queue.ts";
import { type ConnectionMemory, type SizedTurn, turnAfter } from "./connection-memory.ts";
import { inLane } from "./lane-events.ts";
import type { Lane } from "./lanes.ts";
import type { CreateFrame, Frame } from "./read-frame.ts";

/** What the frames of one connection share. */
export interface WebSocketConnection {
  readonly services: ResponseServices;
  /** Who has opened it. The signal aborts when the client has left, or has had its time: then nothing goes on. */
  readonly caller: Caller;
  /** Whose connection it is by now. */
  readonly authenticate: () => Promise<Principal>;
  readonly memory: ConnectionMemory;
  /** By id the responses that are being made here; each settles when its response has ended. Never rejects. */
  readonly running: Map<string, Promise<void>>;
  /** The frames that are being served, by their lanes, of which each serves one at a time. */
  readonly serving: Map<Lane, ServedFrame>;
  readonly queue: BoundedMessageQueue;
}

/** A frame that is being served. */
export interface ServedFrame {
  /** Null until its response has begun. */
  responseId: string | null;
  readonly cancel: AbortController;
}

/** A frame that asks for a response. */
export interface AskingFrame extends Pick<Frame, "lane" | "previousId"> {
  readonly asked: CreateFrame;
}

/**
 * Serves a frame whose turn has come, to the last event of its response. Throws what HTTP would have refused it with.
 */
export async function serveFrame(connection: WebSocketConnection, frame: AskingFrame): Promise<Response> {
  const { memory, serving } = connection;
  const served: ServedFrame = { responseId: null, cancel: new AbortController() };
  serving.set(frame.lane, served);
  try {
    const response = await answer(connection, frame, served);
    if (isFailure(response) && frame.previousId !== null) memory.forget(frame.previousId);
    return response;
  } catch (error) {
    if (frame.previousId !== null) memory.forget(frame.previousId);
    const { signal } = served.cancel;
    throw signal.aborted && served.responseId === null ? signal.reason : error;
  } finally {
    serving.delete(frame.lane);
  }
}

async function answer(
  connection: WebSocketConnection,
  { asked, lane, previousId }: AskingFrame,
  served: ServedFrame,
): Promise<Response> {
  const { services, caller, memory, running } = connection;
  const { request, generate } = asked;
  const signal = AbortSignal.any([caller.signal, served.cancel.signal]);
  const principal = await connection.authenticate();
  if (previousId !== null) await running.get(previousId); // A lane may go on from what another one is still being told.
  const previous = previousId === null ? null : memory.find(previousId);
  const remembered = { find: (id: string) => (id === previousId ? previous : null) };
  const run = await beginResponse(services, request, { ...caller, principal, signal, generate, remembered });
  served.responseId = run.responseId;
  memory.clearLane(lane);
  const ended = Promise.withResolvers<void>();
  running.set(run.responseId, ended.promise);
  try {
    const end: { response: Response | null } = { response: null };
    const batches = noting(run.events, (latest) => {
      end.response = latest;
      remember(connection, { lane, previousId, previous }, run, latest);
    });
    for await (const event of showEvents(batches, request)) {
      const room = connection.queue.put(inLane(event, lane));
      if (room !== undefined) await room;
    }
    // It was deleted meanwhile, or is another worker's.
    if (end.response === null) throw responseNotFound(run.responseId);
    return end.response;
  } finally {
    running.delete(run.responseId);
    ended.resolve();
  }
}

/** The events as they are; says the final snapshot before it is shown. */
async function* noting(
  batches: BegunResponse["events"],
  onEnd: (response: Response) => void,
): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const batch of batches) {
    const last = batch.at(-1)?.event;
    if (last !== undefined && "response" in last && last.response.status !== "in_progress") onEnd(last.response);
    yield batch;
  }
}

/** Keeps what no store has, so that the lane can go on from it. */
function remember(
  { memory }: WebSocketConnection,
  place: { readonly lane: Frame["lane"]; readonly previousId: string | null; readonly previous: SizedTurn | null },
  { responseId, inputItems }: BegunResponse,
  response: Response,
): void {
  const { lane, previousId, previous } = place;
  const isStored = response.store && previous === null;
  if (isStored || isFailure(response)) return;
  memory.remember(lane, responseId, turnAfter({ previousId, previous, items: [...inputItems, ...response.output] }));
}

/** Whether there is nothing to go on from. */
function isFailure({ status }: Response): boolean {
  return status === "failed" || status === "cancelled";
}
