import { setTimeout as sleep } from "node:timers/promises";
import { randomHex } from "@antiphon/base/ids.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { childrenOf } from "../../../tests/kit/processes.ts";
import { createDatabase } from "../../../tests/services/databases.ts";
import { startPostgres, whyNoPostgres } from "../../../tests/services/postgres-server.ts";
import { startRedis, whyNoRedis } from "../../../tests/services/redis-server.ts";
import { databaseOfTest, redisOfRun } from "../../../tests/services/services-of-run.ts";
import type { Broker } from "../ports.ts";
import { NotifyBroker } from "./notify-broker.ts";
import { RedisBroker } from "./redis-broker.ts";

const TIMEOUT_MS = 60_000;

/** A broker of its own, which a test can stop. */
interface OwnServer {
  readonly url: string;
  pid(): number;
  crash(): Promise<void>;
  start(): Promise<void>;
}

interface Kind {
  readonly why: string | undefined;
  /** An address where nobody answers. */
  readonly nowhere: string;
  /** The address of a server that all tests share. */
  shared(): Promise<string>;
  own(): Promise<OwnServer>;
  make(url: string, counts: Counts, namespace: string): Broker;
}

interface Counts {
  countDrop: number;
  countReconnect: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  PostgreSQL: {
    why: whyNoPostgres(),
    nowhere: "postgres://antiphon@127.0.0.1:1/none",
    shared: () => databaseOfTest(),
    own: async () => {
      const server = await startPostgres();
      onTestFinished(() => server.stop());
      return { ...boundTo(server), url: await createDatabase(server.url()) };
    },
    make: (url, counts) => new NotifyBroker({ url, observer: observerOf(counts), log: silentLogger }),
  },
  Redis: {
    why: whyNoRedis(),
    nowhere: "redis://127.0.0.1:1",
    shared: redisOfRun,
    own: async () => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      return { ...boundTo(server), url: server.url };
    },
    make: (url, counts, namespace) =>
      new RedisBroker({ url, namespace: async () => namespace, observer: observerOf(counts), log: silentLogger }),
  },
};

function boundTo(server: Omit<OwnServer, "url">): Omit<OwnServer, "url"> {
  return { pid: () => server.pid(), crash: () => server.crash(), start: () => server.start() };
}

function observerOf(counts: Counts) {
  return {
    countDrop: () => void (counts.countDrop += 1),
    countReconnect: () => void (counts.countReconnect += 1),
  };
}

interface Station {
  readonly broker: Broker;
  readonly heard: string[];
  readonly counts: Counts;
}

async function connect(kind: Kind, url: string, channels: readonly string[], namespace = "test"): Promise<Station> {
  const [heard, counts]: [string[], Counts] = [[], { countDrop: 0, countReconnect: 0 }];
  const broker = kind.make(url, counts, namespace);
  onTestFinished(() => broker.close());
  broker.open((text) => void heard.push(text));
  for (const channel of channels) broker.join(channel);
  await expect.poll(() => broker.isConnected, { timeout: 10_000 }).toBe(true);
  return { broker, heard, counts };
}

for (const [name, kind] of Object.entries(KINDS)) {
  describe.skipIf(kind.why !== undefined)(`${name} as a broker`, () => {
    test("carries texts in order to whoever has joined their channel", async () => {
      const url = await kind.shared();
      const namespace = randomHex(8);
      const one = await connect(kind, url, ["a", "b"], namespace);
      const other = await connect(kind, url, ["b"], namespace);
      const texts = Array.from({ length: 500 }, (_, number) => `${number} ü ' \\ "`);
      for (const text of texts) one.broker.send("b", text);
      one.broker.send("a", "only one");
      await expect.poll(() => other.heard).toEqual(texts);
      await expect.poll(() => one.heard).toEqual([...texts, "only one"]);
      other.broker.leave("b");
      other.broker.join("c");
      await sleep(100);
      one.broker.send("b", "late");
      one.broker.send("c", "new");
      await expect.poll(() => other.heard.slice(texts.length)).toEqual(["new"]);
    });

    test("carries texts of the size that it names, and refuses longer ones", async () => {
      const url = await kind.shared();
      const { broker, heard, counts } = await connect(kind, url, ["a"], randomHex(8));
      const text = "ü".repeat(broker.textBytesMax / 2);
      expect(broker.send("a", text)).toBe(true);
      expect(broker.send("a", `${text}x`)).toBe(false);
      await expect.poll(() => heard).toEqual([text]);
      expect(counts.countDrop).toBe(1);
    });

    test("sends what waits when it is closed", async () => {
      const url = await kind.shared();
      const namespace = randomHex(8);
      const one = await connect(kind, url, [], namespace);
      const other = await connect(kind, url, ["a"], namespace);
      one.broker.send("a", "last words");
      await one.broker.close();
      await expect.poll(() => other.heard).toEqual(["last words"]);
      expect(one.broker.isConnected).toBe(false);
      expect(one.broker.send("a", "too late")).toBe(false);
    });

    test("connects again when its server is back", { timeout: TIMEOUT_MS }, async () => {
      const server = await kind.own();
      const { broker, heard, counts } = await connect(kind, server.url, ["a"]);
      await server.crash();
      await expect.poll(() => broker.isConnected, { timeout: 10_000 }).toBe(false);
      expect(broker.send("a", "lost")).toBe(false);
      expect(counts.countDrop).toBeGreaterThan(0);
      await sleep(500);
      await server.start();
      await expect.poll(() => broker.isConnected, { timeout: 20_000 }).toBe(true);
      broker.send("a", "heard");
      await expect.poll(() => heard).toEqual(["heard"]);
      expect(counts.countReconnect).toBe(1);
    });

    test("gives up a server that does not answer, without waiting anywhere", { timeout: TIMEOUT_MS }, async () => {
      const server = await kind.own();
      const { broker } = await connect(kind, server.url, ["a"]);
      const pids = processesOf(server.pid());
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      for (let sent = 0; sent < 20_000; sent++) broker.send("a", "x".repeat(1_000));
      await expect.poll(() => broker.isConnected, { timeout: 15_000 }).toBe(false);
      for (const pid of pids) process.kill(pid, "SIGCONT");
      await expect.poll(() => broker.isConnected, { timeout: 20_000 }).toBe(true);
    });

    test("is closed at once while its server is away", async () => {
      const broker = kind.make(kind.nowhere, { countDrop: 0, countReconnect: 0 }, "test");
      broker.open(() => {});
      broker.join("a");
      expect(broker.isConnected).toBe(false);
      const before = performance.now();
      await broker.close();
      expect(performance.now() - before).toBeLessThan(5_000);
    });
  });
}

/** A process and its children. Linux only. */
function processesOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid)];
}
