import { rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { isRecord } from "@antiphon/base/json/records.ts";
import { BURDENS, type Burden, startModel } from "./burdens.ts";
import { PROBE_FLAGS, takeReport } from "./probe-report.ts";
import type { Probed } from "./probed.ts";
import { type Bench, withServer } from "./with-server.ts";

const QUIET_MS = 1_000;
const ASKED_EVERY_MS = 2;

/** The longest time in milliseconds for which the event loop may work without a turn. */
const PIECE_MS_MAX = 5;

/**
 * Measures how long `/healthz` waits while the server does long work, beside an idle server in the same run, and the
 * longest piece of work on its event loop.
 */
export async function measureResponsiveness(): Promise<void> {
  console.log(
    "\nlongest wait for /healthz, and the median: for the first such request, which finds much code cold, and for the second;" +
      ` the longest piece of work on the event loop in processor time (must: ${PIECE_MS_MAX} ms), with the garbage collections in it`,
  );
  for (const burden of BURDENS) await measure(burden);
}

async function measure(burden: Burden): Promise<void> {
  const model = await startModel(burden);
  const file = `/tmp/antiphon-responsiveness-${process.pid}.json`;
  const env = { MODEL_BASE_URL: model.url, MODEL_CONTEXT_WINDOW: "100000000", LOOP_PROBE_FILE: file };
  await withServer(
    { tokens: 1 },
    async (bench) => {
      const { server, serverUrl } = bench;
      const healthUrl = new URL("/healthz", serverUrl).href;
      await call(`${serverUrl}/responses`, server.headers, {});
      const idle = await waitsDuring(healthUrl, () => new Promise((resolve) => setTimeout(resolve, QUIET_MS)));
      const ask = await callOf(burden, bench);
      const during = async (): Promise<string> => {
        await takeReport(server, file);
        const waits = await waitsDuring(healthUrl, ask);
        return `${shown(waits)}, piece ${shownPiece(await takeReport(server, file))}`;
      };
      const first = await during();
      console.log(`  ${burden.name}: ${first}; again ${await during()}; idle ${shown(idle)}`);
    },
    { env, nodeFlags: PROBE_FLAGS },
  );
  rmSync(file, { force: true });
  model.close();
}

/** Makes the calls before the measured one. Resolves to the measured one. */
async function callOf(burden: Burden, bench: Bench): Promise<() => Promise<void>> {
  const { headers } = bench.server;
  const prepared = (await burden.prepare?.(bench)) ?? {};
  if (typeof prepared === "string") return () => call(`${bench.serverUrl}${prepared}`, headers, null, burden.status);
  const body = { ...burden.members(), ...prepared };
  return () => call(`${bench.serverUrl}${burden.path ?? "/responses"}`, headers, body, burden.status);
}

function shown({ longest, median }: { readonly longest: number; readonly median: number }): string {
  return `${longest.toFixed(0)} ms (${median.toFixed(1)} ms)`;
}

function shownPiece({ pieces, collections }: Probed): string {
  const { longestMs } = pieces;
  return `${longestMs.toFixed(1)} ms ${longestMs <= PIECE_MS_MAX ? "met" : "missed"} (garbage ${collections.longestMs.toFixed(1)} ms)`;
}

/** `members` is null for a GET. */
async function call(
  url: string,
  headers: Readonly<Record<string, string>>,
  members: object | null,
  status = 200,
): Promise<void> {
  const post = { method: "POST", body: JSON.stringify({ model: "bench", input: "Hi", ...members }) };
  const reply = await fetch(url, { headers, ...(members === null ? {} : post) });
  const text = await reply.text();
  if (reply.status !== status) console.log(`  (answered ${reply.status}: ${text.slice(0, 200)})`);
}

/** Polls from a separate thread, so that only the server's delays are measured. */
async function waitsDuring(url: string, work: () => Promise<unknown>): Promise<{ longest: number; median: number }> {
  const asking = new Worker(ASKING, { eval: true, workerData: { url, everyMs: ASKED_EVERY_MS } });
  await new Promise((resolve) => asking.once("message", resolve));
  await work();
  const told = new Promise<unknown>((resolve) => asking.once("message", resolve));
  asking.postMessage("stop");
  const waits = await told;
  if (!isRecord(waits)) throw new Error("the asking thread told nothing");
  return { longest: Number(waits["longest"]), median: Number(waits["median"]) };
}

const ASKING = `
const { parentPort, workerData } = require("node:worker_threads");
const http = require("node:http");
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let isOver = false;
parentPort.once("message", () => { isOver = true; });
const ask = () => new Promise((resolve, reject) => {
  http.get(workerData.url, { agent }, (reply) => reply.resume().once("end", resolve)).once("error", reject);
});
(async () => {
  await ask();
  parentPort.postMessage("ready");
  const waits = [];
  while (!isOver) {
    const before = performance.now();
    await ask();
    waits.push(performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, workerData.everyMs));
  }
  waits.sort((a, b) => a - b);
  parentPort.postMessage({ longest: waits.at(-1), median: waits[waits.length >> 1] });
  agent.destroy();
})();
`;
