import { EventFrames } from "@antiphon/base/event-frames.ts";
import type { CreateResponseReply, ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { CreateKeyStore } from "@antiphon/domain/create-keys.ts";
import type { Caller } from "../access/caller.ts";
import { type BegunResponse, beginResponse, type CreateContext } from "../create/begin-response.ts";
import { answerCaller } from "../create/lasting-response.ts";
import { createKeyOf } from "../create/once/create-key.ts";
import { takeRetry } from "../create/once/lost-replies.ts";
import { takeKey } from "../create/once/take-key.ts";
import { audioNotDeliverable } from "../errors/parameter-errors.ts";
import { responseGone } from "../errors/state-errors.ts";
import { plainBody } from "../show/plain-body.ts";
import { emulatedHeader, omittedHeader } from "../show/reply-headers.ts";
import { type ShownEvents, shownEvents, shownFrames, showOptionsOf } from "../show/show-events.ts";
import { waitUntilOver, watchResponse } from "../show/watch-response.ts";
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
export function createResponse(
  context: CreateContext,
  createKeys: CreateKeyStore,
): ResponsesApiHandlers<Caller>["createResponse"] {
  const make = createdReply(context);
  const makeRetriably = retriedReply(context, createKeys, make);
  return async (request, caller) => {
    try {
      const key = await createKeyOf(request.headers["idempotency-key"], request.body);
      if (key === null) return await makeRetriably(request, caller);
      const turn = await takeKey({ createKeys, store: context.watching.store }, key, caller);
      if (turn.type === "repeated") return await repeatedReply(context, request.body, caller, turn.responseId);
      const { hold } = turn;
      return await hold.during(() =>
        make(request, { ...caller, signal: hold.signalFor(caller.signal), runHold: hold }),
      );
    } catch (error) {
      context.refusalLog.note(caller.principal, request.body, error);
      throw error;
    }
  };
}

/** Without a key: a retry of an official SDK is shown the response of the request whose reply was lost. */
function retriedReply(
  context: CreateContext,
  createKeys: CreateKeyStore,
  make: ResponsesApiHandlers<Caller>["createResponse"],
): ResponsesApiHandlers<Caller>["createResponse"] {
  return async (request, caller) => {
    const { lostId, hold } = await takeRetry(createKeys, request.body, caller);
    const isThere =
      lostId !== null && (await context.watching.store.findResponse(caller.principal.owner, lostId)) !== null;
    if (isThere) return await repeatedReply(context, request.body, caller, lostId);
    return await make(request, hold === null ? caller : { ...caller, signal: hold.signal, runHold: hold });
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
    const make = body.background === true ? beginResponse : answerCaller;
    const answer = await make(context, body, caller);
    const { status, headers } = replyHead(answer, body);
    const audioHeaders = audioHeader(body, answer.response.id);
    return { status, headers: { ...headers, ...omittedHeaders, ...audioHeaders }, body: plainBody(answer.response) };
  };
}

/** Shows the response of an earlier request: a plain one once it has ended, a stream from its first event on. */
async function repeatedReply(
  { preparing, watching }: Pick<CreateContext, "preparing" | "watching">,
  body: CreateResponseRequest,
  caller: Caller,
  responseId: string,
): Promise<CreateResponseReply> {
  const watch = { owner: caller.principal.owner, responseId, signal: caller.signal };
  const headers = { ...omittedHeader(preparing, body, caller), "idempotent-replayed": "true" };
  if (body.stream === true) {
    const events = shownEvents(watchResponse(watching, watch, -1), showOptionsOf(body));
    return { status: 200, headers, events };
  }
  const waitMs = body.background === true ? 0 : Number.POSITIVE_INFINITY;
  const response = await waitUntilOver(watching, watch, waitMs);
  if (response === null) throw responseGone(responseId);
  return { status: 200, headers: { ...headers, ...audioHeader(body, responseId) }, body: plainBody(response) };
}

function audioHeader({ output_audio: audio }: CreateResponseRequest, id: string): Readonly<Record<string, string>> {
  return audio == null ? {} : { "x-antiphon-audio": audioPathOf(id) };
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
    beginning.catch((error: unknown) => {
      context.refusalLog.note(caller.principal, request, error);
      void caller.runHold?.release();
    });
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
