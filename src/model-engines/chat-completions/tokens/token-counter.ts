import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { readJsonInSlices } from "@antiphon/base/json/read-json-in-slices.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { TokenCount } from "@antiphon/domain/models/model-engine.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ChatRequest } from "../../context/chat-wire.ts";
import { estimateAttachmentTokens, estimateChatTokens } from "../../context/estimate-chat-tokens.ts";
import type { ServerAddress } from "../../model-server/ask-server.ts";
import type { SentParts } from "../../model-server/connections/request-body.ts";
import { InputTooLong } from "../../model-server/errors/model-errors.ts";
import { isList } from "../../model-server/json-values.ts";
import { LearnedTokens } from "../../model-server/learned-tokens.ts";
import type { BackendProfile } from "../profile.ts";
import { mapRequest } from "../request/map-request.ts";
import { type ServerCount, ServerTokenCount } from "./server-token-count.ts";

/** Receives the server's counts for a turn. */
export interface UsageReader {
  readonly onUsage?: (usage: ModelUsage) => void;
}

/** Counts the tokens of a turn: by the server, or estimated with the tokenizer of the model's family. */
export class TokenCounter {
  readonly #profile: BackendProfile;
  readonly #server: ServerTokenCount;
  readonly #learnedTokens = new LearnedTokens();

  constructor(server: ServerAddress, profile: BackendProfile) {
    this.#profile = profile;
    this.#server = new ServerTokenCount(server, {
      isReference: profile.knowsVendorFields,
      countsShapes: profile.countsShapes,
    });
  }

  async count(request: ModelRequest, signal: AbortSignal): Promise<TokenCount> {
    const { body: chat } = await mapRequest(request, this.#profile);
    const count = await this.#server.count({ request, chat }, signal);
    if (count !== null) return await withAttachments(count, chat);
    const estimate = await estimateChatTokens(chat, signal);
    this.#learnedTokens.remember(request, estimate);
    return { tokens: this.#learnedTokens.correctEstimate(request.model, estimate), exact: false };
  }

  /** Like `count`, but calls the server only if it is known to count. */
  async estimate(request: ModelRequest, signal: AbortSignal): Promise<number> {
    const { body: chat } = await mapRequest(request, this.#profile);
    return await this.#estimate(request, chat, signal);
  }

  /** The usage of a turn without reported counts. `outputTokens`: the estimated tokens of the answer. */
  async usageOf(body: SentParts, outputTokens: number, signal: AbortSignal): Promise<ModelUsage> {
    const chat = await readSentChat(body);
    const outputTokensMax = chat.max_completion_tokens ?? chat.max_tokens ?? outputTokens;
    return {
      inputTokens: await this.#estimate(null, chat, signal),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: Math.min(outputTokens, outputTokensMax),
      reasoningTokens: 0,
      isEstimate: true,
    };
  }

  /** The window of a model, or the server's smaller one. */
  window(model: string, knownWindow: number | null): number | null {
    return this.#learnedTokens.window(model, knownWindow);
  }

  /** Compares the server's counts for a turn with the estimate, if there is one. Does not keep the turn. */
  learner(request: ModelRequest): UsageReader {
    const estimate = this.#learnedTokens.estimateOf(request);
    if (estimate === null) return {};
    const { model } = request;
    return { onUsage: ({ inputTokens }) => this.#learnedTokens.learnUsage(model, estimate, inputTokens) };
  }

  /** Reads the server's numbers from its refusal of a turn. */
  async learnFrom(error: unknown, request: ModelRequest, signal: AbortSignal): Promise<void> {
    if (!(error instanceof InputTooLong)) return;
    const { body: chat } = await mapRequest(request, this.#profile);
    this.#learnedTokens.learnRefusal(request.model, await estimateChatTokens(chat, signal), error);
  }

  /** `request`: null if only its chat-completions form is at hand. */
  async #estimate(request: ModelRequest | null, chat: ChatRequest, signal: AbortSignal): Promise<number> {
    const count = await this.#server.countAsKnown({ request, chat }, signal);
    if (count !== null) return (await withAttachments(count, chat)).tokens;
    return this.#learnedTokens.correctEstimate(chat.model, await estimateChatTokens(chat, signal));
  }
}

async function withAttachments(count: ServerCount, chat: ChatRequest): Promise<TokenCount> {
  const attachmentTokens = count.countsAttachments ? 0 : await estimateAttachmentTokens(chat);
  return { tokens: count.tokens + attachmentTokens, exact: count.isExact && attachmentTokens === 0 };
}

/** Reads the body of a sent turn. The HTTP client keeps the body anyway, so nothing else must be kept. */
async function readSentChat(parts: SentParts): Promise<ChatRequest> {
  if (parts.length === 1) return readOwnJson<ChatRequest>(String(parts[0]));
  // A body larger than the receiving limit is read at once.
  const chat = await readJsonInSlices(parts).catch(() => null);
  return isChat(chat) ? chat : readOwnJson<ChatRequest>(Buffer.concat(parts).toString());
}

function isChat(value: unknown): value is ChatRequest {
  return isRecord(value) && isList(value["messages"]);
}
