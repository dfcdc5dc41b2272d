import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { TokenCount } from "@antiphon/domain/models/model-engine.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { askServer, isNotOffered, type ServerAddress } from "../../model-server/ask-server.ts";
import type { SentParts } from "../../model-server/connections/request-body.ts";
import { InputTooLong } from "../../model-server/errors/model-errors.ts";
import { LearnedTokens } from "../../model-server/learned-tokens.ts";
import { mapToMessages } from "../request/map-request.ts";
import type { MessagesRequest } from "../request/messages-wire.ts";
import type { ModelForms } from "../request/request-forms.ts";
import { estimateMessageTokens } from "./estimate-message-tokens.ts";

/** A count usually takes a fraction of a second; the answer waits for it. */
const COUNT_MS_MAX = 5_000;
const REPLY_BYTES_MAX = 4_096;
/** How long a server without a counting endpoint is not called again. */
const RETRY_ABSENT_MS = 10 * 60_000;
/** How long a server that failed to reply is not called again. */
const RETRY_FAILED_MS = 60_000;

/** Counts the input tokens of a turn: by the server, or estimated with the tokenizer of the model's family. */
export class MessageTokenCounter {
  readonly #server: ServerAddress;
  readonly #forms: ModelForms;
  readonly #learnedTokens = new LearnedTokens();
  /** Whether the server is known to count. */
  #counts = false;
  /** When a server that did not count may be asked again. */
  #retryAtMs = 0;

  constructor(server: ServerAddress, forms: ModelForms) {
    this.#server = server;
    this.#forms = forms;
  }

  async count(request: ModelRequest, signal: AbortSignal): Promise<TokenCount> {
    const body = await this.#bodyOf(request);
    const tokens = performance.now() < this.#retryAtMs ? null : await this.#ask(body, signal);
    if (tokens !== null) return { tokens, exact: true };
    const estimate = await estimateMessageTokens(body, signal);
    this.#learnedTokens.remember(request, estimate);
    return { tokens: this.#learnedTokens.correctEstimate(request.model, estimate), exact: false };
  }

  /** Like `count`, but calls the server only if it is known to count. */
  async estimate(request: ModelRequest, signal: AbortSignal): Promise<number> {
    const body = await this.#bodyOf(request);
    const tokens = this.#counts ? await this.#ask(body, signal) : null;
    return tokens ?? (await this.#estimateOf(body, signal));
  }

  /** The usage of a turn without reported counts. `outputTokens`: the estimated tokens of the answer. */
  async usageOf(sent: SentParts, outputTokens: number, signal: AbortSignal): Promise<ModelUsage> {
    const body = readOwnJson<MessagesRequest>(Buffer.concat(sent).toString());
    return {
      inputTokens: await this.#estimateOf(body, signal),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: Math.min(outputTokens, body.max_tokens),
      reasoningTokens: 0,
      isEstimate: true,
    };
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
  async learnFrom(refusal: unknown, request: ModelRequest, signal: AbortSignal): Promise<void> {
    if (!(refusal instanceof InputTooLong)) return;
    const estimate = await estimateMessageTokens(await this.#bodyOf(request), signal);
    this.#learnedTokens.learnRefusal(request.model, estimate, refusal);
  }

  async #bodyOf(request: ModelRequest): Promise<MessagesRequest> {
    return (await mapToMessages(request, this.#forms.of(request.model))).body;
  }

  async #estimateOf(body: MessagesRequest, signal: AbortSignal): Promise<number> {
    return this.#learnedTokens.correctEstimate(body.model, await estimateMessageTokens(body, signal));
  }

  /** The server's own count; null if it does not count. */
  async #ask(body: MessagesRequest, signal: AbortSignal): Promise<number | null> {
    const { model, messages, system, tools, tool_choice, thinking, output_config } = body;
    const counted = { model, messages, system, tools, tool_choice, thinking, output_config };
    const path = `${this.#server.apiPath}/messages/count_tokens`;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS_MAX)]);
    const reply = await askServer(this.#server, { path, body: counted, replyBytesMax: REPLY_BYTES_MAX }, deadline);
    const tokens = reply?.status === 200 && isRecord(reply.body) ? reply.body["input_tokens"] : null;
    this.#counts = typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0;
    if (this.#counts && typeof tokens === "number") return tokens;
    const isAbsent = reply !== null && isNotOffered(reply);
    if (!signal.aborted) this.#retryAtMs = performance.now() + (isAbsent ? RETRY_ABSENT_MS : RETRY_FAILED_MS);
    return null;
  }
}
