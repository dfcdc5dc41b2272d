import { once } from "node:events";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { RawConnection } from "../hostile/raw-connection.ts";
import { memoryOf } from "../kit/processes.ts";
import { postAudio } from "../kit/upload.ts";
import { tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { type ChildToneServer, startChildToneServer } from "./child-tone-server.ts";
import { chunk, exchange, TRANSPORTS } from "./stream-client.ts";
import { program } from "./tone-server.ts";

const MEBIBYTE = 1024 * 1024;
const STREAMS_OPEN = "antiphon_speech_streams_open";
const END = { type: "end" };

const BATCH = 500;
const AT_ONCE = 50;
const BATCHES_MAX = 6;
const GROWN_BYTES_MAX = 8 * MEBIBYTE;
const DRIPPERS = 20;
const DRIP_MS = 50;
const PATIENCE_MS = 1500;

/** Connects, sends something or nothing, and drops the connection. */
async function connectAndDrop(url: string, round: number): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/transcribe`);
  socket.on("error", () => {});
  const closed = once(socket, "close");
  await Promise.race([once(socket, "open").catch(() => {}), closed]);
  const says = [null, JSON.stringify(chunk(tones("one"))), "{", JSON.stringify({ type: "flush" })][round % 4];
  if (typeof says === "string" && socket.readyState === WebSocket.OPEN) socket.send(says);
  socket.terminate();
  await closed;
}

/** Starts a request, and then sends a space from time to time, forever. */
async function drip(url: string, path: string, type: string, start: string): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  const head = [`POST ${path} HTTP/1.1`, `content-type: ${type}`, "host: localhost", "transfer-encoding: chunked"];
  const send = (piece: string): void => connection.send(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  connection.send([...head, "", ""].join("\r\n"));
  send(start);
  const dripping = setInterval(() => send(" "), DRIP_MS);
  connection.socket.once("close", () => clearInterval(dripping));
  onTestFinished(() => connection.leave());
  return connection;
}

async function expectTranscribing(server: ChildToneServer): Promise<void> {
  const reply = await postAudio(`${server.url}/transcribe`, wavFile(tones("three", "one"), 16_000), "blob");
  expect(await reply.json()).toMatchObject({ text: "three one" });
  for (const transport of TRANSPORTS) {
    const heard = await exchange(server.url, transport, [chunk(tones("seven")), END]);
    expect(heard.at(-2)).toMatchObject({ text: "seven" });
  }
}

describe.skipIf(program === null || process.platform !== "linux")("clients", () => {
  test("that connect and drop a thousand times leave nothing behind", { timeout: 180_000 }, async () => {
    verifies("stt.stream.drops-leave-nothing", "stt.stream.leaving-client-stops-the-work");
    const server = await startChildToneServer({ STT_STREAMS_MAX: "100" });
    const dropMany = async (count: number): Promise<void> => {
      for (let round = 0; round < count; round += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => connectAndDrop(server.url, round + index)));
      await expect.poll(() => server.metric(STREAMS_OPEN), { timeout: 30_000 }).toBe(0);
    };
    await dropMany(BATCH);
    let grownBytes = Number.POSITIVE_INFINITY;
    let { residentBytes } = await memoryOf(server.pid);
    for (let batch = 0; batch < BATCHES_MAX && grownBytes > GROWN_BYTES_MAX; batch += 1) {
      await dropMany(BATCH); // A heap grows in steps, but not forever.
      const before = residentBytes;
      ({ residentBytes } = await memoryOf(server.pid));
      grownBytes = residentBytes - before;
    }
    expect(grownBytes).toBeLessThan(GROWN_BYTES_MAX);
    await expectTranscribing(server);
    expect(server.complaints()).toBe("");
  });

  test("that send single bytes slowly are disconnected, while others are served", { timeout: 60_000 }, async () => {
    verifies("stt.transcribe.slow-upload-is-408", "stt.stream.idle-timeout", "stt.errors.http-shape");
    const server = await startChildToneServer({
      STT_UPLOAD_TIMEOUT_MS: String(PATIENCE_MS),
      STT_IDLE_TIMEOUT_MS: String(PATIENCE_MS),
      STT_STREAMS_MAX: String(DRIPPERS + 2),
    });
    const { residentBytes: before } = await memoryOf(server.pid);
    const form = "multipart/form-data; boundary=x";
    const part = '--x\r\ncontent-disposition: form-data; name="audio"; filename="a"\r\n\r\n';
    const every = <T>(of: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: DRIPPERS }, of));
    const bodies = [
      ...(await every(() => drip(server.url, "/transcribe", form, part))),
      ...(await every(() => drip(server.url, "/stt_and_format", form, "--x"))),
      ...(await every(() => drip(server.url, "/format", "application/json", '{"text": "'))),
    ];
    const streams = await every(() => drip(server.url, "/stream/transcribe", "application/x-ndjson", "{"));
    await expectTranscribing(server);
    const idle = /"code":"idle_timeout","message":"[^"]+\."/;
    for (const connection of bodies)
      expect(await connection.until((received) => idle.test(received))).toMatch(/^HTTP\/1\.1 408 /);
    for (const connection of streams)
      expect(await connection.until((received) => idle.test(received))).toMatch(/^HTTP\/1\.1 200 [\s\S]*"hello"/);
    await expect.poll(() => server.metric(STREAMS_OPEN), { timeout: 10_000 }).toBe(0);
    const grown = (await memoryOf(server.pid)).residentBytes - before;
    expect(grown).toBeLessThan(64 * MEBIBYTE);
    await expectTranscribing(server);
    expect(server.complaints()).toBe("");
  });
});
