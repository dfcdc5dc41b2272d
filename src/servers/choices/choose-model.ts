import type { EngineKind } from "@antiphon/base/ledger/ledger-note.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { createBuiltInEngine, loadScenarioFile, MODEL_NAME } from "@antiphon/built-in-model/index.ts";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelPolicy } from "@antiphon/domain/models/model-policy.ts";
import { readEnvironment } from "../../config/environment/read-environment.ts";
import type { Config } from "../../config/load-config.ts";
import type { AnswerLimits } from "../../model-engines/answer-meter.ts";
import { createChatCompletionsEngine } from "../../model-engines/chat-completions/engine.ts";
import { findLocalDaemon } from "../../model-engines/chat-completions/find-local-daemon.ts";
import { PROFILES } from "../../model-engines/chat-completions/profile.ts";
import { createEmbeddedEngine } from "../../model-engines/embedded/embedded-engine.ts";
import { createFoundLater } from "../../model-engines/found-later.ts";
import { limitAnswers } from "../../model-engines/limit-answers.ts";
import type { ServerTimeouts } from "../../model-engines/model-server/engine-options.ts";
import type { RouteObserver } from "../../model-engines/routing/ask-in-turn.ts";
import { createRoutedEngine } from "../../model-engines/routing/routed-engine.ts";
import { stopAnswers } from "../../model-engines/stop-answers.ts";
import {
  configuredModelFile,
  fetchedModelFile,
  isFetchedModelIdle,
  type LanguageModelFile,
  openModelFile,
  type RunningModel,
} from "./choose-model-file.ts";
import { ModelServers } from "./choose-model-servers.ts";

export interface ChosenModel {
  readonly engine: ModelEngine;
  /** The column of a model in the field ledger. Changes if a model server appears later. */
  readonly kindOf: (model: string) => EngineKind;
  /** Base URL of the model server; null for the built-in engine. */
  readonly baseUrl: string | null;
  /** For the start banner: the engine in use, and the reason. */
  readonly description: string;
  /** What the operator says of a model; null for nothing. */
  readonly policyOf: (model: string) => ModelPolicy | null;
  /** The model servers of `MODELS_FILE`; null if it is not set. */
  readonly servers: ModelServers | null;
  /** The language model in a child of this server; null if another answers. */
  readonly embedded: RunningModel | null;
}

const UNOBSERVED: RouteObserver = { attempted: () => {}, fellBack: () => {} };

/**
 * Chooses the built-in engine if a scenario file is set, else the configured model servers, else the configured model
 * file, else a model server found on this machine, else a fetched model, else the built-in engine.
 */
export async function chooseModel(
  config: Config,
  log: Logger,
  observer: RouteObserver = UNOBSERVED,
): Promise<ChosenModel> {
  const choice = await chooseEngine(config, log, observer);
  const onReached = (model: string): void =>
    log.warn({ model }, "a limit of this server cut an answer, which ends as incomplete");
  return withEngine(choice, limitAnswers(stopAnswers(choice.engine), answerLimits(config), onReached));
}

/** The same choice with another engine in front. */
export function withEngine(choice: ChosenModel, engine: ModelEngine): ChosenModel {
  return { ...choice, engine };
}

function answerLimits(config: Config): AnswerLimits {
  return {
    textCharactersMax: config.answerTextCharactersMax,
    reasoningCharactersMax: config.answerReasoningCharactersMax,
    argumentsCharactersMax: config.answerArgumentsCharactersMax,
    callsMax: config.answerCallsMax,
    itemsMax: config.answerItemsMax,
    annotationsMax: config.answerAnnotationsMax,
    logprobsMax: config.answerLogprobsMax,
  };
}

/** One model server, or the built-in engine. */
const ALONE = { policyOf: () => null, servers: null, embedded: null } as const;

async function chooseEngine(config: Config, log: Logger, observer: RouteObserver): Promise<ChosenModel> {
  if (config.scenarioFile !== null) {
    const scenario = await loadScenarioFile(config.scenarioFile);
    return {
      engine: createBuiltInEngine({ scenario, contextWindow: config.modelContextWindow }),
      ...ALONE,
      kindOf: () => "built-in",
      baseUrl: null,
      description: `the built-in engine, playing ${config.scenarioFile}${config.modelBaseUrl === null ? "" : ". MODEL_BASE_URL is not used: SCENARIO_FILE wins over it"}`,
    };
  }
  if (config.modelsFile !== null) return modelServers(config.modelsFile, log, observer);
  if (config.modelBaseUrl !== null)
    return modelServer(config, log, {
      baseUrl: config.modelBaseUrl,
      description: `the model server at ${new URL(config.modelBaseUrl).origin}`,
    });
  const file = configuredModelFile(config);
  if (file !== null) return await modelFile(config, file, log);
  const daemon = config.findLocalDaemon ? await findLocalDaemon() : null;
  if (daemon !== null)
    return modelServer(config, log, {
      baseUrl: daemon.baseUrl,
      description: `${daemon.name} ${daemon.version}, found on this machine`,
    });
  const fetched = fetchedModelFile(config);
  if (fetched !== null) return await modelFile(config, fetched, log);
  const standIn = createBuiltInEngine({ contextWindow: config.modelContextWindow });
  const { engine, hasFound } = createFoundLater({
    standIn,
    standInModel: MODEL_NAME,
    look: async () => (config.findLocalDaemon ? await lookForDaemon(config, log) : null),
  });
  return {
    ...ALONE,
    engine,
    kindOf: () => (hasFound() ? "chat-completions" : "built-in"),
    baseUrl: null,
    description: `the built-in engine: deterministic, no weights, not a language model. ${otherModels(config)}`,
  };
}

function otherModels(config: Config): string {
  const first = isFetchedModelIdle(config)
    ? "The fetched one needs PROCESSES=1"
    : "`antiphon pull` fetches a small one";
  return `${first}, MODEL_BASE_URL names a server`;
}

async function modelFile(config: Config, file: LanguageModelFile, log: Logger): Promise<ChosenModel> {
  const embedded = await openModelFile(config, file, log);
  return {
    ...ALONE,
    engine: createEmbeddedEngine(embedded, {
      timeouts: timeoutsOf(config),
      connectionsMax: config.modelSlots + config.modelQueueMax + CONNECTIONS_BESIDE,
      contextWindow: null, // The child knows it, and it may be smaller than the setting.
      onWarning: (warning, model) => log.warn({ model }, warning),
    }),
    embedded,
    kindOf: () => "chat-completions",
    baseUrl: null,
    description: file.description,
  };
}

/** Connections to the child beyond those of answers: counts of tokens, and answers that get 429. */
const CONNECTIONS_BESIDE = 64;

function modelServers(file: string, log: Logger, observer: RouteObserver): ChosenModel {
  const servers = new ModelServers(file, readEnvironment(), log);
  return {
    engine: createRoutedEngine({ table: () => servers.table, observer }),
    kindOf: (model) => servers.table.find(model)?.candidates[0].server.kind ?? "chat-completions",
    baseUrl: null,
    description: `the model servers of ${file}: ${servers.table.servers.map(({ name }) => name).join(", ")}`,
    policyOf: (model) => servers.policyOf(model),
    servers,
    embedded: null,
  };
}

/** Looks for a model server that was started on this machine after this server. */
async function lookForDaemon(config: Config, log: Logger): Promise<ModelEngine | null> {
  const daemon = await findLocalDaemon();
  if (daemon === null) return null;
  const description = `${daemon.name} ${daemon.version}, found on this machine`;
  log.info({}, `answers now come from ${description}, except those of ${MODEL_NAME}`);
  return modelServer(config, log, { baseUrl: daemon.baseUrl, description }).engine;
}

function modelServer(
  config: Config,
  log: Logger,
  { baseUrl, description }: { readonly baseUrl: string; readonly description: string },
): ChosenModel {
  const engine = createChatCompletionsEngine({
    baseUrl,
    apiKey: config.modelApiKey?.reveal() ?? null,
    timeouts: timeoutsOf(config),
    connectionsMax: config.modelConnectionsMax,
    contextWindow: config.modelContextWindow,
    onWarning: (warning, model) => log.warn({ model }, warning),
    onPathFound: (apiPath) => log.warn({ path: apiPath }, `MODEL_BASE_URL lacks a path; using ${apiPath}`),
    profile: {
      ...(config.modelProfile === "auto" ? {} : PROFILES[config.modelProfile]),
      ...knownAbilities(config.modelInput),
      ...(config.modelContinuation === "auto" ? {} : { continuation: config.modelContinuation }),
    },
  });
  return { ...ALONE, engine, kindOf: () => "chat-completions", baseUrl, description };
}

function timeoutsOf(config: Config): ServerTimeouts {
  return {
    connectMs: config.modelConnectTimeoutMs,
    idleMs: config.modelIdleTimeoutMs,
    totalMs: config.modelTotalTimeoutMs,
  };
}

/** The abilities set by the operator; they override the profile's. */
function knownAbilities(input: Config["modelInput"]): { readonly abilities?: ModelAbilities } {
  if (input.includes("auto")) return {};
  return {
    abilities: {
      images: input.includes("image") || input.includes("image_url"),
      imageUrls: input.includes("image_url"),
      files: input.includes("file"),
      audioFormats: input.includes("audio") ? ["mp3", "wav"] : [],
    },
  };
}
