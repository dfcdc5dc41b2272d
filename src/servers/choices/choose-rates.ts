import type { Logger } from "@antiphon/base/logger.ts";
import type { RateLimiter } from "@antiphon/domain/rates.ts";
import type { StreamRates } from "@antiphon/speech/cloud-stt/ports.ts";
import { findNamespace } from "../../bus/brokers/find-namespace.ts";
import type { Config } from "../../config/load-config.ts";
import type { JoinedProcess } from "../../processes/joined-process.ts";
import { ClusterRates } from "../../rate-limits/cluster-rates.ts";
import { ClusterStreamRates } from "../../rate-limits/cluster-stream-rates.ts";
import { CountBatches } from "../../rate-limits/count-batches.ts";
import { MinuteRates } from "../../rate-limits/minute-rates.ts";
import type { CommonCounts } from "../../rate-limits/ports.ts";
import { SharedRates } from "../../rate-limits/shared-rates.ts";
import { MemoryStreamRates } from "../../rate-limits/stream-rates.ts";
import type { Store } from "../../store/open-store.ts";
import { PostgresCounts } from "../../store/stores/rate-counts.ts";

/** A rate counter and its connections. */
export interface Chosen<Rates> {
  readonly rates: Rates;
  close(): Promise<void>;
}

/** The interval of counting live servers. */
const LOOK_MS = 10_000;

/** Chooses who counts rates, by RATE_LIMITS: all servers of the database, or the processes of this server. */
export async function chooseRates(
  config: Config,
  {
    store,
    joinedProcess,
  }: { readonly store: Pick<Store, "countWorkers">; readonly joinedProcess: JoinedProcess | null },
  log: Logger,
): Promise<Chosen<RateLimiter>> {
  const limits = { requests: config.rateLimitRequestsPerMinute, tokens: config.rateLimitTokensPerMinute };
  const counts = await commonCounts(config, log);
  if (counts !== null) {
    const living = watchLiving(store);
    const rates = new ClusterRates(limits, counts, () => living.count());
    const close = async (): Promise<void> => {
      living.stop();
      await counts.close();
    };
    return { rates, close };
  }
  if (joinedProcess === null) return { rates: new MinuteRates(limits), close: async () => {} };
  const rates = new SharedRates(limits, joinedProcess);
  joinedProcess.accept({ recall: (place) => rates.recall(place) });
  return { rates, close: async () => {} };
}

/** The same for speech streams. */
export async function chooseStreamRates(config: Config, log: Logger): Promise<Chosen<StreamRates>> {
  const limits = {
    streamsPerMinute: config.sttCloudStreamsPerMinute,
    soundSecondsPerMinute: config.sttCloudAudioSecondsPerMinute,
    waitMs: config.sttCloudRateLimitWaitMs,
  };
  const counts = await commonCounts(config, log);
  return counts === null
    ? { rates: new MemoryStreamRates(limits), close: async () => {} }
    : { rates: new ClusterStreamRates(limits, counts), close: () => counts.close() };
}

/** Null if each server counts for itself. */
async function commonCounts({ rateLimits, databaseUrl, busUrl }: Config, log: Logger): Promise<CountBatches | null> {
  if (databaseUrl === null || rateLimits === "node") return null;
  const database = databaseUrl.reveal();
  const counts = busUrl === null ? new PostgresCounts(database) : await redisCounts(busUrl.reveal(), database);
  const where = busUrl === null ? "PostgreSQL" : "the broker of BUS_URL";
  return new CountBatches(counts, {
    away: (error) => log.warn({ err: error }, `${where} does not count rates: each server allows its share`),
    back: () => log.info({}, `${where} counts rates again`),
  });
}

/** Loads the Redis client, which has 500 modules, only if it is used. */
async function redisCounts(url: string, database: string): Promise<CommonCounts> {
  const { RedisCounts } = await import("../../rate-limits/redis-counts.ts");
  return new RedisCounts(url, () => findNamespace(database));
}

/** If the database does not respond, the last known number is used. */
function watchLiving(store: Pick<Store, "countWorkers">): { count(): number; stop(): void } {
  let count = 1;
  const look = async (): Promise<void> => {
    count = Math.max(1, await store.countWorkers().catch(() => count));
  };
  void look();
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return { count: () => count, stop: () => clearInterval(timer) };
}
