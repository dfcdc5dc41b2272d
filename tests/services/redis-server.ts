import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { ServiceFolder } from "./service-folder.ts";

/** A Redis or Valkey server of our own, which keeps nothing on the disk. */
export interface RedisServer {
  /** Such as `redis://127.0.0.1:40123`. */
  readonly url: string;
  pid(): number;
  /** Ends it at once. All that it held is lost. */
  crash(): Promise<void>;
  /** Starts it again on the same port after `crash`. */
  start(): Promise<void>;
  /** Ends it. It also ends with this process. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** Addresses beside 127.0.0.1, such as that of a bridge. */
  readonly addresses?: readonly string[];
}

const NAMES = ["redis-server", "valkey-server"];
const START_MS_MAX = 10_000;
const LOOK_MS = 20;
/** Another program may take a port between the look and the start. */
const PORTS_TRIED_MAX = 3;

/** Starts a server on a free port. Throws where `whyNoRedis` gives a reason. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const found = program();
  if (found === undefined) throw new Error(whyNoRedis());
  const folder = new ServiceFolder("redis", tmpdir(), "KILL");
  for (let tried = 1; ; tried += 1) {
    const server = new OwnRedis(folder, found, await freePort(), options.addresses ?? []);
    try {
      await server.start();
      return server;
    } catch (error) {
      if (tried < PORTS_TRIED_MAX) continue;
      await folder.remove();
      throw error;
    }
  }
}

class OwnRedis implements RedisServer {
  readonly url: string;
  readonly #folder: ServiceFolder;
  readonly #program: string;
  readonly #port: number;
  readonly #addresses: readonly string[];
  #process: ChildProcess | undefined;

  constructor(folder: ServiceFolder, found: string, port: number, addresses: readonly string[]) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#program = found;
    this.#port = port;
    this.#addresses = addresses;
  }

  pid(): number {
    return this.#process?.pid ?? 0;
  }

  async start(): Promise<void> {
    const where = ["--port", String(this.#port), "--bind", "127.0.0.1", ...this.#addresses];
    const keep = ["--save", "", "--appendonly", "no", "--protected-mode", "no"];
    const child = this.#folder.start(this.#program, ...where, ...keep);
    this.#process = child;
    for (const end = Date.now() + START_MS_MAX; Date.now() < end && child.exitCode === null; await sleep(LOOK_MS)) {
      if (await answersPing(this.#port)) return;
    }
    throw new Error(`Redis did not start: ${this.#folder.complaints()}`);
  }

  async crash(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.ref();
    child.kill("SIGKILL");
    await exited;
  }

  stop(): Promise<void> {
    return this.#folder.remove();
  }
}

function answersPing(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  socket.setTimeout(START_MS_MAX, () => socket.destroy());
  const answered = new Promise<boolean>((resolve) => {
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", (bytes) => resolve(bytes.toString().startsWith("+PONG")));
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
  });
  return answered.finally(() => socket.destroy());
}

/**
 * Why no Redis can be started here, for people to read; `undefined` where one can. Throws instead of giving a reason
 * if `REQUIRE_POSTGRES=1`, which asks for all that tests of several machines need.
 */
export function whyNoRedis(): string | undefined {
  if (program() !== undefined) return undefined;
  const why = "Redis is not installed: apt-get install redis-server";
  if (process.env["REQUIRE_POSTGRES"] === "1") throw new Error(`REQUIRE_POSTGRES=1, but ${why}`);
  return why;
}

/** The version that `startRedis` starts, such as `7.0.15`. */
export function redisVersion(): string {
  return /v=([\d.]+)/.exec(execFileSync(program() ?? "", ["--version"], { encoding: "utf8" }))?.[1] ?? "unknown";
}

function program(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).concat("/usr/bin");
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}
