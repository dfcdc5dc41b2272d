import { EventFrames } from "@antiphon/base/event-frames.ts";
import type { CreateMessageReply, MessagesHandlers } from "@antiphon/contracts/messages/operations.ts";
import type { CreateMessageRequest, MessagesStreamEvent } from "@antiphon/contracts/messages/types.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { type BegunResponse, beginResponse, type CreateContext } from "../../responses-api/create/begin-response.ts";
import { sealScope } from "../../responses-api/input/resolve-input.ts";
import { omittedHeader } from "../../responses-api/show/reply-headers.ts";
import { responseFailure } from "../response-failure.ts";
import { answerChoices, faceHeaders } from "../run-choices.ts";
import { createRequestOf, messageExtras } from "./create-request.ts";
import { type MessageNotes, messageOf } from "./message.ts";
import { threadsUnsupported } from "./message-errors.ts";
import { MESSAGE_FRAMES, type MessageEventOptions, MessageWriter, STOP_FRAME } from "./message-events.ts";
import type { IsSealed } from "./request-items.ts";

type Handler = MessagesHandlers<Caller>["createMessage"];

/**
 * `POST /v1/messages`: makes a response and shows it as a message or its events. With `storesAll`, it is stored for the
 * inspector.
 */
export function createMessage(context: CreateContext, storesAll: boolean): Handler {
  return async ({ body, headers }, sender) => {
    const notes = { model: body.model, omitsThinking: body.thinking?.display === "omitted" };
    const face = { name: "messages", notes: { isAskedFor: false, ...notes } } as const;
    const caller = { ...sender, extras: messageExtras(body), face };
    try {
      if (body.thread != null) throw threadsUnsupported();
      const sessionId = headers["x-claude-code-session-id"] ?? null;
      const request = { ...createRequestOf(body, sealedFor(context, caller), sessionId), store: storesAll };
      return await messageReply(context, { request, notes }, caller);
    } catch (error) {
      context.refusalLog.note(caller.principal, refusedBody(body, storesAll), error);
      throw error;
    }
  };
}

/** What is kept of a refused request. The tokens of its MCP servers are named, so that its error is without them. */
function refusedBody({ model, stream, mcp_servers: servers }: CreateMessageRequest, store: boolean): object {
  const tools = (servers ?? []).map(({ authorization_token: authorization }) => ({ type: "mcp", authorization }));
  return { model, stream, store, tools };
}

/** Whether a text was sealed for the owner that this caller acts for. */
export function sealedFor(
  { preparing: { sealer } }: Pick<CreateContext, "preparing">,
  { principal }: Pick<Caller, "principal">,
): IsSealed {
  const scope = sealScope(principal.owner);
  return (text) => sealer.open(text, scope) !== null;
}

interface Asked {
  readonly request: CreateResponseRequest;
  readonly notes: MessageNotes;
}

async function messageReply(
  context: CreateContext,
  { request, notes }: Asked,
  caller: Caller,
): Promise<CreateMessageReply> {
  const omitted = omittedHeader(context.preparing, request, caller);
  if (request.stream === true) {
    const run = await beginResponse(context, request, caller);
    const options = { ...notes, inputTokens: run.inputTokensEstimate };
    return {
      status: 200,
      headers: { ...omitted, ...faceHeaders(run.responseId, run, caller), "request-id": caller.requestId },
      events: new EventFrames<MessagesStreamEvent>(eventsOf(run, options), MESSAGE_FRAMES),
    };
  }
  const { first } = await answerChoices(context, [request], caller);
  const { response } = first;
  return {
    status: 200,
    headers: { ...omitted, ...faceHeaders(response.id, first, caller), "request-id": caller.requestId },
    body: messageOf(response, notes),
  };
}

/** The events of a run's message. Throws the `ApiError` of a run that failed. Leaving the iteration leaves the run. */
async function* eventsOf(
  { events }: Pick<BegunResponse, "events">,
  options: MessageEventOptions,
): AsyncGenerator<string, void> {
  const writer = new MessageWriter(options);
  for await (const batch of events) {
    let frames = "";
    for (const event of batch) frames += writer.framesOf(event);
    if (frames !== "") yield frames;
  }
  const { ended } = writer;
  if (ended === null) throw new TypeError("the events of a run end with its last one");
  if (ended.status === "failed" || ended.status === "cancelled") throw responseFailure(ended);
  yield STOP_FRAME;
}
