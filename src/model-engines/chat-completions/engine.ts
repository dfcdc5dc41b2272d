import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import { ContextWindows } from "../model-server/context-windows.ts";
import { NAMES_MS_MAX, openModelServer, type ServerEngineOptions, USER_AGENT } from "../model-server/engine-options.ts";
import { ModelList } from "../model-server/list-models.ts";
import { locateServer } from "../model-server/locate-server.ts";
import { createRetrieval } from "../retrieval/create-retrieval.ts";
import { type BackendProfile, chooseProfile } from "./profile.ts";
import { Continuations } from "./request/continuations.ts";
import { notesOnRequest } from "./request/notes-on-request.ts";
import { RequiredCalls } from "./request/required-calls.ts";
import { SchemaForms } from "./request/schema-forms.ts";
import { TokenCounter } from "./tokens/token-counter.ts";
import { TurnAsker } from "./turn-asker.ts";

export interface ChatCompletionsOptions extends ServerEngineOptions {
  /** Settings that override the profile chosen by the host name. */
  readonly profile?: Partial<BackendProfile>;
  /** Called with the path of the API if it is below the path of the base URL. */
  readonly onPathFound?: (apiPath: string) => void;
}

/** Answers turns through any OpenAI-compatible chat-completions server. */
export function createChatCompletionsEngine(options: ChatCompletionsOptions): ModelEngine {
  const { timeouts, contextWindow = null } = options;
  const opened = openModelServer(options);
  const profile = chooseProfile(opened.baseUrl, options.profile);
  const { server, path } = locateServer(opened, headersOf(options), options.onPathFound);
  const models = new ModelList({ server, timeoutMs: timeouts.connectMs + timeouts.idleMs });
  const tokens = new TokenCounter(server, profile);
  const windows = new ContextWindows(server);
  const continuations = new Continuations(server, profile.continuation);
  const schemaForms = new SchemaForms();
  const requiredCalls = new RequiredCalls();
  const turns = new TurnAsker({
    server,
    profile,
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
    name: options.name ?? `chat-completions at ${server.origin}`,
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
    ...createRetrieval({ server, path, timeouts, inputsMax: options.embeddingInputsMax }),
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
