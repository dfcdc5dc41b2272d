import type { CreateResponseReply, ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { CreateResponseRequest, Response } from "../../../generated/responses-api/types.ts";
import { ResponseFold } from "../../runs/index.ts";
import type { Caller } from "../access/caller.ts";
import { type BegunResponse, beginResponse } from "../create/begin-response.ts";
import { soundUnheard } from "../errors/parameter-errors.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import type { ResponseServices } from "../services.ts";
import { plainBody } from "../show/plain-body.ts";
import { showEvents } from "../show/show-events.ts";
import { isOver } from "../show/watch-response.ts";

type StreamedReply = Extract<CreateResponseReply, { readonly events: unknown }>;

/**
 * How long input may be fetched and counted, beside the wait for the model server, before a stream is opened without
 * its response.
 */
const PREPARATION_MS = 1_000;

/**
 * `POST /v1/responses`: asks the model; shows its events as they come, or folds them into one body. In the background
 * the body is that of the queued response.
 */
export function createResponse(services: ResponseServices): ResponsesApiHandlers<Caller>["createResponse"] {
  return async ({ body }, caller) => {
    if (body.output_audio != null && body.stream !== true && body.store === false) throw soundUnheard();
    const beginning = beginResponse(services, body, caller);
    if (body.stream === true) return streamed(beginning, body, services.streamStartWaitMs);
    const run = await beginning;
    const response = body.background === true ? run.response : await folded(run);
    return { ...headOf(run, body), body: plainBody(response) };
  };
}

/**
 * What a key has left is told with what was asked for at once; a background response is told without it, as the
 * reference does.
 */
function headOf({ headers }: BegunResponse, { background }: CreateResponseRequest) {
  return { status: 200 as const, headers: background === true ? {} : headers };
}

/**
 * The events of a run. The stream of one that takes long to begin, because its input has to be fetched or counted, is
 * opened before: proxies give up on replies without a head.
 */
async function streamed(
  beginning: Promise<BegunResponse>,
  request: CreateResponseRequest,
  waitMs: number,
): Promise<StreamedReply> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), waitMs + PREPARATION_MS);
  const run = await Promise.race([beginning, promise]).finally(() => clearTimeout(timer));
  if (run === null) return { status: 200, events: eventsOnceBegun(beginning, request) };
  return { ...headOf(run, request), events: showEvents(run.events, request) };
}

/** What goes wrong before the response is begun becomes the stream's error event. */
async function* eventsOnceBegun(
  beginning: Promise<BegunResponse>,
  request: CreateResponseRequest,
): ReturnType<typeof showEvents> {
  const { events } = await beginning;
  yield* showEvents(events, request);
}

async function folded({ events, responseId }: BegunResponse): Promise<Response> {
  const fold = new ResponseFold();
  for await (const batch of events) {
    for (const { event } of batch) fold.apply(event);
  }
  const { response } = fold;
  if (!isOver(response)) throw responseNotFound(responseId); // It was deleted meanwhile.
  return response;
}
