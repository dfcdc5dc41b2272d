import { assert } from "@antiphon/base/assert.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import { chooseProfile } from "../chat-completions/profile.ts";
import { ContextWindows } from "../model-server/context-windows.ts";
import { NAMES_MS_MAX, openModelServer, type ServerEngineOptions, USER_AGENT } from "../model-server/engine-options.ts";
import { ModelList } from "../model-server/list-models.ts";
import { locateServer } from "../model-server/locate-server.ts";
import { createRetrieval } from "../retrieval/create-retrieval.ts";
import { notesOnResponsesRequest } from "./request/notes-on-responses-request.ts";
import { ResponsesAsker } from "./responses-asker.ts";
import { serverKey } from "./sealed-text.ts";
import { ServerGaps } from "./server-gaps.ts";
import { ResponsesTokenCounter } from "./tokens/responses-token-counter.ts";

/** Its headers replace the usual ones of the same name. */
export interface ResponsesEngineOptions extends ServerEngineOptions {
  /** What its models can read besides text, where the operator knows. */
  readonly abilities?: Partial<ModelAbilities>;
  /** Called with the path of the API if it is below the path of the base URL. */
  readonly onPathFound?: (apiPath: string) => void;
}

/** Answers turns through any server of the Responses API. Nothing is stored there: each turn has its whole context. */
export function createResponsesEngine(options: ResponsesEngineOptions): ModelEngine {
  const { apiKey, timeouts, contextWindow = null } = options;
  const opened = openModelServer(options);
  const { baseUrl } = opened;
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { "user-agent": USER_AGENT, ...authorization, ...options.headers };
  const { server, path } = locateServer(opened, headers, options.onPathFound);
  const { knowsVendorFields: isReference, abilities, reasoningDefaults } = chooseProfile(baseUrl);
  const key = serverKey(baseUrl);
  const gaps = new ServerGaps();
  const models = new ModelList({ server, timeoutMs: timeouts.connectMs + timeouts.idleMs });
  const windows = new ContextWindows(server);
  const tokens = new ResponsesTokenCounter(server, (request) => turns.map(request));
  const onWarning = options.onWarning ?? (() => {});
  const turns = new ResponsesAsker({ server, key, isReference, gaps, ...timeouts, tokens, onWarning });

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
    ...createRetrieval({ server, path, timeouts, inputsMax: options.embeddingInputsMax }),
  };
}
