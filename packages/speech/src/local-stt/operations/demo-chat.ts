import { assertNever } from "@antiphon/base/assert.ts";
import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { DemoChatLine, DemoChatMessage, DemoChatReply } from "@antiphon/contracts/local-stt/types.ts";
import { type ChatPiece, ProviderError } from "../../formatting/chat-provider.ts";
import type { FindProvider } from "../../formatting/text-formatter.ts";
import type { SttContext } from "../context.ts";
import type { DemoAnswers } from "../demo/demo-answers.ts";
import { providerFailed, providerNotConfigured, providerUnauthorized, providerUnreachable } from "../errors.ts";

/** `POST /demo/chat`: forwards a chat to the provider. Only an answer with a name outlives its request. */
export function demoChat(findProvider: FindProvider, answers: DemoAnswers): LocalSttHandlers<SttContext>["demoChat"] {
  return async ({ body: { messages, answer_id: name = null, stream } }, { signal }) => {
    const begin = (until: AbortSignal): AsyncGenerator<DemoChatLine> => answerLines(findProvider, messages, until);
    const lines = name === null ? begin(signal) : answers.take(name, JSON.stringify(messages), begin).read(signal);
    if (stream !== true) return { status: 200, body: await wholeOf(lines) };
    const first = await lines.next(); // An error before the first line becomes the status of the reply.
    return { status: 200, lines: beginningWith(first, lines) };
  };
}

async function* answerLines(
  findProvider: FindProvider,
  messages: readonly DemoChatMessage[],
  signal: AbortSignal,
): AsyncGenerator<DemoChatLine> {
  let content = "";
  try {
    const provider = await findProvider(signal);
    if (provider === null) throw providerNotConfigured();
    for await (const piece of provider.answer(messages, signal)) {
      if (piece.type === "text") content += piece.text;
      yield lineOf(piece, content);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof ProviderError ? providerFault(error) : error;
  }
}

function lineOf(piece: ChatPiece, content: string): DemoChatLine {
  if (piece.type === "text") return { type: "chat.delta", text: piece.text };
  return { type: "chat.done", message: { role: "assistant", content }, model: piece.model };
}

async function wholeOf(lines: AsyncIterable<DemoChatLine>): Promise<DemoChatReply> {
  for await (const line of lines) if (line.type === "chat.done") return { message: line.message, model: line.model };
  throw providerFailed("The provider broke off its answer.");
}

async function* beginningWith<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

function providerFault({ reason, message }: ProviderError): Error {
  const sentence = `${message}.`;
  switch (reason) {
    case "unauthorized":
      return providerUnauthorized(sentence);
    case "unreachable":
    case "timeout":
      return providerUnreachable(sentence);
    case "failed":
      return providerFailed(sentence);
    default:
      return assertNever(reason);
  }
}
