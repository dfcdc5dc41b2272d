import { type ClientRequest, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { residentBytes } from "./processes.ts";
import { explainRefusal } from "./stream-client.ts";
import { withServer } from "./with-server.ts";

const STREAMS = 3000;
const TARGET_KB = 40;
const SETTLE_MS = 3000;
/** Opened and closed before measuring, so that caches are full and code is compiled. */
const WARM_UP_STREAMS = 3000;
const WARM_UP_AT_ONCE = 8;
/** Opened in batches, so that the memory for opening a stream is not counted as memory of an open one. */
const OPENED_AT_ONCE = 100;

/** Measures the memory of an open, idle stream. */
export async function measureMemory(): Promise<void> {
  await withServer(
    { tokens: 1, hangs: true },
    async ({ serverUrl, headers, server, upstream }) => {
      const open = (count: number) => Promise.all(Array.from({ length: count }, () => openStream(serverUrl, headers)));
      for (let opened = 0; opened < WARM_UP_STREAMS; opened += WARM_UP_AT_ONCE)
        for (const stream of await open(WARM_UP_AT_ONCE)) stream.destroy();
      await sleep(SETTLE_MS);
      const [before, upstreamBefore] = [residentBytes(server), residentBytes(upstream)];
      const streams: ClientRequest[] = [];
      while (streams.length < STREAMS) streams.push(...(await open(OPENED_AT_ONCE)));
      await sleep(SETTLE_MS);
      const [after, upstreamAfter] = [residentBytes(server), residentBytes(upstream)];
      for (const stream of streams) stream.destroy();
      const perStream = (bytes: number) => (bytes / STREAMS / 1000).toFixed(1);
      console.log(`\n${STREAMS} open streams`);
      console.log(
        `  resident memory per stream: ${perStream(after - before)} kB in the server (target ${TARGET_KB}), ${perStream(upstreamAfter - upstreamBefore)} kB in the upstream, which holds one socket for it and nothing else`,
      );
    },
    { MODEL_CONNECTIONS_MAX: "4096", RUNS_MAX: "4096" },
  );
}

/** Resolves once the first delta has arrived. */
function openStream(serverUrl: string, headers: Readonly<Record<string, string>>): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const call = request(`${serverUrl}/responses`, { agent: false, method: "POST", headers });
    call.once("error", reject);
    call.once("response", (reply) => {
      if (reply.statusCode !== 200) return void explainRefusal(`${serverUrl}/responses`, reply).then(reject);
      reply.setEncoding("utf8");
      reply.on("error", () => {});
      reply.on("data", (piece: string) => {
        if (piece.includes("output_text.delta")) resolve(call);
      });
    });
    call.end(JSON.stringify({ model: "bench", stream: true, input: "Hi" }));
  });
}
