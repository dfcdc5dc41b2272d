import { isRecord } from "@antiphon/base/json/records.ts";
import type { TokenCount } from "@antiphon/domain/models/model-engine.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { estimateChatTokens } from "../../context/estimate-chat-tokens.ts";
import { askServer, isNotOffered, type ServerAddress } from "../../model-server/ask-server.ts";
import { InputTooLong } from "../../model-server/errors/model-errors.ts";
import { LearnedTokens } from "../../model-server/learned-tokens.ts";
import type { ResponsesRequest } from "../request/responses-wire.ts";
import { chatOfRequest } from "./chat-of-request.ts";

/** A count usually takes a fraction of a second; the answer waits for it. */
const COUNT_MS_MAX = 5000;
/** How long a server without the endpoint is not called again. */
const RETRY_ABSENT_MS = 10 * 60_000;
/** How long a server that failed to reply is not called again. */
const RETRY_FAILED_MS = 60_000;
const REPLY_BYTES_MAX = 64 * 1024;

type MapRequest = (request: ModelRequest) => Promise<{ readonly body: ResponsesRequest }>;

/** Counts the tokens of a turn: by the server, or estimated with the tokenizer of the model's family. */
export class ResponsesTokenCounter {
  readonly #server: ServerAddress;
  readonly #map: MapRequest;
  readonly #learnedTokens = new LearnedTokens();
  /** Whether the server has counted before. */
  #counts = false;
  /** When the server may be asked again, if it did not count. */
  #retryAt = 0;

  constructor(server: ServerAddress, map: MapRequest) {
    this.#server = server;
    this.#map = map;
  }

  async count(request: ModelRequest, signal: AbortSignal): Promise<TokenCount> {
    const { body } = await this.#map(request);
    const tokens = await this.#ask(body, signal);
    if (tokens !== null) return { tokens, exact: true };
    const estimate = await estimateChatTokens(chatOfRequest(body), signal);
    this.#learnedTokens.remember(request, estimate);
    return { tokens: this.#learnedTokens.correctEstimate(request.model, estimate), exact: false };
  }

  /** Like `count`, but calls the server only if it is known to count. */
  async estimate(request: ModelRequest, signal: AbortSignal): Promise<number> {
    const { body } = await this.#map(request);
    const tokens = this.#counts ? await this.#ask(body, signal) : null;
    if (tokens !== null) return tokens;
    const estimate = await estimateChatTokens(chatOfRequest(body), signal);
    return this.#learnedTokens.correctEstimate(request.model, estimate);
  }

  /** The window of a model, or the server's smaller one. */
  window(model: string, knownWindow: number | null): number | null {
    return this.#learnedTokens.window(model, knownWindow);
  }

  /** Compares the server's counts for a turn with the estimate, if there is one. Does not keep the turn. */
  learner(request: ModelRequest): (usage: ModelUsage) => void {
    const estimate = this.#learnedTokens.estimateOf(request);
    const { model } = request;
    return ({ inputTokens }) => {
      if (estimate !== null) this.#learnedTokens.learnUsage(model, estimate, inputTokens);
    };
  }

  /** Reads the server's numbers from its refusal of a turn. */
  async learnFrom(error: unknown, request: ModelRequest, signal: AbortSignal): Promise<void> {
    if (!(error instanceof InputTooLong)) return;
    const { body } = await this.#map(request);
    this.#learnedTokens.learnRefusal(request.model, await estimateChatTokens(chatOfRequest(body), signal), error);
  }

  /** The server's own count; null if it does not count. */
  async #ask(body: ResponsesRequest, signal: AbortSignal): Promise<number | null> {
    if (performance.now() < this.#retryAt) return null;
    const { apiPath } = this.#server;
    const question = {
      path: `${apiPath}/responses/input_tokens`,
      body: countedMembers(body),
      replyBytesMax: REPLY_BYTES_MAX,
    };
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS_MAX)]);
    const reply = await askServer(this.#server, question, deadline);
    const tokens = reply?.status === 200 && isRecord(reply.body) ? reply.body["input_tokens"] : null;
    if (typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0) {
      this.#counts = true;
      return tokens;
    }
    const isAbsent = reply !== null && (reply.status === 200 || isNotOffered(reply));
    if (isAbsent) this.#counts = false;
    const isAnswered = reply !== null && reply.status < 500;
    if (isAbsent) this.#retryAt = performance.now() + RETRY_ABSENT_MS;
    else if (!isAnswered && !signal.aborted) this.#retryAt = performance.now() + RETRY_FAILED_MS;
    return null;
  }
}

/** The members that the endpoint knows. */
function countedMembers(body: ResponsesRequest): object {
  const {
    model,
    input,
    instructions,
    tools,
    tool_choice: choice,
    parallel_tool_calls: parallel,
    text,
    reasoning,
  } = body;
  return { model, input, instructions, tools, tool_choice: choice, parallel_tool_calls: parallel, text, reasoning };
}
