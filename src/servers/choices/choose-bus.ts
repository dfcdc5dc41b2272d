import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import { findNamespace } from "../../bus/brokers/find-namespace.ts";
import { NotifyBroker } from "../../bus/brokers/notify-broker.ts";
import { writeMessage } from "../../bus/bus-message.ts";
import { type Broker, type BusObserver, EVERYONE, silentBusObserver } from "../../bus/ports.ts";
import { RunBus, type RunBusParts } from "../../bus/run-bus.ts";
import type { Config } from "../../config/load-config.ts";
import type { JoinedProcess } from "../../processes/joined-process.ts";
import { ProcessBroker } from "../../processes/process-broker.ts";

/** How long a command waits for a broker. */
const CONNECT_WAITS_MAX = 50;
const CONNECT_WAIT_MS = 20;

/** What the bus needs besides its broker. */
export interface BusFoundations extends Omit<RunBusParts, "broker" | "log"> {
  /** Null if this process serves alone. */
  readonly joinedProcess: JoinedProcess | null;
}

/** The bus to the other processes that share the database; null if none of them can be reached. */
export async function chooseBus(
  config: Config,
  { joinedProcess, ...parts }: BusFoundations,
  log: Logger,
): Promise<RunBus | null> {
  const network = await networkBroker(config, parts.observer, log);
  const broker = network ?? (joinedProcess === null ? null : new ProcessBroker(joinedProcess));
  return broker === null ? null : new RunBus({ ...parts, broker, log });
}

/**
 * Notifies all servers of the database of changed keys, unless it takes long. Without it, they notice by themselves.
 */
export async function tellKeysChanged(config: Config): Promise<void> {
  const broker = await networkBroker(config, silentBusObserver, silentLogger);
  if (broker === null) return;
  broker.open(() => {});
  for (let waits = 0; waits < CONNECT_WAITS_MAX && !broker.isConnected; waits += 1) await sleep(CONNECT_WAIT_MS);
  broker.send(EVERYONE, writeMessage({ type: "keys" }));
  await broker.close();
}

/** The broker between machines; null with SQLite, which only one machine serves. */
async function networkBroker(
  { databaseUrl, busUrl }: Config,
  observer: BusObserver,
  log: Logger,
): Promise<Broker | null> {
  if (databaseUrl === null) return null;
  const database = databaseUrl.reveal();
  if (busUrl === null) return new NotifyBroker({ url: database, observer, log });
  const { RedisBroker } = await import("../../bus/brokers/redis-broker.ts"); // The client has 500 modules.
  return new RedisBroker({ url: busUrl.reveal(), namespace: () => findNamespace(database), observer, log });
}
