import { request } from "node:http";
import { cpuMs } from "./processes.ts";
import { explainRefusal, quantile } from "./stream-client.ts";
import { withServer } from "./with-server.ts";

const STREAMS = 256;
const PACE_MS = 20;
const TOKENS = 200;

/** Measures many streams at the pace of a model. Each token contains the time at which the upstream sent it. */
export async function measurePacedStreams(): Promise<void> {
  await withServer(
    { tokens: TOKENS, paceMs: PACE_MS },
    async ({ upstreamUrl, serverUrl, headers, server }) => {
      const direct = () =>
        delaysOf(`${upstreamUrl}/chat/completions`, { model: "bench", stream: true, messages: [] }, headers);
      const through = () => delaysOf(`${serverUrl}/responses`, { model: "bench", stream: true, input: "Hi" }, headers);
      await allOf(through); // Warm-up.
      const plain = await allOf(direct);
      const cpuBefore = cpuMs(server);
      const started = performance.now();
      const served = await allOf(through);
      const cpu = cpuMs(server) - cpuBefore;
      const seconds = (performance.now() - started) / 1000;
      console.log(`\n${STREAMS} streams at ${PACE_MS} ms a token`);
      console.log(
        `  from the upstream's write to the client: p50 ${quantile(plain, 0.5).toFixed(2)} ms, p99 ${quantile(plain, 0.99).toFixed(2)} ms direct; ` +
          `p50 ${quantile(served, 0.5).toFixed(2)} ms, p99 ${quantile(served, 0.99).toFixed(2)} ms through`,
      );
      console.log(
        `  added: p50 ${(quantile(served, 0.5) - quantile(plain, 0.5)).toFixed(2)} ms, p99 ${(quantile(served, 0.99) - quantile(plain, 0.99)).toFixed(2)} ms; ` +
          `server CPU ${(cpu / (seconds * 10)).toFixed(0)} % of a core, ${((cpu * 1000) / (STREAMS * TOKENS)).toFixed(2)} ms per 1,000 tokens`,
      );
    },
    { MODEL_CONNECTIONS_MAX: "1024" },
  );
}

async function allOf(once: () => Promise<readonly number[]>): Promise<readonly number[]> {
  return (await Promise.all(Array.from({ length: STREAMS }, once))).flat();
}

/** The delay of each token in milliseconds. */
function delaysOf(url: string, body: object, headers: Readonly<Record<string, string>>): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      agent: false,
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
    });
    call.once("error", reject);
    call.once("response", (reply) => {
      if (reply.statusCode !== 200) return void explainRefusal(url, reply).then(reject);
      const delays: number[] = [];
      reply.setEncoding("utf8");
      reply.on("data", (piece: string) => {
        const now = performance.timeOrigin + performance.now();
        // Each token occurs in its delta and in the final text; only deltas count.
        for (const [, sent] of piece.matchAll(/(?:"delta":|"content":)" at (\d+\.\d+) "/g))
          delays.push(now - Number(sent));
      });
      reply.once("error", reject);
      reply.once("end", () => {
        if (delays.length === TOKENS) resolve(delays);
        else reject(new Error(`a stream of ${url} brought ${delays.length} tokens of ${TOKENS}`));
      });
    });
    call.end(JSON.stringify(body));
  });
}
