import type { Logger } from "@antiphon/base/logger.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { PassageFinder } from "@antiphon/domain/vector-stores.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import type { JoinedProcess } from "../../processes/joined-process.ts";
import type { Store } from "../../store/open-store.ts";
import { fileSearchTool } from "../../tools/file-search/file-search-tool.ts";
import { EmbeddingServer, type EmbeddingServerOptions } from "../../vector-stores/embeddings/embedding-server.ts";
import { ModelEmbedder } from "../../vector-stores/embeddings/model-embedder.ts";
import { type Ingest, startIngest } from "../../vector-stores/ingest/start-ingest.ts";
import { StoredPassages } from "../../vector-stores/passage-finder.ts";
import type { Embedder } from "../../vector-stores/ports/vectors.ts";
import { Reranker } from "../../vector-stores/reranker.ts";
import type { ChosenModel } from "./choose-model.ts";
import type { Telemetry } from "./choose-telemetry.ts";

/** The parts of vector stores beside the store itself. */
export interface VectorStoreParts {
  readonly passages: PassageFinder;
  /** The tool file_search. */
  readonly fileSearch: HostedTool;
  /** Starts ingesting files. Stop it before the store is closed. */
  readonly startIngest: () => Ingest;
}

/** Notifies the ingester of new files; the store exists before it. */
export class FilesWaiting {
  #listener: (() => void) | null = null;

  readonly tell = (): void => this.#listener?.();

  listen(listener: () => void): void {
    this.#listener = listener;
  }
}

interface Foundations {
  readonly store: Store;
  readonly model: Pick<ChosenModel, "baseUrl" | "engine" | "servers">;
  readonly telemetry: Telemetry;
  readonly filesWaiting: FilesWaiting;
  /** Null if this process serves alone. */
  readonly joinedProcess: JoinedProcess | null;
}

/** Shorter than for ingestion, because a search without vectors still works by words. */
const SEARCH_TIMEOUT_MS = 10_000;
/** With growing pauses, half a minute in total for a server that starts or is overloaded. */
const INGEST_REPEATS_MAX = 6;

/** Builds the search and the ingestion of vector stores. Throws `ConfigError` if the embedding model has no server. */
export function chooseVectorStores(
  config: Config,
  { store, model, telemetry, filesWaiting, joinedProcess }: Foundations,
  log: Logger,
): VectorStoreParts {
  const makeEmbedder = embedderMaker(config, model);
  const timeoutMs = Math.min(SEARCH_TIMEOUT_MS, config.embeddingTimeoutMs);
  const forSearch = makeEmbedder({ timeoutMs, repeatsMax: 0 });
  const passages = new StoredPassages(store.chunks, forSearch, chooseReranker(config, model, log), log);
  return {
    passages,
    fileSearch: fileSearchTool({ stores: store.vectorStores, passages }),
    startIngest: () => {
      const ingest = startIngest({
        queue: store.ingestQueue,
        files: store.files,
        renewal: joinedProcess === null || joinedProcess.seat.number === 1 ? store.vectorRenewal : null,
        embedder: makeEmbedder({ timeoutMs: config.embeddingTimeoutMs, repeatsMax: INGEST_REPEATS_MAX }),
        observer: telemetry.ingest,
        log,
        workers: config.ingestWorkers,
        fileBytesMax: config.ingestFileBytesMax,
      });
      filesWaiting.listen(() => ingest.wake());
      return ingest;
    },
  };
}

type EmbedderMaker = (patience: Pick<EmbeddingServerOptions, "timeoutMs" | "repeatsMax">) => Embedder | null;

/** Makes embedders of EMBEDDING_MODEL: by EMBEDDING_BASE_URL, or else by MODELS_FILE, or else by the model server. */
function embedderMaker(config: Config, { baseUrl, engine, servers }: Foundations["model"]): EmbedderMaker {
  const { embeddingModel: modelName, embeddingBaseUrl } = config;
  if (modelName !== null && embeddingBaseUrl === null && servers !== null) {
    requireModel(servers, modelName, "EMBEDDING_MODEL");
    const isKnown = (name: string): boolean => servers.table.names(name);
    return (patience) => new ModelEmbedder({ engine, modelName, isKnown, ...patience });
  }
  const server = embeddingServer(config, baseUrl);
  return (patience) => (server === null ? null : new EmbeddingServer({ ...server, ...patience }));
}

/** The reranker of RERANK_MODEL; null without it. */
function chooseReranker(config: Config, { engine, servers }: Foundations["model"], log: Logger): Reranker | null {
  const { rerankModel: model, rerankTimeoutMs: timeoutMs } = config;
  if (model === null) return null;
  if (servers !== null) requireModel(servers, model, "RERANK_MODEL");
  return new Reranker({ engine, model, timeoutMs, log });
}

function requireModel({ table }: NonNullable<ChosenModel["servers"]>, model: string, setting: string): void {
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
  return { baseUrl, apiKey: (config.embeddingApiKey ?? modelKey)?.reveal() ?? null, model };
}
