import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createDatabase, type DatabaseTemplate, dropDatabase } from "./databases.ts";
import { type PostgresOptions, type PostgresServer, startPostgres, whyNoPostgres } from "./postgres-server.ts";
import { startRedis, whyNoRedis } from "./redis-server.ts";
import { databaseOfTest, redisOfRun } from "./services-of-run.ts";

const START = new URL("start-service.fixture.ts", import.meta.url);

describe.skipIf(whyNoPostgres() !== undefined)("PostgreSQL", () => {
  test("gives each test a database of its own, made from a template that is prepared once", async () => {
    const prepare = vi.fn<DatabaseTemplate["prepare"]>();
    prepare.mockImplementation(async (url) => void (await query(url, "create table notes (text text)")));
    const template = { name: "notes_template", prepare };
    const [one, other] = await Promise.all([databaseOfTest(template), databaseOfTest(template)]);
    await query(one, "insert into notes values ('mine')");
    expect(await query(one, "select text from notes")).toEqual([{ text: "mine" }]);
    expect(await query(other, "select text from notes")).toEqual([]);
    expect(prepare.mock.calls.length).toBeLessThanOrEqual(1); // A second run in watch mode finds it there.
  });

  test("removes a database although somebody is connected to it", async () => {
    const server = await ownPostgres();
    const url = await createDatabase(server.url());
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    await dropDatabase(url);
    await expect(query(url, "select 1")).rejects.toThrow(/does not exist/);
  });

  test("keeps what was committed through a crash when it waits for the disk", async () => {
    const server = await ownPostgres({ fsync: true });
    const url = await createDatabase(server.url());
    await query(url, "create table notes (text text)");
    await query(url, "insert into notes values ('kept')");
    await server.crash();
    await expect(query(url, "select 1")).rejects.toThrow(/ECONNREFUSED/);
    await server.start();
    expect(await query(url, "select text, current_setting('fsync') as fsync from notes")).toEqual([
      { text: "kept", fsync: "on" },
    ]);
  });

  test("ends, and leaves no files, when the process that started it is killed", async () => {
    let folder = "/";
    await checkEndsWithParent("postgres", async (url) => {
      const [row] = await query(url, "select current_setting('data_directory') as folder");
      folder = String(Object(row).folder);
    });
    await expect.poll(() => existsSync(folder)).toBe(false);
  });
});

describe.skipIf(whyNoRedis() !== undefined)("Redis", () => {
  test("is one server for all tests of a run", async () => {
    const [one, other] = await Promise.all([redisOfRun(), redisOfRun()]);
    expect(one).toBe(other);
    expect(await isReachable(one)).toBe(true);
  });

  test("starts again on its port after a crash", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    await server.crash();
    expect(await isReachable(server.url)).toBe(false);
    await server.start();
    expect(await isReachable(server.url)).toBe(true);
  });

  test("ends when the process that started it is killed", async () => {
    await checkEndsWithParent("redis");
  });
});

async function checkEndsWithParent(
  name: "postgres" | "redis",
  before: (url: string) => Promise<void> = async () => {},
): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(START), name]);
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stderr.pipe(process.stderr);
  const [line] = await once(child.stdout, "data");
  const url = String(line).trim();
  expect(await isReachable(url)).toBe(true);
  await before(url);
  child.kill("SIGKILL");
  await expect.poll(() => isReachable(url), { timeout: 40_000 }).toBe(false);
}

async function ownPostgres(options?: PostgresOptions): Promise<PostgresServer> {
  const server = await startPostgres(options);
  onTestFinished(() => server.stop());
  return server;
}

async function query(url: string, text: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Leaves at once: PostgreSQL does not end while somebody is connected who has not said a word. */
async function isReachable(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const isConnected = await new Promise<boolean>((resolve) =>
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false)),
  );
  socket.destroy();
  return isConnected;
}
