import type { Logger } from "@antiphon/base/logger.ts";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { PassageFinder } from "@antiphon/domain/vector-stores.ts";
import type { Config } from "../../config/load-config.ts";
import type { JoinedProcess } from "../../processes/joined-process.ts";
import type { Store } from "../../store/open-store.ts";
import { fileSearchTool } from "../../tools/file-search/file-search-tool.ts";
import { type Ingest, startIngest } from "../../vector-stores/ingest/start-ingest.ts";
import { StoredPassages } from "../../vector-stores/passage-finder.ts";
import { QueryRewriter } from "../../vector-stores/query-rewriter.ts";
import { Reranker } from "../../vector-stores/reranker.ts";
import { chooseEmbedder, requireModel } from "./choose-embedder.ts";
import type { ChosenModel } from "./choose-model.ts";
import type { Telemetry } from "./choose-telemetry.ts";

/** The parts of vector stores beside the store itself. */
export interface VectorStoreParts {
  readonly passages: PassageFinder;
  /** What runs the embedding model beside this process; null without one. Close it after the ingestion. */
  readonly embedderChild: { close(): Promise<void> } | null;
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

/**
 * Builds the search and the ingestion of vector stores. Rejects with `ConfigError` if the embedding model cannot be
 * used.
 */
export async function chooseVectorStores(
  config: Config,
  { store, model, telemetry, filesWaiting, joinedProcess }: Foundations,
  log: Logger,
): Promise<VectorStoreParts> {
  const embedders = await chooseEmbedder(config, model, log);
  const models = {
    embedder: embedders?.forSearch ?? null,
    reranker: chooseReranker(config, model, log),
    rewriter: chooseRewriter(config, model, log),
  };
  const passages = new StoredPassages(store.chunks, models, log);
  return {
    passages,
    embedderChild: embedders?.child ?? null,
    fileSearch: fileSearchTool({ stores: store.vectorStores, passages }),
    startIngest: () => {
      const ingest = startIngest({
        queue: store.ingestQueue,
        files: store.files,
        renewal: joinedProcess === null || joinedProcess.seat.number === 1 ? store.vectorRenewal : null,
        embedder: embedders?.forIngest ?? null,
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

/** The reranker of RERANK_MODEL; null without it. */
function chooseReranker(config: Config, { engine, servers }: Foundations["model"], log: Logger): Reranker | null {
  const { rerankModel: model, rerankTimeoutMs: timeoutMs } = config;
  if (model === null) return null;
  if (servers !== null) requireModel(servers, model, "RERANK_MODEL");
  return new Reranker({ engine, model, timeoutMs, log });
}

/** What rewords queries by REWRITE_MODEL; null without it. */
function chooseRewriter(config: Config, { engine, servers }: Foundations["model"], log: Logger): QueryRewriter | null {
  const { rewriteModel: model, rewriteTimeoutMs: timeoutMs } = config;
  if (model === null) return null;
  if (servers !== null) requireModel(servers, model, "REWRITE_MODEL");
  return new QueryRewriter({ engine, model, timeoutMs, log });
}
