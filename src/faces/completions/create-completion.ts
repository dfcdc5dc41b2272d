import { ApiError } from "@antiphon/base/api-error.ts";
import { EventFrames } from "@antiphon/base/event-frames.ts";
import type {
  ChatCompletionsHandlers,
  CreateCompletionReply,
} from "@antiphon/contracts/chat-completions/operations.ts";
import type { CompletionStreamData, CreateCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { CreateContext } from "../../responses-api/create/begin-response.ts";
import { chatError, checkChatRequest } from "../chat-completions/chat-errors.ts";
import { CHAT_FRAMES } from "../chat-completions/chunks.ts";
import { createRequest, modelExtras } from "../chat-completions/create-request.ts";
import { choicesOf } from "../chat-completions/stream-chunks.ts";
import { clientSeal } from "../client-seal.ts";
import { answerChoices, beginChoices, faceHeaders } from "../run-choices.ts";
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
  const seal = clientSeal(context.preparing.sealer, caller.principal.owner);
  const requests = wishes.map(({ chat }) => ({ ...createRequest(chat, seal), store: storesAll }));
  const prefixes = wishes.map(({ prompt }) => (body.echo === true ? prompt : ""));
  if (body.stream === true) {
    const runs = await beginChoices(context, requests, caller);
    const [first] = runs;
    const includeUsage = body.stream_options?.include_usage === true;
    const writers = prefixes.map((prefix, index) => new TextWriter(index, includeUsage, prefix));
    return {
      status: 200,
      headers: faceHeaders(first.responseId, first, caller),
      events: new EventFrames<CompletionStreamData>(choicesOf(runs, writers, includeUsage), CHAT_FRAMES),
    };
  }
  const { first, responses } = await answerChoices(context, requests, caller);
  return {
    status: 200,
    headers: faceHeaders(first.response.id, first, caller),
    body: textCompletion(responses, prefixes),
  };
}
