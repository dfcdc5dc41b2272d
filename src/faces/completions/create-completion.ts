import { ApiError } from "@antiphon/base/api-error.ts";
import { EventFrames } from "@antiphon/base/event-frames.ts";
import type {
  ChatCompletionsHandlers,
  CreateCompletionReply,
} from "@antiphon/contracts/chat-completions/operations.ts";
import type { CompletionStreamData, CreateCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { answerResponse, beginResponse, type CreateContext } from "../../responses-api/create/begin-response.ts";
import { chatError, checkChatRequest } from "../chat-completions/chat-errors.ts";
import { CHAT_FRAMES } from "../chat-completions/chunks.ts";
import { passedOnHeader } from "../chat-completions/create-chat-completion.ts";
import { createRequest, modelExtras } from "../chat-completions/create-request.ts";
import { choicesOf } from "../chat-completions/stream-chunks.ts";
import { responseFailure } from "../response-failure.ts";
import { type TextWish, textWishes } from "./completion-request.ts";
import { TextWriter, textCompletion } from "./text-completion.ts";

/** `POST /v1/completions`: makes a response for each text. With `storesAll`, they are stored for the inspector. */
export function createCompletion(
  context: CreateContext,
  storesAll: boolean,
): ChatCompletionsHandlers<Caller>["createCompletion"] {
  return async ({ body }, sender) => {
    const face = { name: "completions", notes: { isAskedFor: false } } as const;
    try {
      const [first, ...others] = textWishes(body);
      if (first === undefined) throw new TypeError("a request asks for a text");
      checkChatRequest(first.chat);
      const caller = { ...sender, extras: modelExtras(first.chat), face };
      return await textReply(context, { body, wishes: [first, ...others], storesAll }, caller);
    } catch (error) {
      const fault = error instanceof ApiError ? chatError(error) : error;
      context.refusalLog.note(sender.principal, { model: body.model, store: storesAll }, fault);
      throw fault;
    }
  };
}

interface AskedTexts {
  readonly body: CreateCompletionRequest;
  readonly wishes: readonly [TextWish, ...TextWish[]];
  readonly storesAll: boolean;
}

async function textReply(
  context: CreateContext,
  { body, wishes, storesAll }: AskedTexts,
  caller: Caller,
): Promise<CreateCompletionReply> {
  const requests = wishes.map(({ chat }) => ({ ...createRequest(chat), store: storesAll }));
  const prefixes = wishes.map(({ prompt }) => (body.echo === true ? prompt : ""));
  if (body.stream === true) {
    const runs = await Promise.all(requests.map((request) => beginResponse(context, request, caller)));
    const includeUsage = body.stream_options?.include_usage === true;
    const writers = prefixes.map((prefix, index) => new TextWriter(index, includeUsage, prefix));
    return {
      status: 200,
      headers: { ...runs[0]?.headers, ...textHeaders(runs[0]?.responseId ?? "", caller) },
      events: new EventFrames<CompletionStreamData>(choicesOf(runs, writers, includeUsage), CHAT_FRAMES),
    };
  }
  const [first, ...others] = await Promise.all(requests.map((request) => answerResponse(context, request, caller)));
  if (first === undefined) throw new TypeError("a request asks for a text");
  const responses: [Response, ...Response[]] = [first.response, ...others.map(({ response }) => response)];
  const failed = responses.find(({ status }) => status === "failed" || status === "cancelled");
  if (failed !== undefined) throw responseFailure(failed);
  return {
    status: 200,
    headers: { ...first.headers, ...textHeaders(first.response.id, caller) },
    body: textCompletion(responses, prefixes),
  };
}

function textHeaders(responseId: string, { extras }: Caller): Readonly<Record<string, string>> {
  return { ...passedOnHeader(extras ?? null, []), "x-antiphon-response-id": responseId };
}
