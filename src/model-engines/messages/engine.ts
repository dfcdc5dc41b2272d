import { assert } from "@antiphon/base/assert.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import type { Dispatcher } from "undici";
import type { ServerAddress } from "../model-server/ask-server.ts";
import { openConnections } from "../model-server/connections/model-connections.ts";
import { ModelList } from "../model-server/list-models.ts";
import { notesOnMessages } from "./request/notes-on-messages.ts";
import { ModelForms } from "./request/request-forms.ts";
import { MessageTokenCounter } from "./tokens/message-token-counter.ts";
import { MessageAsker } from "./turn-asker.ts";

const CONNECTIONS_MAX = 512;
const USER_AGENT = "antiphon";
/** The version whose forms this adapter writes and reads. */
const API_VERSION = "2023-06-01";
const VERSION_PATH = "/v1";
/** The most that a list of models may be asked for at once. */
const MODELS_QUERY = "limit=1000";
/** How long the refusal of an unknown model waits for the names of existing models, in milliseconds. */
const NAMES_MS_MAX = 2_000;

/** What models of this API read, unless the operator says otherwise: it fetches pictures by itself, and reads PDFs. */
const USUAL_ABILITIES: ModelAbilities = { images: true, imageUrls: true, files: true, audioFormats: [] };

export interface MessagesTimeouts {
  /** Maximum time to connect. */
  readonly connectMs: number;
  /** Maximum time without a byte, both before and within the answer. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
}

export interface MessagesOptions {
  /** Such as `https://api.anthropic.com`, with or without `/v1` at its end. A query is added to every call. */
  readonly baseUrl: string;
  /** Sent as `x-api-key`. */
  readonly apiKey: string | null;
  /** Sent with every call, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Shown in logs and in the start banner. */
  readonly name?: string;
  readonly timeouts: MessagesTimeouts;
  /** Maximum number of connections. Each carries one turn at a time; further turns wait. */
  readonly connectionsMax?: number;
  /** Tokens of input and answer together, as set by the operator. Null: unknown until the server refuses an input. */
  readonly contextWindow?: number | null;
  readonly abilities?: Partial<ModelAbilities>;
  /** Called with a sentence if the answer was not as it was asked for, and was corrected. */
  readonly onWarning?: (warning: string, model: string) => void;
  /** Used instead of the engine's own connections. The dispatcher then applies its own connect timeout. */
  readonly fetchDispatcher?: Dispatcher;
}

/** Answers turns through Anthropic's Messages API, or any server that speaks it. */
export function createMessagesEngine(options: MessagesOptions): ModelEngine {
  const { apiKey, timeouts, contextWindow = null, onWarning = () => {} } = options;
  const server = serverOf(options);
  const forms = new ModelForms();
  const tokens = new MessageTokenCounter(server, forms);
  const models = new ModelList({
    server,
    apiKey,
    timeoutMs: timeouts.connectMs + timeouts.idleMs,
    query: MODELS_QUERY,
  });
  const { idleMs, totalMs } = timeouts;
  const abilities = { ...USUAL_ABILITIES, ...options.abilities };
  const turns = new MessageAsker({ server, apiKey, forms, tokens, idleMs, totalMs, onWarning });
  return {
    name: options.name ?? `messages at ${server.origin}`,
    abilitiesOf: () => abilities,
    sample: async (request, signal) => {
      try {
        return await turns.ask(request, signal);
      } catch (refusal) {
        await tokens.learnFrom(refusal, request, signal);
        const isOver = AbortSignal.any([signal, AbortSignal.timeout(NAMES_MS_MAX)]);
        throw await withNearModel(refusal, request.model, () => models.read(isOver));
      }
    },
    continuesAnswers: async () => false,
    listModels: (signal) => models.read(signal),
    countTokens: (request, signal) => tokens.count(request, signal),
    estimateTokens: (request, signal) => tokens.estimate(request, signal),
    reasoningDefaults: () => null,
    notesOn: (request) => notesOnMessages(request, forms.of(request.model)),
    contextWindow: async (model) => tokens.window(model, contextWindow),
  };
}

function serverOf(options: MessagesOptions): ServerAddress {
  const { apiKey, timeouts, connectionsMax = CONNECTIONS_MAX } = options;
  const baseUrl = new URL(options.baseUrl);
  assert(/^https?:$/.test(baseUrl.protocol), "the base URL of a model server must be http or https");
  const rootPath = baseUrl.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return {
    dispatcher: options.fetchDispatcher ?? openConnections({ connectionsMax, connectMs: timeouts.connectMs }),
    origin: baseUrl.origin,
    apiPath: `${rootPath}${VERSION_PATH}`,
    rootPath,
    search: baseUrl.search,
    headers: {
      "user-agent": USER_AGENT,
      "anthropic-version": API_VERSION,
      ...(apiKey === null ? {} : { "x-api-key": apiKey }),
      ...options.headers,
    },
  };
}
