import type { Dispatcher } from "undici";
import { assert } from "../../base/assert.ts";
import { beginExchange, RecordedReply } from "../../base/exchanges/exchange-recording.ts";
import { traceHeaders } from "../../base/trace-context.ts";
import type { ModelEngine, ModelEvent, ModelRequest, TokenCount } from "../../runs/ports.ts";
import { withNearModel } from "../near-model.ts";
import type { ServerAddress } from "./ask-server.ts";
import { openConnections } from "./connections/model-connections.ts";
import { requestBody } from "./connections/request-body.ts";
import { ModelList } from "./list-models.ts";
import { type BackendProfile, chooseProfile } from "./profile.ts";
import { ChunkReader } from "./reply/chunk-reader.ts";
import { UpstreamTurn } from "./reply/upstream-turn.ts";
import { Continuations } from "./request/continuations.ts";
import { mapRequest } from "./request/map-request.ts";
import { notesOnRequest } from "./request/notes-on-request.ts";
import { ContextWindows } from "./tokens/context-windows.ts";
import { estimateAttachmentTokens, estimateChatTokens } from "./tokens/estimate-chat-tokens.ts";
import { ServerTokenCount } from "./tokens/server-token-count.ts";

const CONNECTIONS_MAX = 512;
const USER_AGENT = "antiphon";

/** How long a refusal of an unknown model waits for the names of those there are, in milliseconds. */
const NAMES_MS_MAX = 2_000;

const LATE_CONTENT = "the model server sent content after its finish reason; it was dropped";

export interface ChatCompletionsTimeouts {
  /** Maximum time to connect. */
  readonly connectMs: number;
  /** Maximum time without a byte, both before and within the answer. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
}

export interface ChatCompletionsOptions {
  /** Such as `http://127.0.0.1:11434/v1`. A query, as Azure needs it, is added to every call. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Shown in logs and in the start banner. */
  readonly name?: string;
  readonly timeouts: ChatCompletionsTimeouts;
  /** Maximum number of connections. Each carries one turn at a time; further turns wait. */
  readonly connectionsMax?: number;
  /** Tokens of input and answer together, as set by the operator. Null: the server is asked. */
  readonly contextWindow?: number | null;
  /** Settings that override the profile chosen by the host name. */
  readonly profile?: Partial<BackendProfile>;
  /** Called with a sentence if the server broke the protocol in a way that was corrected. */
  readonly onWarning?: (warning: string, model: string) => void;
  /** Used instead of the engine's own connections. The dispatcher then applies its own connect timeout. */
  readonly fetchDispatcher?: Dispatcher;
}

/** Answers turns through any OpenAI-compatible chat-completions server. */
export function createChatCompletionsEngine(options: ChatCompletionsOptions): ModelEngine {
  const { apiKey, timeouts } = options;
  const baseUrl = new URL(options.baseUrl);
  assert(/^https?:$/.test(baseUrl.protocol), "the base URL of a model server must be http or https");
  const { origin } = baseUrl;
  const profile = chooseProfile(baseUrl, options.profile);
  const { connectionsMax = CONNECTIONS_MAX } = options;
  const dispatcher = options.fetchDispatcher ?? openConnections({ connectionsMax, connectMs: timeouts.connectMs });
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
  const continuations = new Continuations(server, profile.continuation);

  return {
    name: options.name ?? `chat-completions at ${origin}`,
    abilities: profile.abilities,
    async sample(request, signal, begun): Promise<AsyncIterable<readonly ModelEvent[]>> {
      const { body: chat, toolNames } = await mapRequest(request, profile);
      const sent = await requestBody(begun === undefined ? chat : await continuations.begin(chat, begun, signal));
      const { model } = request; // So that the answer does not keep the request and its history in memory.
      const reader = new ChunkReader({
        toolNames,
        reasoningTags: profile.reasoningTags,
        wantsLogprobs: request.topLogprobs !== null,
        onLateContent: () => options.onWarning?.(LATE_CONTENT, model),
      });
      const { idleMs, totalMs } = timeouts;
      const context = { model, host: baseUrl.host, apiKey };
      const turn = new UpstreamTurn({ reader, context, totalMs, idleMs, signal });
      if (!signal.aborted) {
        const call = {
          origin,
          path: turnPath,
          method: "POST",
          headers: { ...turnHeaders, ...sent.headers, ...traceHeaders(request.trace) },
          body: sent.body,
          headersTimeout: idleMs,
          bodyTimeout: idleMs,
        };
        dispatcher.dispatch(call, recordedTurn(turn, call, sent.parts));
      }
      return await turn.accepted.catch((refusal: unknown) => refuse(refusal, model, models, signal));
    },
    continuesAnswers: async (model, signal) => (await continuations.formFor(model, signal)) !== null,
    listModels: (signal) => models.read(signal),
    countTokens: (request, signal) => tokens.count(request, signal),
    reasoningDefaults: profile.reasoningDefaults,
    notesOn: (request) => notesOnRequest(request, profile),
    contextWindow: async (model, signal) => options.contextWindow ?? (await windows.read(model, signal)),
  };
}

/** Throws the error of a turn; that of an unknown model with the nearest name of a known one. */
async function refuse(refusal: unknown, model: string, models: ModelList, signal: AbortSignal): Promise<never> {
  const isOver = AbortSignal.any([signal, AbortSignal.timeout(NAMES_MS_MAX)]);
  throw await withNearModel(refusal, model, () => models.read(isOver));
}

/** The turn itself, or what also tells a recorder of its reply. */
function recordedTurn(
  turn: UpstreamTurn,
  call: { readonly origin: string; readonly path: string; readonly headers: Readonly<Record<string, string>> },
  body: readonly Uint8Array[],
): Dispatcher.DispatchHandler {
  const recorded = beginExchange(() => ({
    kind: "model",
    method: "POST",
    url: `${call.origin}${call.path}`,
    headers: Object.entries(call.headers),
    body,
  }));
  return recorded === null ? turn : new RecordedReply(turn, recorded);
}

function addressOf(baseUrl: URL, dispatcher: Dispatcher, headers: ServerAddress["headers"]): ServerAddress {
  const apiPath = baseUrl.pathname.replace(/\/+$/, "");
  const { origin, search } = baseUrl;
  return { dispatcher, origin, apiPath, rootPath: apiPath.replace(/\/v1$/, ""), search, headers };
}

function pathUnder(baseUrl: URL, name: string): string {
  return `${baseUrl.pathname.replace(/\/+$/, "")}/${name}${baseUrl.search}`;
}

/** Counts the tokens of a turn: asks the server, or estimates with the tokenizer of the model's family. */
class TokenCounter {
  readonly #profile: BackendProfile;
  readonly #server: ServerTokenCount;

  constructor(server: ServerAddress, profile: BackendProfile) {
    this.#profile = profile;
    this.#server = new ServerTokenCount(server, profile.knowsVendorFields);
  }

  async count(request: ModelRequest, signal: AbortSignal): Promise<TokenCount> {
    const { body: chat } = await mapRequest(request, this.#profile);
    const counted = await this.#server.count({ request, chat }, signal);
    if (counted === null) return { tokens: await estimateChatTokens(chat, signal), exact: false };
    const attached = counted.countsAttachments ? 0 : await estimateAttachmentTokens(chat);
    return { tokens: counted.tokens + attached, exact: attached === 0 };
  }
}
