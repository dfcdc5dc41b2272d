import { EventFrames } from "@antiphon/base/event-frames.ts";
import type { CreateResponseReply, ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../access/caller.ts";
import { answerResponse, type BegunResponse, beginResponse, type CreateContext } from "../create/begin-response.ts";
import { audioNotDeliverable } from "../errors/parameter-errors.ts";
import { plainBody } from "../show/plain-body.ts";
import { emulatedHeader, omittedHeader } from "../show/reply-headers.ts";
import { type ShownEvents, shownEvents, shownFrames, showOptionsOf } from "../show/show-events.ts";
import { audioPathOf } from "./get-response-audio.ts";

type StreamedReply = Extract<CreateResponseReply, { readonly events: unknown }>;

/**
 * Time for fetching and counting input, in addition to the wait for the model server, before the stream opens without a
 * first event.
 */
const PREPARATION_MS = 1_000;

/**
 * `POST /v1/responses`: calls the model, and streams its events or returns the final snapshot. A background response
 * without `stream` is returned as queued.
 */
export function createResponse(context: CreateContext): ResponsesApiHandlers<Caller>["createResponse"] {
  const make = createdReply(context);
  return async (request, caller) => {
    try {
      return await make(request, caller);
    } catch (error) {
      context.refusalLog.note(caller.principal, request.body, error);
      throw error;
    }
  };
}

function createdReply(context: CreateContext): ResponsesApiHandlers<Caller>["createResponse"] {
  return async ({ body }, caller) => {
    if (body.output_audio != null && body.stream !== true && body.store === false) throw audioNotDeliverable();
    const omittedHeaders = omittedHeader(context.preparing, body, caller);
    if (body.stream === true) {
      const reply = await streamReply(context, body, caller);
      return { ...reply, headers: { ...reply.headers, ...omittedHeaders } };
    }
    const make = body.background === true ? beginResponse : answerResponse;
    const answer = await make(context, body, caller);
    const { status, headers } = replyHead(answer, body);
    const audio = body.output_audio == null ? {} : { "x-antiphon-audio": audioPathOf(answer.response.id) };
    return { status, headers: { ...headers, ...omittedHeaders, ...audio }, body: plainBody(answer.response) };
  };
}

/** Only foreground replies have the rate limit headers, as in the reference. */
function replyHead(
  { headers, notes }: Pick<BegunResponse, "headers" | "notes">,
  { background }: CreateResponseRequest,
) {
  return { status: 200 as const, headers: { ...(background === true ? {} : headers), ...emulatedHeader(notes) } };
}

/**
 * The events of a run. If the run takes long to begin, because its input is fetched or counted, the stream is opened
 * first: proxies give up on replies without a head.
 */
async function streamReply(
  context: CreateContext,
  request: CreateResponseRequest,
  caller: Caller,
): Promise<StreamedReply> {
  const beginning = beginResponse(context, request, caller);
  const { promise, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), context.streamStartWaitMs + PREPARATION_MS);
  const run = await Promise.race([beginning, promise]).finally(() => clearTimeout(timer));
  if (run === null) {
    beginning.catch((error: unknown) => context.refusalLog.note(caller.principal, request, error));
    return { status: 200, events: eventsOnceBegun(beginning, request) };
  }
  return { ...replyHead(run, request), events: shownEvents(run.events, showOptionsOf(request)) };
}

/** A fault before the run begins becomes the stream's error event. */
function eventsOnceBegun(beginning: Promise<BegunResponse>, request: CreateResponseRequest): ShownEvents {
  const framesOnceBegun = async function* (): AsyncGenerator<string, void> {
    const { events } = await beginning;
    yield* shownFrames(events, showOptionsOf(request));
  };
  return new EventFrames(framesOnceBegun());
}
