import { assert } from "@antiphon/base/assert.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import type { Dispatcher } from "undici";
import { openConnections } from "../model-server/connections/model-connections.ts";
import { ContextWindows } from "../model-server/context-windows.ts";
import { ModelList } from "../model-server/list-models.ts";
import { locateServer } from "../model-server/locate-server.ts";
import { type BackendProfile, chooseProfile } from "./profile.ts";
import { Continuations } from "./request/continuations.ts";
import { notesOnRequest } from "./request/notes-on-request.ts";
import { RequiredCalls } from "./request/required-calls.ts";
import { SchemaForms } from "./request/schema-forms.ts";
import { TokenCounter } from "./tokens/token-counter.ts";
import { TurnAsker } from "./turn-asker.ts";

const CONNECTIONS_MAX = 512;
const USER_AGENT = "antiphon";
/** How long the refusal of an unknown model waits for the names of existing models, in milliseconds. */
const NAMES_MS_MAX = 2_000;

export interface ChatCompletionsTimeouts {
  /** Maximum time to connect. */
  readonly connectMs: number;
  /** Maximum time without a byte, both before and within the answer. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
}

export interface ChatCompletionsOptions {
  /** Such as `http://127.0.0.1:11434/v1`. A query, as required by Azure, is added to every call. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Shown in logs and in the start banner. */
  readonly name?: string;
  readonly timeouts: ChatCompletionsTimeouts;
  /** Maximum number of connections. Each carries one turn at a time; further turns wait. */
  readonly connectionsMax?: number;
  /** Tokens of input and answer together, as set by the operator. Null: as reported by the server. */
  readonly contextWindow?: number | null;
  /** Settings that override the profile chosen by the host name. */
  readonly profile?: Partial<BackendProfile>;
  /** Called with a sentence if the server broke the protocol in a way that was corrected. */
  readonly onWarning?: (warning: string, model: string) => void;
  /** Called with the path of the API if it is below the path of the base URL. */
  readonly onPathFound?: (apiPath: string) => void;
  /** Used instead of the engine's own connections. The dispatcher then applies its own connect timeout. */
  readonly fetchDispatcher?: Dispatcher;
}

/** Answers turns through any OpenAI-compatible chat-completions server. */
export function createChatCompletionsEngine(options: ChatCompletionsOptions): ModelEngine {
  const { apiKey, timeouts, contextWindow = null } = options;
  const baseUrl = new URL(options.baseUrl);
  assert(/^https?:$/.test(baseUrl.protocol), "the base URL of a model server must be http or https");
  const { origin } = baseUrl;
  const profile = chooseProfile(baseUrl, options.profile);
  const { connectionsMax = CONNECTIONS_MAX, onPathFound } = options;
  const dispatcher = options.fetchDispatcher ?? openConnections({ connectionsMax, connectMs: timeouts.connectMs });
  const { server, path } = locateServer(baseUrl, { dispatcher, headers: headersOf(options), onPathFound });
  const models = new ModelList({ server, apiKey, timeoutMs: timeouts.connectMs + timeouts.idleMs });
  const tokens = new TokenCounter(server, profile);
  const windows = new ContextWindows(server);
  const continuations = new Continuations(server, profile.continuation);
  const schemaForms = new SchemaForms();
  const requiredCalls = new RequiredCalls();
  const turns = new TurnAsker({
    server,
    profile,
    apiKey,
    schemaForms,
    requiredCalls,
    ...timeouts,
    prepare: async (chat, beginning, signal) => {
      await path.find();
      return beginning === undefined ? chat : await continuations.begin(chat, beginning, signal);
    },
    tokens,
    onWarning: options.onWarning ?? (() => {}),
  });

  return {
    name: options.name ?? `chat-completions at ${origin}`,
    abilitiesOf: () => profile.abilities,
    sample: samplerOf(turns, tokens, models),
    continuesAnswers: async (model, signal) => {
      await path.find();
      return (await continuations.formFor(model, signal)) !== null;
    },
    listModels: async (signal) => {
      await path.find();
      return await models.read(signal);
    },
    countTokens: async (request, signal) => {
      await path.find();
      return await tokens.count(request, signal);
    },
    estimateTokens: (request, signal) => tokens.estimate(request, signal),
    reasoningDefaults: profile.reasoningDefaults,
    notesOn: (request) => {
      const { model } = request;
      const forms = { schemaForm: schemaForms.formFor(model), requiredCall: requiredCalls.of(model) };
      return notesOnRequest(request, profile, forms);
    },
    contextWindow: async (model, signal) => {
      if (contextWindow !== null) return tokens.window(model, contextWindow);
      await path.find();
      return tokens.window(model, await windows.read(model, signal));
    },
  };
}

function headersOf({ apiKey, headers }: ChatCompletionsOptions): Readonly<Record<string, string>> {
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  return { "user-agent": USER_AGENT, ...headers, ...authorization };
}

/** Sends turns. A refusal corrects the token count, and names the nearest model if the model does not exist. */
function samplerOf(turns: TurnAsker, tokens: TokenCounter, models: ModelList): ModelEngine["sample"] {
  return async (request, signal, beginning) => {
    try {
      return await turns.ask(request, signal, beginning);
    } catch (refusal) {
      await tokens.learnFrom(refusal, request, signal);
      const isOver = AbortSignal.any([signal, AbortSignal.timeout(NAMES_MS_MAX)]);
      throw await withNearModel(refusal, request.model, () => models.read(isOver));
    }
  };
}
