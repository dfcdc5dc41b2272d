import { assert } from "@antiphon/base/assert.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import type { Dispatcher } from "undici";
import { chooseProfile } from "../chat-completions/profile.ts";
import { openConnections } from "../model-server/connections/model-connections.ts";
import { ContextWindows } from "../model-server/context-windows.ts";
import { ModelList } from "../model-server/list-models.ts";
import { locateServer } from "../model-server/locate-server.ts";
import { notesOnResponsesRequest } from "./request/notes-on-responses-request.ts";
import { ResponsesAsker } from "./responses-asker.ts";
import { serverKey } from "./sealed-text.ts";
import { ServerGaps } from "./server-gaps.ts";
import { ResponsesTokenCounter } from "./tokens/responses-token-counter.ts";

const CONNECTIONS_MAX = 512;
const USER_AGENT = "antiphon";
/** How long the refusal of an unknown model waits for the names of existing models, in milliseconds. */
const NAMES_MS_MAX = 2_000;

export interface ResponsesEngineOptions {
  /** Such as `https://api.openai.com/v1`. A query, as required by Azure, is added to every call. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Sent with every call, and instead of the usual header of the same name. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Shown in logs and in the start banner. */
  readonly name?: string;
  readonly timeouts: ResponsesTimeouts;
  /** Maximum number of connections. Each carries one turn at a time; further turns wait. */
  readonly connectionsMax?: number;
  /** Tokens of input and answer together, as set by the operator. Null: as reported by the server. */
  readonly contextWindow?: number | null;
  /** What its models can read besides text, where the operator knows. */
  readonly abilities?: Partial<ModelAbilities>;
  /** Called with a sentence if the server broke the protocol in a way that was corrected. */
  readonly onWarning?: (warning: string, model: string) => void;
  /** Called with the path of the API if it is below the path of the base URL. */
  readonly onPathFound?: (apiPath: string) => void;
  /** Used instead of the engine's own connections. The dispatcher then applies its own connect timeout. */
  readonly fetchDispatcher?: Dispatcher;
}

export interface ResponsesTimeouts {
  /** Maximum time to connect. */
  readonly connectMs: number;
  /** Maximum time without a byte, both before and within the answer. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
}

/** Answers turns through any server of the Responses API. Nothing is stored there: each turn has its whole context. */
export function createResponsesEngine(options: ResponsesEngineOptions): ModelEngine {
  const { apiKey, timeouts, contextWindow = null, connectionsMax = CONNECTIONS_MAX } = options;
  const baseUrl = new URL(options.baseUrl);
  assert(/^https?:$/.test(baseUrl.protocol), "the base URL of a model server must be http or https");
  const dispatcher = options.fetchDispatcher ?? openConnections({ connectionsMax, connectMs: timeouts.connectMs });
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { "user-agent": USER_AGENT, ...authorization, ...options.headers };
  const { server, path } = locateServer(baseUrl, { dispatcher, headers, onPathFound: options.onPathFound });
  const { knowsVendorFields: isReference, abilities, reasoningDefaults } = chooseProfile(baseUrl);
  const key = serverKey(baseUrl);
  const gaps = new ServerGaps();
  const models = new ModelList({ server, apiKey, timeoutMs: timeouts.connectMs + timeouts.idleMs });
  const windows = new ContextWindows(server);
  const tokens = new ResponsesTokenCounter(server, (request) => turns.map(request));
  const onWarning = options.onWarning ?? (() => {});
  const turns = new ResponsesAsker({ server, key, isReference, apiKey, gaps, ...timeouts, tokens, onWarning });

  const allAbilities = { ...abilities, ...options.abilities };

  return {
    name: options.name ?? `responses at ${baseUrl.origin}`,
    abilitiesOf: () => allAbilities,
    sample: async (request, signal, beginning) => {
      assert(beginning === undefined, "this engine continues no answers");
      await path.find();
      try {
        return await turns.ask(request, signal);
      } catch (refusal) {
        await tokens.learnFrom(refusal, request, signal);
        const isOver = AbortSignal.any([signal, AbortSignal.timeout(NAMES_MS_MAX)]);
        throw await withNearModel(refusal, request.model, () => models.read(isOver));
      }
    },
    continuesAnswers: async () => false,
    listModels: async (signal) => {
      await path.find();
      return await models.read(signal);
    },
    countTokens: async (request, signal) => {
      await path.find();
      return await tokens.count(request, signal);
    },
    estimateTokens: (request, signal) => tokens.estimate(request, signal),
    reasoningDefaults,
    notesOn: (request) =>
      notesOnResponsesRequest(request, { server: key, isReference, lacksExtras: gaps.of(request.model).has("extras") }),
    contextWindow: async (model, signal) => {
      if (contextWindow !== null) return tokens.window(model, contextWindow);
      await path.find();
      return tokens.window(model, await windows.read(model, signal));
    },
  };
}
