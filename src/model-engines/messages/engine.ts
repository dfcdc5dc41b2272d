import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import { WITHOUT_RETRIEVAL } from "@antiphon/domain/models/retrieval.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import { NAMES_MS_MAX, openModelServer, type ServerEngineOptions, USER_AGENT } from "../model-server/engine-options.ts";
import { ModelList } from "../model-server/list-models.ts";
import { notesOnMessages } from "./request/notes-on-messages.ts";
import { ModelForms } from "./request/request-forms.ts";
import { MessageTokenCounter } from "./tokens/message-token-counter.ts";
import { MessageAsker } from "./turn-asker.ts";

/** The version whose forms this adapter writes and reads. */
const API_VERSION = "2023-06-01";
const VERSION_PATH = "/v1";
/** The most that a list of models may be asked for at once. */
const MODELS_QUERY = "limit=1000";
/** What models of this API read, unless the operator says otherwise: it fetches pictures by itself, and reads PDFs. */
const USUAL_ABILITIES: ModelAbilities = { images: true, imageUrls: true, files: true, audioFormats: [] };

/** The base URL stands with or without `/v1` at its end, and the key is sent as `x-api-key`. */
export interface MessagesOptions extends ServerEngineOptions {
  readonly abilities?: Partial<ModelAbilities>;
}

/** Answers turns through Anthropic's Messages API, or any server that speaks it. */
export function createMessagesEngine(options: MessagesOptions): ModelEngine {
  const { timeouts, contextWindow = null, onWarning = () => {} } = options;
  const server = serverOf(options);
  const forms = new ModelForms();
  const tokens = new MessageTokenCounter(server, forms);
  const models = new ModelList({
    server,
    timeoutMs: timeouts.connectMs + timeouts.idleMs,
    query: MODELS_QUERY,
  });
  const { idleMs, totalMs } = timeouts;
  const abilities = { ...USUAL_ABILITIES, ...options.abilities };
  const turns = new MessageAsker({ server, forms, tokens, idleMs, totalMs, onWarning });
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
    ...WITHOUT_RETRIEVAL,
  };
}

function serverOf(options: MessagesOptions): ServerAddress {
  const { apiKey } = options;
  const { baseUrl, dispatcher, secrets } = openModelServer(options);
  const rootPath = baseUrl.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return {
    dispatcher,
    secrets,
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
