import { setTimeout as sleep } from "node:timers/promises";
import { modelHealth, PartHealth, type PartState } from "@antiphon/domain/part-health.ts";
import type { Config } from "../../config/load-config.ts";
import type { Readiness } from "../../responses-api/operations/get-readiness.ts";
import type { ConfiguredStore } from "../open-configured-store.ts";
import type { ChosenModel } from "./choose-model.ts";

/**
 * The timeout of PostgreSQL in milliseconds. Load balancers and Kubernetes wait about two seconds, and take a server
 * for dead if it does not say in time what is missing.
 */
const DATABASE_MS_MAX = 1_500;

interface ReadinessParts extends Pick<Readiness, "code"> {
  /** Aborts when the server begins to stop. */
  readonly stopping: AbortSignal;
  readonly store: Pick<ConfiguredStore, "isReady" | "hasRoom" | "reachesFiles">;
  readonly model: Pick<ChosenModel, "engine" | "servers" | "embedded">;
  /** Null if this server has no bus. */
  readonly neighbours: { readonly isConnected: boolean } | null;
}

/** The checks of `/readyz`. */
export function chooseReadiness(
  config: Config,
  { store, model, neighbours, stopping, code }: ReadinessParts,
): Readiness {
  const files = filesHealth(store);
  return {
    isStoreReady: config.databaseUrl === null ? () => store.isReady() : inTime(() => store.isReady()),
    hasRoom: () => store.hasRoom(),
    isLeaving: () => stopping.aborted,
    model: modelHealth(() => model.servers?.table.servers.map(({ engine }) => engine) ?? [model.engine]),
    ownModel: model.embedded === null ? null : embeddedState(model.embedded),
    elsewhere: () => ({
      ...(config.databaseUrl === null || neighbours === null ? {} : { broker: brokerState(neighbours.isConnected) }),
      ...(files === null ? {} : { files: files.look() }),
    }),
    code,
  };
}

function embeddedState(model: { readonly isReady: boolean }): () => PartState {
  return () => (model.isReady ? "ok" : "unavailable");
}

function brokerState(isConnected: boolean): PartState {
  return isConnected ? "ok" : "unavailable";
}

function filesHealth({ reachesFiles }: Pick<ConfiguredStore, "reachesFiles">): PartHealth | null {
  return reachesFiles === null ? null : new PartHealth(reachesFiles);
}

/** A timeout counts as false. Concurrent calls share one check. */
function inTime(ask: () => Promise<boolean>): () => Promise<boolean> {
  let check: Promise<boolean> | null = null;
  return async () => {
    check ??= ask().finally(() => {
      check = null;
    });
    const outOfTime = new AbortController();
    const late = sleep(DATABASE_MS_MAX, false, { signal: outOfTime.signal }).catch(() => false);
    return await Promise.race([check, late]).finally(() => outOfTime.abort());
  };
}
