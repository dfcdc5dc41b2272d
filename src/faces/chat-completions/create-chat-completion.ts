import { ApiError } from "@antiphon/base/api-error.ts";
import { EventFrames } from "@antiphon/base/event-frames.ts";
import type {
  ChatCompletionsHandlers,
  CreateChatCompletionReply,
} from "@antiphon/contracts/chat-completions/operations.ts";
import type { ChatStreamData, CreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { CreateContext } from "../../responses-api/create/begin-response.ts";
import { omittedHeader } from "../../responses-api/show/reply-headers.ts";
import { answerChoices, beginChoices, faceHeaders } from "../run-choices.ts";
import { chatError, checkChatRequest } from "./chat-errors.ts";
import { CHAT_FRAMES, type ChunkOptions } from "./chunks.ts";
import { type ChatNotes, chatCompletion } from "./completion.ts";
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
    const face = { name: "chat", notes: { isAskedFor, usesFunctions: usesFunctions(body) } } as const;
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

function usesFunctions({ functions }: CreateChatCompletionRequest): boolean {
  return functions != null;
}

async function createdReply(
  context: CreateContext,
  body: CreateChatCompletionRequest,
  caller: Caller,
): Promise<CreateChatCompletionReply> {
  const request = createRequest(body);
  const choices = Array.from({ length: body.n ?? 1 }, () => request);
  const headers = omittedHeader(context.preparing, request, caller);
  const notes = { usesFunctions: usesFunctions(body) };
  if (request.stream === true) {
    const options = { ...notes, includeUsage: body.stream_options?.include_usage === true };
    return await streamedReply(context, choices, caller, { headers, options });
  }
  return await plainReply(context, choices, caller, { headers, notes });
}

interface PlainWishes {
  readonly headers: Readonly<Record<string, string>>;
  readonly notes: ChatNotes;
}

async function plainReply(
  context: CreateContext,
  choices: readonly CreateResponseRequest[],
  caller: Caller,
  { headers, notes }: PlainWishes,
): Promise<CreateChatCompletionReply> {
  const { first, responses } = await answerChoices(context, choices, caller);
  return {
    status: 200,
    headers: { ...headers, ...faceHeaders(first.response.id, first, caller) },
    body: chatCompletion(responses, notes),
  };
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
