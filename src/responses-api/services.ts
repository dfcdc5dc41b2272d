import type { EngineKind } from "../base/ledger/ledger-note.ts";
import type { CodeFinder, Containers } from "../domain/containers.ts";
import type { ConversationStore } from "../domain/conversations.ts";
import type { FileStore } from "../domain/files.ts";
import type { HostedTools } from "../domain/hosted-tools.ts";
import type { ExchangeStore, PriceTable, RefusalStore, ResponseArchive } from "../domain/inspection.ts";
import type { MediaReader } from "../domain/media.ts";
import type { PartHealth, PartState } from "../domain/part-health.ts";
import type { RateLimiter } from "../domain/rates.ts";
import type { ResponseStore } from "../domain/responses.ts";
import type { SpokenOutput } from "../domain/speech.ts";
import type { StorageQuota } from "../domain/storage.ts";
import type { ToolLedger } from "../domain/tool-ledger.ts";
import type { ToolObserver } from "../domain/tool-watch.ts";
import type { PassageFinder, VectorStores } from "../domain/vector-stores.ts";
import type { RunHost } from "../runs/index.ts";
import type { EventLog } from "../runs/ports/event-log.ts";
import type { ModelEngine } from "../runs/ports/model-engine.ts";
import type { RunLedger } from "../runs/ports/run-ledger.ts";
import type { RunObserver } from "../runs/ports/run-watch.ts";
import type { Neighbours } from "../runs/reading/neighbours.ts";
import type { ApprovalsInUse } from "./create/approval-hold.ts";
import type { ExchangeKeeper } from "./exchanges/exchange-keeper.ts";
import type { RefusalKeeper } from "./exchanges/refusal-keeper.ts";
import type { Sealer } from "./seal.ts";
import type { ModelRetries } from "./tool-loop/attempts/model-retries.ts";

/** The services of Interface A. The server builds them once and passes them on as `services`. */
export interface ResponseServices {
  /** Stored responses and their items. */
  readonly store: ResponseStore;
  /** Lists of stored responses, and how they were made. */
  readonly archive: ResponseArchive;
  /** Exchanges with other servers for stored responses. */
  readonly exchanges: ExchangeStore;
  /** Stores these exchanges; null if none are stored. */
  readonly exchangeKeeper: ExchangeKeeper | null;
  /** Requests that were refused. */
  readonly refusals: RefusalStore;
  /** Stores refused requests. */
  readonly refusalKeeper: RefusalKeeper;
  /** The prices of tokens. */
  readonly prices: PriceTable;
  /** Stored conversations and their locks. */
  readonly conversations: ConversationStore;
  readonly approvalsInUse: ApprovalsInUse;
  /** Uploaded files. */
  readonly files: FileStore;
  /** Vector stores and their files. */
  readonly vectorStores: VectorStores;
  /** Searches vector stores. */
  readonly passages: PassageFinder;
  /** Containers, in which tools run code, and their files. */
  readonly containers: Containers;
  /** The maximum memory of a container, in bytes. */
  readonly containerMemoryMax: number;
  /** The storage limit of each owner. */
  readonly quota: StorageQuota;
  /** The events of stored responses. */
  readonly eventLog: EventLog;
  /** Records which worker makes which stored response. */
  readonly ledger: RunLedger;
  /** Calls the model server. */
  readonly engine: ModelEngine;
  /** How calls of the model server are retried. */
  readonly retries: ModelRetries;
  /** Decides which request fields the model supports. */
  readonly engineKind: EngineKind;
  /** The runs of this process. */
  readonly runs: RunHost;
  /** Observes every run, for metrics, traces and the log. */
  readonly observer: RunObserver;
  /** Encrypts content that clients store and send back, such as reasoning. */
  readonly sealer: Sealer;
  /** Counts the requests and tokens of each key. */
  readonly limiter: RateLimiter;
  /** Speaks answers. */
  readonly spokenOutput: SpokenOutput;
  /** The tools that this server runs. */
  readonly tools: HostedTools;
  /** Stores the calls of these tools. */
  readonly toolLedger: ToolLedger;
  /** Observes the calls of these tools, for metrics, traces and the log. */
  readonly toolObserver: ToolObserver;
  /** Converts images, files and recordings for the model. */
  readonly media: MediaReader;
  /** How long a streamed response waits for its model to accept before its first events are sent, in milliseconds. */
  readonly streamStartWaitMs: number;
  /** Whether the server is ready to serve. */
  readonly readiness: Readiness;
  /** The metrics, and who may read them. */
  readonly metrics: ShownMetrics;
  /** The name of this server among several. */
  readonly nodeName: string;
  /** The other processes of this database; null if there is no bus. */
  readonly neighbours: Neighbours | null;
}

export interface Readiness {
  /** Must not throw. */
  readonly isStoreReady: () => Promise<boolean>;
  /** Whether the store has room for more data. Must not throw. */
  readonly hasRoom: () => Promise<boolean>;
  /** Whether the server was told to stop. */
  readonly isLeaving: () => boolean;
  readonly model: Pick<PartHealth, "look">;
  /** The states of other machines' services for this server, by name. None of them decides. */
  readonly elsewhere: () => Readonly<Record<string, PartState>>;
  readonly code: Pick<CodeFinder, "known">;
}

export interface ShownMetrics {
  /** The current metrics, in the text format of Prometheus. */
  readonly text: () => Promise<string>;
  /** Who may read them if `key` is null. */
  readonly shownTo: "loopback" | "open" | "off";
  readonly key: string | null;
}
