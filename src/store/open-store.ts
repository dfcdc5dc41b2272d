import type { BatchStore } from "@antiphon/domain/batches/batches.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { ConversationStore } from "@antiphon/domain/conversations.ts";
import type { CreateKeyStore } from "@antiphon/domain/create-keys.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { EffectStore, ExchangeStore, RefusalStore, ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { KeyStore } from "@antiphon/domain/keys.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import type { Skills } from "@antiphon/domain/skills/skills.ts";
import type { SteerStore } from "@antiphon/domain/steering/steers.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import type { UsageStore } from "@antiphon/domain/usage.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { WebhookStore } from "@antiphon/domain/webhooks.ts";
import type { StoredContainers } from "@antiphon/sandbox/ports/stored-containers.ts";
import { Kysely } from "kysely";
import type { EventLog } from "../runs/ports/event-log.ts";
import type { RunLedger } from "../runs/ports/run-ledger.ts";
import type { RunPlaces } from "../runs/reading/neighbours.ts";
import type { IngestQueue } from "../vector-stores/ports/ingest.ts";
import type { ChunkFinder } from "../vector-stores/ports/search.ts";
import type { VectorRenewal } from "../vector-stores/ports/vectors.ts";
import type { Database } from "./database/schema.ts";
import type { DatabaseCalls } from "./owner/database-calls.ts";
import { type LaneLoad, type PostgresOptions, PostgresOwner } from "./owner/postgres/postgres-owner.ts";
import { remoteDialect } from "./owner/thread/remote-dialect.ts";
import type { DatabaseOptions } from "./owner/thread/sqlite-owner.ts";
import { StoreClient } from "./owner/thread/store-client.ts";
import type { Erasure } from "./owner/upkeep/erasure.ts";
import type { Expiry } from "./owner/upkeep/expiry.ts";
import { LEASE_MS } from "./owner/workers/worker-lease.ts";
import { ChunkSearch } from "./search/chunk-search.ts";
import { SqliteChunkIndex } from "./search/sqlite-chunk-index.ts";
import { ThreadedSearch } from "./search/threaded-search.ts";
import { VectorCache } from "./search/vector-scores.ts";
import { folderOf, isInMemory, type RedoLogs, redoLogsOf } from "./store-folders.ts";
import { storedBatches } from "./stores/batches/batch-store.ts";
import { ContainerFileWriter } from "./stores/containers/container-file-writer.ts";
import { ContainerFolder } from "./stores/containers/container-folder.ts";
import { ContainerStore } from "./stores/containers/container-store.ts";
import { SessionContainers } from "./stores/containers/session-containers.ts";
import { StoredConversations } from "./stores/conversation-store.ts";
import { StoredCreateKeys } from "./stores/create-key-store.ts";
import type { ContainerBytes, FileBytes } from "./stores/files/file-bytes.ts";
import { FileFolder } from "./stores/files/file-folder.ts";
import { StoredFiles } from "./stores/files/file-store.ts";
import { StoredEffects } from "./stores/inspection/effect-store.ts";
import { StoredExchanges } from "./stores/inspection/exchange-store.ts";
import { StoredRefusals } from "./stores/inspection/refusal-store.ts";
import { StoredArchive } from "./stores/inspection/response-archive.ts";
import { StoredKeys } from "./stores/key-store.ts";
import { findLivingWorkers } from "./stores/living-workers.ts";
import { StoredResponses } from "./stores/response-store.ts";
import type { CommitReport } from "./stores/runs/commit-queue.ts";
import { StoredEventLog } from "./stores/runs/event-log.ts";
import { PatientWrites } from "./stores/runs/patient-writes.ts";
import { RunCommits } from "./stores/runs/run-commits.ts";
import { type ClaimObserver, StoredRunLedger } from "./stores/runs/run-ledger.ts";
import { StoredRunPlaces } from "./stores/runs/run-places.ts";
import { SettledCalls } from "./stores/runs/settled-calls.ts";
import { StoredSkills } from "./stores/skills/skill-store.ts";
import { StoredSteers } from "./stores/steers/steer-store.ts";
import { StoredQuota } from "./stores/storage-quota.ts";
import { StoredToolLedger } from "./stores/tool-ledger.ts";
import { StoredUsage } from "./stores/usage/usage-store.ts";
import { StoredChunkFinder } from "./stores/vector-stores/chunk-finder.ts";
import { StoredIngestQueue } from "./stores/vector-stores/ingest-queue.ts";
import { StoredVectorRenewal } from "./stores/vector-stores/vector-renewal.ts";
import { StoredVectorStores } from "./stores/vector-stores/vector-store-store.ts";
import { StoredWebhooks } from "./stores/webhooks/delivery-queue.ts";

/**
 * The shortest time between two commits of appended events, in milliseconds. Live readers wait up to this long, and all
 * runs share a commit.
 */
const COMMIT_INTERVAL_MS = 0;
const LOCK_WAIT_MS = 10_000;
const CONTEXT_BYTES_MAX = 64 * 1024 * 1024;
const VECTOR_CACHE_BYTES = 256 * 1024 * 1024;
const CONTAINER_BYTES_MAX = 500_000_000;
const CONTAINER_FILE_BYTES_MAX = 100 * 1024 * 1024;
const CONTAINER_FILES_MAX = 1000;
const CONTAINER_MINUTES_UNUSED = 20;

const CONNECTIONS_MAX = 8;
const DATABASE_TIMEOUT_MS = 5_000;

export interface StoreOptions {
  /** Path of the database, or `:memory:`. The file and its folder are created if missing. */
  readonly file: string;
  /** The folder of uploaded files. Default: `files` beside the database, or a temporary folder for `:memory:`. */
  readonly filesFolder?: string;
  /** The folder of container files. Default: `containers` beside the database, or a temporary folder. */
  readonly containersFolder?: string;
  /** The storage of file contents, if not in these folders. */
  readonly elsewhere?: { readonly files: FileBytes; readonly containers: ContainerBytes } | null;
  /** A `postgres://` address. If set, `file` only determines the default folders. */
  readonly databaseUrl?: string | undefined;
  /** Connections to PostgreSQL besides one for commits and one for the lease. */
  readonly connectionsMax?: number;
  /** The time limit in PostgreSQL for a statement and for the wait for a connection, in milliseconds. */
  readonly databaseTimeoutMs?: number;
  /** How long a process that does not renew its lease keeps its runs, in milliseconds. Only with PostgreSQL. */
  readonly leaseMs?: number;
  /** Whether to migrate the tables in PostgreSQL; if not, a store with older tables does not open. Default: yes. */
  readonly migrates?: boolean;
  readonly commitIntervalMs?: number;
  /**
   * Whether changes of runs are first written to a redo log beside the database. Default: yes; never for PostgreSQL, in
   * memory, or with `sync: "full"`.
   */
  readonly usesRedoLog?: boolean;
  /** How long a write waits for a lock of another process, in milliseconds. */
  readonly lockWaitMs?: number;
  /** `full`: a commit waits for the disk. `normal`: a power failure can lose the latest commits. */
  readonly sync?: "normal" | "full";
  /** The maximum bytes of stored items that one request may load: a chain, a conversation, or referenced items. */
  readonly contextBytesMax?: number;
  /** The maximum stored bytes per owner. Absent or 0: no limit. */
  readonly ownerBytesMax?: number;
  /** The maximum bytes of stored exchanges per owner; the oldest are removed first. Absent or 0: no limit. */
  readonly ownerExchangeBytesMax?: number;
  /** The maximum bytes of the vector stores of one owner. Absent or 0: no limit. */
  readonly vectorStoreBytesMax?: number;
  /** The maximum bytes of vectors cached in memory for searches. */
  readonly vectorCacheBytes?: number;
  /** The maximum bytes of the files of one container. */
  readonly containerBytesMax?: number;
  /** Minutes without use after which a container expires, unless its request sets a time. */
  readonly containerMinutesUnused?: number;
  /** The maximum number of unexpired containers per owner. Absent or 0: no limit. */
  readonly ownerContainersMax?: number;
  /** The maximum bytes of the files of all containers of one owner. Absent or 0: no limit. */
  readonly ownerContainerBytesMax?: number;
  /** Called when files to ingest were added to a vector store. */
  readonly onFilesWaiting?: () => void;
  readonly onCommit?: (commit: CommitReport) => void;
  /** Observes runs that no server makes. */
  readonly claims?: ClaimObserver;
  /** Called if the store thread ended and cannot be restarted. By default, ends the process with the error. */
  readonly onLost?: (error: Error) => void;
}

export interface Store {
  readonly responses: ResponseStore;
  readonly archive: ResponseArchive;
  readonly exchanges: ExchangeStore;
  readonly refusals: RefusalStore;
  readonly effects: EffectStore;
  readonly conversations: ConversationStore;
  readonly events: EventLog;
  readonly ledger: RunLedger;
  readonly places: RunPlaces;
  readonly files: FileStore;
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  readonly createKeys: CreateKeyStore;
  readonly expiry: Expiry;
  readonly erasure: Erasure;
  readonly quota: StorageQuota;
  readonly tools: ToolLedger;
  readonly vectorStores: VectorStores;
  readonly ingestQueue: IngestQueue;
  readonly vectorRenewal: VectorRenewal;
  readonly chunks: ChunkFinder;
  readonly skills: Skills;
  readonly webhooks: WebhookStore;
  readonly batches: BatchStore;
  readonly steers: SteerStore;
  readonly containers: Containers;
  /** The same containers, for sessions that run code. */
  readonly sessionContainers: StoredContainers;
  /** The number of live processes that use the database, this one included. */
  countWorkers(): Promise<number>;
  /** Whether the database responds and is undamaged. */
  isReady(): Promise<boolean>;
  /** Whether there is room to store something. */
  hasRoom(): Promise<boolean>;
  /** The load of the connections to PostgreSQL. */
  lanes(): readonly LaneLoad[];
  /** Commits waiting jobs, then closes the database. */
  close(): Promise<void>;
}

/** Opens PostgreSQL, or SQLite in its own thread, so that no statement blocks the event loop. */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.databaseUrl !== undefined) {
    const owner = await PostgresOwner.open(postgresOptions(options.databaseUrl, options));
    return { ...(await assembleStore(owner, options, { db: owner.db })), lanes: () => owner.lanes() };
  }
  const client = await StoreClient.open(databaseOptions(options), options.onLost ?? throwLater);
  return await assembleStore(client, options, { redoLogs: redoLogsOf(client, options) });
}

function settledCalls(owner: DatabaseCalls, commits: RunCommits, { others }: RedoLogs): DatabaseCalls {
  return new SettledCalls(owner, {
    settle: () => commits.settle(),
    isUnstored: (responseId) => commits.isUnstored(responseId),
    settleOthers: () => others.settle(),
  });
}

interface StoreParts {
  /** For single statements. By default, they are sent to the owner. */
  readonly db?: Kysely<Database>;
  /** Null by default: each change of a run waits for its commit. */
  readonly redoLogs?: RedoLogs | null;
}

/** Assembles the store around its database owner. */
export async function assembleStore(
  owner: DatabaseCalls,
  options: StoreOptions,
  { db: ownDb, redoLogs = null }: StoreParts = {},
): Promise<Store> {
  const { commitIntervalMs: intervalMs = COMMIT_INTERVAL_MS, onCommit } = options;
  const onNews = (): void => [webhooks.queue, steers].forEach((told) => told.tell());
  const commits = new RunCommits({ calls: owner, redoLog: redoLogs?.own ?? null, intervalMs, onCommit, onNews });
  const calls = redoLogs === null ? owner : settledCalls(owner, commits, redoLogs);
  const db = ownDb ?? new Kysely<Database>({ dialect: remoteDialect(calls) });
  const webhooks = new StoredWebhooks(db, calls);
  const steers = new StoredSteers(db);
  const { contextBytesMax = CONTEXT_BYTES_MAX, ownerBytesMax = 0, vectorStoreBytesMax = 0 } = options;
  const chunks = new StoredChunkFinder(db, searchOf(db, options));
  const onWaiting = options.onFilesWaiting ?? (() => {});
  const quota = new StoredQuota(db, ownerBytesMax);
  const folder = new FileFolder(folderOf(options, "files"));
  const files = new StoredFiles(db, calls, options.elsewhere?.files ?? folder, quota);
  const containerParts = containersOf(db, calls, { files, quota }, options);
  const patient = new PatientWrites(options.leaseMs ?? LEASE_MS);
  await folder.removeAbandoned();
  // Each sweep of expired files retries and reports the error.
  for (const part of [files, containerParts.writer]) await part.removeLeftovers().catch(() => {});
  return {
    responses: new StoredResponses(db, commits, contextBytesMax),
    ...inspectionOf(db, options),
    conversations: new StoredConversations(db, commits, quota, contextBytesMax),
    events: new StoredEventLog(db, commits, calls, patient),
    ledger: new StoredRunLedger(db, commits, calls, options.claims),
    places: new StoredRunPlaces(db, calls, redoLogs?.others ?? null),
    files,
    keys: new StoredKeys(db),
    usage: new StoredUsage(db),
    createKeys: new StoredCreateKeys(db, calls),
    expiry: calls,
    erasure: calls,
    quota,
    tools: new StoredToolLedger(db, commits, patient),
    vectorStores: new StoredVectorStores(db, calls, { ownerBytesMax: vectorStoreBytesMax, onWaiting }),
    ingestQueue: new StoredIngestQueue(db, calls, {
      ownerBytesMax: vectorStoreBytesMax,
      mergesWords: options.databaseUrl === undefined,
    }),
    vectorRenewal: new StoredVectorRenewal(db, calls),
    chunks,
    skills: new StoredSkills(db, { calls, quota }),
    webhooks,
    batches: storedBatches(db, calls, onNews),
    steers,
    containers: containerParts.containers,
    sessionContainers: containerParts.sessionContainers,
    countWorkers: async () => (await findLivingWorkers(db, calls)).size,
    isReady: () => calls.isSound().catch(() => false),
    hasRoom: () => folder.hasRoom(),
    lanes: () => [],
    close: async () => {
      for (const part of [chunks, commits, calls]) await part.close();
      if (isInMemory(options)) await Promise.all([folder.removeAll(), containerParts.folder.removeAll()]);
    },
  };
}

/** The operators' view of responses. */
function inspectionOf(
  db: Kysely<Database>,
  { ownerExchangeBytesMax = 0 }: StoreOptions,
): Pick<Store, "archive" | "exchanges" | "refusals" | "effects"> {
  return {
    archive: new StoredArchive(db),
    exchanges: new StoredExchanges(db, ownerExchangeBytesMax),
    refusals: new StoredRefusals(db),
    effects: new StoredEffects(db),
  };
}

/** Containers, and the writer of their files. */
function containersOf(
  db: Kysely<Database>,
  calls: DatabaseCalls,
  { files, quota }: { readonly files: FileStore; readonly quota: StoredQuota },
  options: StoreOptions,
) {
  const limits = {
    containerBytesMax: options.containerBytesMax ?? CONTAINER_BYTES_MAX,
    fileBytesMax: CONTAINER_FILE_BYTES_MAX,
    filesMax: CONTAINER_FILES_MAX,
    containersMax: options.ownerContainersMax ?? 0,
    ownerBytesMax: options.ownerContainerBytesMax ?? 0,
  };
  const folder = new ContainerFolder(folderOf(options, "containers"));
  const bytes = options.elsewhere?.containers ?? folder;
  const writer = new ContainerFileWriter(db, calls, { bytes, quota, limits });
  const minutesUnused = options.containerMinutesUnused ?? CONTAINER_MINUTES_UNUSED;
  const containers = new ContainerStore(db, { calls, files, writer, bytes, limits, minutesUnused });
  return { containers, folder, writer, sessionContainers: new SessionContainers(db, containers, writer) };
}

export function databaseOptions({ file, lockWaitMs, sync, ownerBytesMax = 0 }: StoreOptions): DatabaseOptions {
  return { file, lockWaitMs: lockWaitMs ?? LOCK_WAIT_MS, sync: sync ?? "normal", countsUsage: ownerBytesMax > 0 };
}

function postgresOptions(url: string, options: StoreOptions): PostgresOptions {
  const { connectionsMax = CONNECTIONS_MAX, databaseTimeoutMs = DATABASE_TIMEOUT_MS, leaseMs = LEASE_MS } = options;
  const countsUsage = (options.ownerBytesMax ?? 0) > 0;
  return {
    migrates: options.migrates ?? true,
    url,
    poolMax: connectionsMax,
    timeoutMs: databaseTimeoutMs,
    leaseMs,
    countsUsage,
  };
}

/** Searches run in their own threads, but a database in memory can only be read in this one. */
function searchOf(db: Kysely<Database>, options: StoreOptions): ThreadedSearch | ChunkSearch {
  const { file, databaseUrl, vectorCacheBytes: vectorBytesMax = VECTOR_CACHE_BYTES } = options;
  if (databaseUrl !== undefined) {
    const { url, timeoutMs } = postgresOptions(databaseUrl, options);
    const module = new URL("./search/postgres/postgres-search-worker.ts", import.meta.url);
    return new ThreadedSearch(module, { database: { url, timeoutMs }, vectorBytesMax });
  }
  if (isInMemory(options)) return new ChunkSearch(db, new SqliteChunkIndex(db), new VectorCache(vectorBytesMax));
  const module = new URL("./search/search-worker.ts", import.meta.url);
  return new ThreadedSearch(module, { database: file, vectorBytesMax });
}

function throwLater(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
