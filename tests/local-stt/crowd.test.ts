import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { tones } from "../speech/tones.ts";
import { chunk, converse, TRANSPORTS } from "./stream-client.ts";
import { program, startToneServer } from "./tone-server.ts";

const CONNECTS = 1000;
const AT_ONCE = 50;
const MEBIBYTE = 1024 * 1024;

/** Connects, says something or nothing, and drops the connection. */
async function connectAndDrop(url: string, round: number): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/transcribe`);
  socket.on("error", () => {});
  const closed = once(socket, "close");
  await Promise.race([once(socket, "open").catch(() => {}), closed]);
  if (round % 3 === 1 && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(chunk(tones("one"))));
  if (round % 3 === 2 && socket.readyState === WebSocket.OPEN) socket.send("{");
  socket.terminate();
  await closed;
}

test.skipIf(program === null)(
  "a thousand clients that connect and drop leave nothing behind",
  { timeout: 90_000 },
  async () => {
    const server = await startToneServer({ env: { STT_STREAMS_MAX: "100" } });
    for (let round = 0; round < 100; round += 1) await connectAndDrop(server.url, round);
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let round = 0; round < CONNECTS; round += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => connectAndDrop(server.url, round + index)));
    const places = async (): Promise<number> =>
      Number(/^antiphon_speech_streams_open (\d+)/m.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]);
    await expect.poll(places).toBe(0);
    global.gc?.();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * MEBIBYTE);
    for (const transport of TRANSPORTS) {
      const heard = await converse(server.url, transport, [chunk(tones("seven")), { type: "end" }]);
      expect(heard.at(-2)).toMatchObject({ text: "seven" });
    }
  },
);
