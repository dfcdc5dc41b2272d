import type { RunHost } from "../runs/index.ts";
import type { EventLog, ModelEngine, RunLedger, RunObserver } from "../runs/ports.ts";
import type { EngineKind } from "./checks/check-availability.ts";
import type { ModelHealth } from "./keeping/model-health.ts";
import type { Sealer } from "./keeping/seal.ts";
import type {
  ConversationStore,
  FileStore,
  MediaReader,
  RateLimiter,
  ResponseStore,
  SpokenOutput,
  StorageQuota,
} from "./ports.ts";

/** What Interface A works with: built once by its server, and passed on as `services` to whatever needs some of it. */
export interface ResponseServices {
  /** Stored responses and their items. */
  readonly store: ResponseStore;
  /** Stored conversations, and the responses that hold them. */
  readonly conversations: ConversationStore;
  /** Uploaded files. */
  readonly files: FileStore;
  /** Whether an owner may store more. */
  readonly quota: StorageQuota;
  /** The events of stored responses. */
  readonly eventLog: EventLog;
  /** Which process makes which stored response. */
  readonly ledger: RunLedger;
  /** The model. */
  readonly engine: ModelEngine;
  /** The model's column of the field ledger. */
  readonly engineKind: EngineKind;
  /** The responses that this process makes. */
  readonly runs: RunHost;
  /** Told of every run, for metrics, traces and the log. */
  readonly observer: RunObserver;
  /** Seals what clients carry and only this server reads. */
  readonly sealer: Sealer;
  /** Counts what keys ask and use. */
  readonly limiter: RateLimiter;
  /** Speaks answers. */
  readonly spokenOutput: SpokenOutput;
  /** Makes pictures, files and recordings fit for the model. */
  readonly media: MediaReader;
  /** How long a streamed response waits for its model server before it begins, in milliseconds. */
  readonly streamStartWaitMs: number;
  /** Whether the server is ready to serve. */
  readonly readiness: Readiness;
  /** The metrics, and whom they are shown to. */
  readonly metrics: ShownMetrics;
}

export interface Readiness {
  /** Must not throw. */
  readonly isStoreReady: () => Promise<boolean>;
  /** Whether there is room to store something. Must not throw. */
  readonly hasRoom: () => Promise<boolean>;
  /** Whether the server was told to stop. */
  readonly isLeaving: () => boolean;
  readonly model: Pick<ModelHealth, "look">;
}

export interface ShownMetrics {
  /** The metrics as they are now, in the text format of Prometheus. */
  readonly text: () => Promise<string>;
  /** Who may read them where there is no key. */
  readonly shownTo: "loopback" | "open" | "off";
  readonly key: string | null;
}
