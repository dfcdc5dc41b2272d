import { accessSync, constants, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import { EmbeddedModel } from "../../embedded-model/embedded-model.ts";
import { engineState } from "../../embedded-model/engine-folder.ts";
import { FetchedModels } from "../../embedded-model/fetched-models.ts";
import { isModelFile } from "../../embedded-model/model-file.ts";
import type { EmbeddedServer } from "../../model-engines/embedded/ports.ts";

/** A file of a language model, and what the start banner says of it. */
export interface LanguageModelFile {
  readonly path: string;
  readonly description: string;
}

/** A language model that this server runs. */
export interface RunningModel extends EmbeddedServer {
  readonly isReady: boolean;
  close(): Promise<void>;
}

/** The value of MODEL_FILE that switches off a fetched model. */
const NO_FILE = "none";
const MEGABYTE = 1_000_000;
/** A file that cannot be loaded is known at once; a busy machine may take a while to say so. */
const JUDGE_MS_MAX = 60_000;
const WINDOW_USUAL = 8192;

/** Where `antiphon pull` puts models and, unless a setting says otherwise, the engine. */
export function languageModelFolder({ dataDir }: Pick<Config, "dataDir">): string {
  return resolve(join(dataDir, "language-model"));
}

export function modelEngineFolder(config: Pick<Config, "dataDir" | "modelEngineDir">): string {
  return config.modelEngineDir === null ? join(languageModelFolder(config), "engine") : resolve(config.modelEngineDir);
}

/** MODEL_FILE; null if it is not set. Throws `ConfigError` if it is no model file. */
export function configuredModelFile(config: Config): LanguageModelFile | null {
  const { modelFile: setting } = config;
  if (setting === null || setting === NO_FILE) return null;
  const path = resolve(setting);
  const fault = fileFault(path);
  if (fault !== null) throw new ConfigError([`MODEL_FILE is '${setting}', ${fault}.`]);
  requireEngine(config, "MODEL_FILE is set");
  if (config.processes > 1)
    throw new ConfigError([
      `MODEL_FILE is set, but PROCESSES is ${config.processes}: each would load the model again.`,
    ]);
  const size = Math.round(statSync(path).size / MEGABYTE);
  return { path, description: `${basename(path)} on this machine, ${size} MB (MODEL_FILE)` };
}

/**
 * The model that was fetched last. Null if there is none, if the engine to run it is not there, or if several processes
 * serve, each of which would load the model again.
 */
export function fetchedModelFile(config: Config): LanguageModelFile | null {
  if (config.modelFile === NO_FILE || config.processes > 1 || engineState(modelEngineFolder(config)) !== "ready")
    return null;
  const models = new FetchedModels(languageModelFolder(config));
  const [model] = models.list();
  if (model === undefined) return null;
  const size = `${Math.round(model.bytes / MEGABYTE)} MB`;
  const warning = model.bytes < SMALL_BYTES ? ": small, often wrong" : "";
  return { path: models.pathOf(model), description: `${model.name} on this machine, ${size}${warning}` };
}

/** Throws `ConfigError` if the engine cannot run EMBEDDING_FILE. */
export function requireVectorFile(config: Config, setting: string): void {
  const fault = fileFault(resolve(setting));
  if (fault !== null) throw new ConfigError([`EMBEDDING_FILE is '${setting}', ${fault}.`]);
  requireEngine(config, "EMBEDDING_FILE is in the format GGUF");
}

/** Begins to load a model for embeddings. */
export function openVectorFile(config: Config, path: string, log: Logger): Promise<RunningModel> {
  return EmbeddedModel.open({ ...childOptions(config, path), work: "vectors", log });
}

/** Whether a model was fetched that is not used because several processes serve. */
export function isFetchedModelIdle(config: Config): boolean {
  if (config.modelFile === NO_FILE || config.processes === 1) return false;
  return new FetchedModels(languageModelFolder(config)).list().length > 0;
}

/** A model of fewer bytes is too small to be relied on. */
const SMALL_BYTES = 1000 * MEGABYTE;

/** Begins to load a model. Throws `ConfigError` if it cannot be loaded at all. */
export async function openModelFile(config: Config, { path }: LanguageModelFile, log: Logger): Promise<RunningModel> {
  const model = await EmbeddedModel.open({ ...childOptions(config, path), work: "answers", log });
  const state = await model.untilJudged(AbortSignal.timeout(JUDGE_MS_MAX)).catch(() => null);
  if (state?.type !== "failed") return model;
  await model.close();
  throw new ConfigError([`${state.reason}.`]);
}

function childOptions(config: Config, path: string) {
  return {
    engineFolder: modelEngineFolder(config),
    modelPath: path,
    template: config.modelTemplate,
    slots: config.modelSlots,
    threads: config.modelThreads ?? Math.max(1, availableParallelism() - 1),
    windowMax: config.modelContextWindow ?? WINDOW_USUAL,
    queueMax: config.modelQueueMax,
  };
}

/** Throws `ConfigError` if the engine is not there. `why` begins the sentence. */
function requireEngine(config: Config, why: string): void {
  const folder = modelEngineFolder(config);
  const state = engineState(folder);
  if (state === "ready") return;
  const what = state === "absent" ? "is not there" : "is of another version";
  throw new ConfigError([
    `${why}, but the engine that runs it ${what} (${folder}). \`antiphon pull engine\` fetches it.`,
  ]);
}

/** Why a path is no model file, as the end of a sentence; null if it may be one. */
function fileFault(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "where no file is";
  if (!stats.isFile()) return "which is no file";
  try {
    accessSync(path, constants.R_OK);
  } catch {
    return "which this user may not read";
  }
  return isModelFile(path) ? null : `which is no model in the format GGUF (${stats.size} bytes)`;
}
