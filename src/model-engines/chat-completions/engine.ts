import { Agent, type Dispatcher } from "undici";
import { assert } from "../../base/assert.ts";
import { traceHeaders } from "../../base/trace-context.ts";
import type { ModelEngine, ModelEvent, ModelRequest, TokenCount } from "../../runs/ports.ts";
import type { ServerAddress } from "./ask-server.ts";
import { ModelList } from "./list-models.ts";
import { type BackendProfile, chooseProfile } from "./profile.ts";
import { ChunkReader } from "./reply/chunk-reader.ts";
import { UpstreamTurn } from "./reply/upstream-turn.ts";
import { mapRequest } from "./request/map-request.ts";
import { requestBody } from "./request-body.ts";
import { ContextWindows } from "./tokens/context-windows.ts";
import { estimateAttachmentTokens, estimateChatTokens } from "./tokens/estimate-chat-tokens.ts";
import { ServerTokenCount } from "./tokens/server-token-count.ts";

const CONNECTIONS_MAX = 512;
const USER_AGENT = "antiphon";

export interface ChatCompletionsTimeouts {
  /** Until a connection stands. */
  readonly connectMs: number;
  /** Without a single byte, before the answer begins as well as within it. */
  readonly idleMs: number;
  /** For the whole turn. */
  readonly totalMs: number;
}

export interface ChatCompletionsOptions {
  /** Such as `http://127.0.0.1:11434/v1`; a query, as Azure wants it, is kept. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Shown in logs and by the start banner. */
  readonly name?: string;
  readonly timeouts: ChatCompletionsTimeouts;
  /** Connections at once; each carries one turn, and further turns wait for a free one. */
  readonly connectionsMax?: number;
  /**
   * Tokens that input and answer may take together, where the operator knows better than the server tells; null
   * otherwise.
   */
  readonly contextWindow?: number | null;
  /** What the operator knows better than the host name tells. */
  readonly profile?: Partial<BackendProfile>;
  /** Told in a sentence what is odd about a turn and was put right. */
  readonly onOddity?: (oddity: string, model: string) => void;
  /** In place of the engine's own connections; `connectMs` is then the dispatcher's business. */
  readonly fetchDispatcher?: Dispatcher;
}

/** Answers turns through any OpenAI-compatible chat-completions server. */
export function createChatCompletionsEngine(options: ChatCompletionsOptions): ModelEngine {
  const { apiKey, timeouts } = options;
  const baseUrl = new URL(options.baseUrl);
  assert(/^https?:$/.test(baseUrl.protocol), "the base URL of a model server is http or https");
  const { origin } = baseUrl;
  const profile = chooseProfile(baseUrl, options.profile);
  const dispatcher =
    options.fetchDispatcher ??
    new Agent({ connections: options.connectionsMax ?? CONNECTIONS_MAX, connect: { timeout: timeouts.connectMs } });
  const headers = { "user-agent": USER_AGENT, ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }) };
  const turnHeaders = { ...headers, accept: "text/event-stream" };
  const turnPath = pathUnder(baseUrl, "chat/completions");
  const models = new ModelList({
    dispatcher,
    origin,
    path: pathUnder(baseUrl, "models"),
    headers,
    apiKey,
    timeoutMs: timeouts.connectMs + timeouts.idleMs,
  });
  const server = addressOf(baseUrl, dispatcher, headers);
  const tokens = new TokenCounter(server, profile);
  const windows = new ContextWindows(server);

  return {
    name: options.name ?? `chat-completions at ${origin}`,
    abilities: profile.abilities,
    async sample(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<readonly ModelEvent[]>> {
      const { body: chat, toolNames } = mapRequest(request, profile);
      const { body, headers: bodyHeaders } = await requestBody(chat);
      const { model } = request; // Who reads the answer holds no more of the request, which has the whole history.
      const reader = new ChunkReader({
        toolNames,
        reasoningTags: profile.reasoningTags,
        wantsLogprobs: request.topLogprobs !== null,
        onLateWords: () =>
          options.onOddity?.("the model server went on after its finish reason; that is dropped", model),
      });
      const context = { model, host: baseUrl.host, apiKey };
      const turn = new UpstreamTurn({ reader, context, totalMs: timeouts.totalMs, idleMs: timeouts.idleMs, signal });
      if (!signal.aborted) {
        const { idleMs } = timeouts;
        const call = {
          origin,
          path: turnPath,
          method: "POST",
          headers: { ...turnHeaders, ...bodyHeaders, ...traceHeaders(request.trace) },
          body,
          headersTimeout: idleMs,
          bodyTimeout: idleMs,
        };
        dispatcher.dispatch(call, turn);
      }
      return await turn.accepted;
    },
    listModels: (signal) => models.read(signal),
    countTokens: (request, signal) => tokens.count(request, signal),
    contextWindow: async (model, signal) => options.contextWindow ?? (await windows.read(model, signal)),
  };
}

function addressOf(baseUrl: URL, dispatcher: Dispatcher, headers: ServerAddress["headers"]): ServerAddress {
  const apiPath = baseUrl.pathname.replace(/\/+$/, "");
  const { origin, search } = baseUrl;
  return { dispatcher, origin, apiPath, rootPath: apiPath.replace(/\/v1$/, ""), search, headers };
}

function pathUnder(baseUrl: URL, name: string): string {
  return `${baseUrl.pathname.replace(/\/+$/, "")}/${name}${baseUrl.search}`;
}

/** Counts turns as a model server would: by asking it, or by the tokenizer of the model's family. */
class TokenCounter {
  readonly #profile: BackendProfile;
  readonly #server: ServerTokenCount;

  constructor(server: ServerAddress, profile: BackendProfile) {
    this.#profile = profile;
    this.#server = new ServerTokenCount(server, profile.knowsVendorFields);
  }

  async count(request: ModelRequest, signal: AbortSignal): Promise<TokenCount> {
    const { body: chat } = mapRequest(request, this.#profile);
    const counted = await this.#server.count({ request, chat }, signal);
    if (counted === null) return { tokens: await estimateChatTokens(chat, signal), exact: false };
    const attached = counted.countsAttachments ? 0 : estimateAttachmentTokens(chat);
    return { tokens: counted.tokens + attached, exact: attached === 0 };
  }
}
