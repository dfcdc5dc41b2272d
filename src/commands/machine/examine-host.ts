import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Config } from "../../config/load-config.ts";
import { type MachineLine, worksLine } from "./machine-line.ts";

const MEGABYTE = 1e6;
const GIGABYTE = 1e9;
/** Below this, uploads and the first speech model may not fit. */
const DISK_BYTES_MIN = 2 * GIGABYTE;
/** What docs/sizes.md asks for. */
const MEMORY_BYTES_MIN = GIGABYTE;
/** What a server takes at rest, and a little more. */
const MEMORY_BYTES_LEAST = 256 * MEGABYTE;
const CLOCK_MS_MAX = 30_000;
const ASK_MS_MAX = 2000;
const PORT_STEP = 1000;
const PORT_MAX = 65_535;
/** Permissions of a file for its owner and nobody else. */
const OTHERS_MASK = 0o077;

/** Disk, memory, ports, clock and keys of this machine, as far as the settings need them. Never rejects. */
export async function examineHost(config: Config, modelUrls: readonly string[]): Promise<readonly MachineLine[]> {
  return [
    disk(config),
    memory(),
    await port("port of the API", { host: config.host, port: config.port, name: "PORT" }),
    await port("port for speech", { host: "127.0.0.1", port: config.sttPort, name: "STT_PORT" }),
    await clock(config, modelUrls),
    keys(config),
  ];
}

function disk({ dataDir }: Config): MachineLine {
  const part = "disk";
  const folder = nearestFolder(resolve(dataDir));
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const text = `${((bavail * bsize) / GIGABYTE).toFixed(1)} GB free at ${folder}`;
    if (bavail * bsize >= DISK_BYTES_MIN) return worksLine(part, text);
    return { part, state: "reduced", text, cure: "RESPONSES_TTL, or DATA_DIR on a larger disk" };
  } catch {
    return { part, state: "fails", text: `${folder} cannot be written`, cure: "DATA_DIR" };
  }
}

/** The folder, or the nearest one above it that is there. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

function memory(): MachineLine {
  const part = "memory";
  const bytes = process.availableMemory();
  const text = `${(bytes / GIGABYTE).toFixed(1)} GB free`;
  if (bytes >= MEMORY_BYTES_MIN) return worksLine(part, text);
  const cure = "end other programs, or lower RUNS_MAX and INCOMING_BYTES_MAX";
  if (bytes < MEMORY_BYTES_LEAST) return { part, state: "fails", text: `${text}; a server takes 150 MB at rest`, cure };
  return { part, state: "reduced", text: `${text}; bursts of streams take 400 to 630 MB`, cure };
}

interface Place {
  readonly host: string;
  /** 0 if the system chooses one. */
  readonly port: number;
  /** The setting of the port. */
  readonly name: string;
}

async function port(part: string, { host, port: number, name }: Place): Promise<MachineLine> {
  if (number === 0) return worksLine(part, "the system chooses one");
  const fault = await listenFault(host, number);
  if (fault === null) return worksLine(part, `${number} of ${host} is free`);
  const other = number + PORT_STEP <= PORT_MAX ? number + PORT_STEP : number - PORT_STEP;
  if (fault !== "EADDRINUSE")
    return { part, state: "fails", text: `${number} of ${host} cannot be opened: ${fault}`, cure: `${name}=${other}` };
  if (await isAntiphon(host, number)) return worksLine(part, `an Antiphon serves ${number} of ${host}`);
  return { part, state: "fails", text: `another program has ${number} of ${host}`, cure: `${name}=${other}` };
}

/** The code of the error when a server listens there; null if it can. */
function listenFault(host: string, number: number): Promise<string | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", (error) => done("code" in error ? String(error.code) : error.message));
    server.listen(number, host, () => server.close(() => done(null)));
  });
}

async function isAntiphon(host: string, number: number): Promise<boolean> {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const origin = `http://${name.includes(":") ? `[${name}]` : name}:${number}`;
  try {
    const reply = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(ASK_MS_MAX) });
    const body: unknown = await reply.json();
    return reply.ok && isRecord(body) && isRecord(body["checks"]);
  } catch {
    return false;
  }
}

/** Compares the clock with those of model servers, and with the newest file that this server wrote. */
async function clock(config: Config, modelUrls: readonly string[]): Promise<MachineLine> {
  const part = "clock";
  const cure = "sudo timedatectl set-ntp true";
  const aheadMs = newestFileMs(config.dataDir) - Date.now();
  if (aheadMs > CLOCK_MS_MAX)
    return { part, state: "fails", text: `it was set back: files of DATA_DIR are ${seconds(aheadMs)} s newer`, cure };
  for (const url of modelUrls) {
    const offMs = await differenceMs(url);
    if (offMs !== null && Math.abs(offMs) > CLOCK_MS_MAX)
      return { part, state: "reduced", text: `${seconds(Math.abs(offMs))} s from that of ${new URL(url).host}`, cure };
  }
  return worksLine(part, new Date().toISOString());
}

function newestFileMs(folder: string): number {
  try {
    const times = readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs);
    return Math.max(0, ...times);
  } catch {
    return 0;
  }
}

/** How much the clock of a server is ahead of this one; null if it does not say. */
async function differenceMs(url: string): Promise<number | null> {
  try {
    const reply = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(ASK_MS_MAX) });
    const theirs = Date.parse(reply.headers.get("date") ?? "");
    return Number.isNaN(theirs) ? null : theirs - Date.now();
  } catch {
    return null;
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

function keys({ apiKeys, dataDir, databaseUrl, sealKeys }: Config): MachineLine {
  const part = "keys";
  if (databaseUrl !== null && sealKeys.length === 0)
    return {
      part,
      state: "fails",
      text: "servers of one database need the same SEAL_KEYS",
      cure: 'SEAL_KEYS="$(openssl rand -hex 32)"',
    };
  if (apiKeys.length > 0) return worksLine(part, `${apiKeys.length} of API_KEYS`);
  const file = join(dataDir, "api-key");
  if (!existsSync(file)) return worksLine(part, `made at the first start, or stored; antiphon keys list shows them`);
  const others = statSync(file).mode & OTHERS_MASK;
  if (others === 0) return worksLine(part, `the first one is in ${file}`);
  return { part, state: "reduced", text: `others than you can read ${file}`, cure: `chmod 600 ${file}` };
}
