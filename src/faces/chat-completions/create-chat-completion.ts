import { ApiError } from "@antiphon/base/api-error.ts";
import { EventFrames } from "@antiphon/base/event-frames.ts";
import type {
  ChatCompletionsHandlers,
  CreateChatCompletionReply,
} from "@antiphon/contracts/chat-completions/operations.ts";
import type { ChatStreamData, CreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import type { CreateResponseRequest, Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { type BegunResponse, beginResponse, type CreateContext } from "../../responses-api/create/begin-response.ts";
import { omittedHeader } from "../../responses-api/show/reply-headers.ts";
import { isOver } from "../../responses-api/show/watch-response.ts";
import { clientSeal } from "../client-seal.ts";
import { responseFailure } from "../response-failure.ts";
import { answerChoices, beginChoices, faceHeaders } from "../run-choices.ts";
import { chatError, checkChatRequest, speaks } from "./chat-errors.ts";
import { CHAT_FRAMES, type ChunkOptions } from "./chunks.ts";
import { type ChatNotes, type ChatView, chatCompletion } from "./completion.ts";
import { createRequest, modelExtras } from "./create-request.ts";
import { chunksOf } from "./stream-chunks.ts";

type Handler = ChatCompletionsHandlers<Caller>["createChatCompletion"];

/**
 * `POST /v1/chat/completions`: makes a response, or several, and shows it as a chat completion or its chunks. With
 * `storesAll`, it is stored for the inspector even if the client does not ask for it.
 */
export function createChatCompletion(context: CreateContext, storesAll: boolean): Handler {
  return async ({ body }, caller) => {
    const isAskedFor = body.store === true;
    const store = isAskedFor || storesAll;
    const face = { name: "chat", notes: { isAskedFor, ...notesOf(body) } } as const;
    try {
      checkChatRequest(body);
      return await createdReply(context, { ...body, store }, { ...caller, extras: modelExtras(body), face });
    } catch (error) {
      const fault = error instanceof ApiError ? chatError(error) : error;
      context.refusalLog.note(caller.principal, { ...body, store }, fault);
      throw fault;
    }
  };
}

function notesOf(body: CreateChatCompletionRequest): ChatNotes {
  return { usesFunctions: body.functions != null, speaks: speaks(body) };
}

async function createdReply(
  context: CreateContext,
  body: CreateChatCompletionRequest,
  caller: Caller,
): Promise<CreateChatCompletionReply> {
  const seal = clientSeal(context.preparing.sealer, caller.principal.owner);
  const request = createRequest(body, seal);
  const choices = Array.from({ length: body.n ?? 1 }, () => request);
  const headers = omittedHeader(context.preparing, request, caller);
  const view = { ...notesOf(body), seal };
  if (request.stream === true) {
    const options = { ...view, includeUsage: body.stream_options?.include_usage === true };
    return await streamedReply(context, choices, caller, { headers, options });
  }
  if (view.speaks) return await spokenReply(context, request, caller, { headers, view });
  return await plainReply(context, choices, caller, { headers, view });
}

interface PlainWishes {
  readonly headers: Readonly<Record<string, string>>;
  readonly view: ChatView;
}

async function plainReply(
  context: CreateContext,
  choices: readonly CreateResponseRequest[],
  caller: Caller,
  { headers, view }: PlainWishes,
): Promise<CreateChatCompletionReply> {
  const { first, responses } = await answerChoices(context, choices, caller);
  return {
    status: 200,
    headers: { ...headers, ...faceHeaders(first.response.id, first, caller) },
    body: chatCompletion(responses, view),
  };
}

async function spokenReply(
  context: CreateContext,
  request: CreateResponseRequest,
  caller: Caller,
  { headers, view }: PlainWishes,
): Promise<CreateChatCompletionReply> {
  const run = await beginResponse(context, request, caller);
  const { response, sound } = await spokenAnswer(run);
  return {
    status: 200,
    headers: { ...headers, ...faceHeaders(response.id, run, caller) },
    body: chatCompletion([response], view, sound),
  };
}

interface SpokenAnswer {
  readonly response: Response;
  /** In base64. The voice ends it after 15 minutes. */
  readonly sound: string;
}

/** Waits for the end of a spoken answer. Throws its `ApiError` if it failed. */
async function spokenAnswer({ events }: Pick<BegunResponse, "events">): Promise<SpokenAnswer> {
  const sound: Buffer[] = [];
  let ended: Response | null = null;
  for await (const batch of events) {
    for (const { event } of batch) {
      if (event.type === "response.audio.delta") sound.push(Buffer.from(event.delta, "base64"));
      if ("response" in event && isOver(event.response)) ended = event.response;
    }
  }
  if (ended === null) throw new TypeError("the events of a run end with its last one");
  if (ended.status === "failed" || ended.status === "cancelled") throw responseFailure(ended);
  return { response: ended, sound: Buffer.concat(sound).toString("base64") };
}

interface StreamWishes {
  readonly headers: Readonly<Record<string, string>>;
  readonly options: ChunkOptions;
}

async function streamedReply(
  context: CreateContext,
  choices: readonly CreateResponseRequest[],
  caller: Caller,
  { headers, options }: StreamWishes,
): Promise<CreateChatCompletionReply> {
  const runs = await beginChoices(context, choices, caller);
  const [first] = runs;
  return {
    status: 200,
    headers: { ...headers, ...faceHeaders(first.responseId, first, caller) },
    events: new EventFrames<ChatStreamData>(chunksOf(runs, options), CHAT_FRAMES),
  };
}
