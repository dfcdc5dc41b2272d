import { once } from "node:events";
import { request } from "node:http";
import type { Logger } from "@antiphon/base/logger.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { settled } from "../local-stt-server.ts";
import { sound, tones } from "../speech/tones.ts";
import { enginePids } from "../speech/whisper-for-tests.ts";
import { verifies } from "../verifies.ts";
import { chunk, exchange, openStream, TRANSPORTS } from "./stream-client.ts";
import { program, startToneServer } from "./tone-server.ts";

const END = { type: "end" };
/** Eight frames of MPEG-1 layer III at 128 kbit/s and 44,100 Hz, silent. */
const MP3_FRAMES = Buffer.concat(
  Array.from({ length: 8 }, () => Buffer.concat([Buffer.from("fffb9000", "hex"), Buffer.alloc(413)])),
);
const VALUE_ERROR = "ValueError: audio_base64 is required";

/** The model's answers, besides none. */
function listeningLog(): { readonly log: Logger; readonly said: string[] } {
  const said: string[] = [];
  const hear = (_fields: object, message: string): void => void said.push(message);
  return { log: { ...silentLogger, warn: hear, error: hear }, said };
}

const BROKEN: readonly (readonly [name: string, message: object | string, error: object, closeCode: number])[] = [
  ["without audio", { type: "chunk" }, { code: "invalid_message", message: "audio_base64 is required" }, 1008],
  ["with null for audio", { type: "chunk", audio_base64: null }, { message: "audio_base64 is required" }, 1008],
  ["that is no object", "[1, 2]", { code: "invalid_message", message: "audio_base64 is required" }, 1008],
  ["that is not JSON", '{"type": "chu', { code: "invalid_message" }, 1008],
  ["of no known type", { type: "start" }, { code: "invalid_message" }, 1008],
  ["with unknown members", { type: "flush", now: true }, { code: "invalid_message" }, 1008],
  ["whose audio is not base64", { type: "chunk", audio_base64: "not base64!" }, { code: "invalid_message" }, 1008],
  ["whose base64 is cut", { type: "chunk", audio_base64: "AAA" }, { code: "invalid_message" }, 1008],
  ["with an impossible rate", chunk(tones("one"), { sample_rate: 12 }), { code: "invalid_message" }, 1008],
  [
    "in another encoding",
    chunk(tones("one"), { encoding: "mulaw" }),
    { code: "unsupported_format", message: expect.stringMatching(/^Unsupported format/) },
    1008,
  ],
  ["that is too large", chunk(new Uint8Array(1024 * 1024 + 2)), { code: "chunk_too_large" }, 1009],
];

describe.skipIf(program === null).each(TRANSPORTS)("a stream over %s", (transport) => {
  test.each(BROKEN)(
    "ends at a message %s, after its outstanding transcript",
    async (_name, message, error, closeCode) => {
      verifies("stt.stream.error-keeps-acknowledged-audio", "stt.stream.error-is-last", "stt.errors.stream-shape");
      verifies("stt.stream.unsupported-encoding", "stt.stream.broken-base64", "stt.stream.oversized-chunk");
      const { log, said } = listeningLog();
      const server = await startToneServer({ log });
      const stream = openStream(server.url, transport);
      for (const one of [chunk(tones("seven")), message, END]) stream.say(one);
      expect(await stream.hearAll()).toEqual([
        { type: "hello", protocol: "stt-jsonl-v1" },
        { type: "ack", received_bytes: 19_200 },
        expect.objectContaining({ type: "transcript.final", text: "seven" }),
        { type: "error", code: expect.any(String), message: expect.any(String), ...error },
      ]);
      if (transport === "websocket") {
        verifies("stt.websocket.schema-break-closes");
        expect(await stream.ended()).toBe(closeCode);
      } else if ("code" in error && error.code === "invalid_message") {
        verifies("stt.ndjson.malformed-line-logs-value-error", "stt.ndjson.malformed-line-is-an-error-line");
        expect(said).toContain(VALUE_ERROR);
      }
    },
  );

  const ended = { type: "error", code: "unsupported_format" };

  test.each([
    ["mp3", MP3_FRAMES],
    ["wav", wavFile(tones("one"), 16_000)],
    ["flac", Buffer.from("fLaC\0\0\0\x22".padEnd(200, "\0"), "latin1")],
    ["ogg", Buffer.from("OggS".padEnd(200, "\0"), "latin1")],
  ])("that begins with a file of %s gets an Unsupported format error", async (format, bytes) => {
    verifies("stt.stream.no-samples-is-unsupported");
    const server = await startToneServer();
    const heard = await exchange(server.url, transport, [chunk(bytes), END]);
    const message = expect.stringMatching(`^Unsupported format: the chunk begins a ${format} file`);
    expect(heard).toMatchObject([{ type: "hello" }, { ...ended, message }]);
  });

  test("that ends within a sample gets its transcript, and an Unsupported format error", async () => {
    verifies("stt.stream.no-samples-is-unsupported");
    const server = await startToneServer();
    const message = expect.stringMatching(/^Unsupported format: the audio ends within a sample/);
    const said = [{ type: "hello" }, { type: "ack" }, { type: "ack" }, { text: "seven" }, { ...ended, message }];
    for (const end of [[chunk(new Uint8Array(1), { last: true })], [chunk(new Uint8Array(1)), END]])
      expect(await exchange(server.url, transport, [chunk(tones("seven")), ...end])).toMatchObject(said);
  });

  test("accepts the names of PCM16 in upper and lower case", async () => {
    verifies("stt.stream.names-of-pcm16");
    const server = await startToneServer();
    for (const encoding of ["PCM16", "PCM16LE", "pcm16le", "pcm", "Linear16"]) {
      const heard = await exchange(server.url, transport, [chunk(tones("two"), { encoding }), END]);
      expect([encoding, heard.at(-2)]).toMatchObject([encoding, { type: "transcript.final", text: "two" }]);
    }
  });

  test("that breaks before any audio gets only the error", async () => {
    const server = await startToneServer();
    const heard = await exchange(server.url, transport, [{ type: "chunk" }, END]);
    expect(heard.map(({ type }) => type)).toEqual(["hello", "error"]);
  });

  test("without a message for too long ends, after its outstanding transcript", async () => {
    verifies("stt.stream.idle-timeout");
    const server = await startToneServer({ env: { STT_IDLE_TIMEOUT_MS: "400" } });
    const stream = openStream(server.url, transport);
    stream.say(chunk(tones("two")));
    const heard = await stream.hearAll();
    expect(heard.map(({ type }) => type)).toEqual(["hello", "ack", "transcript.final", "error"]);
    expect(heard.at(-1)).toMatchObject({ code: "idle_timeout" });
    if (transport === "websocket") expect(await stream.ended()).toBe(1001);
  });

  test("beyond the maximum number is refused, and the others continue", async () => {
    verifies("stt.stream.too-many-streams");
    const server = await startToneServer({ env: { STT_STREAMS_MAX: "1" } });
    const first = openStream(server.url, transport);
    await first.hear();
    for (const other of TRANSPORTS) {
      const status = other === "ndjson" ? await postStatus(server.url) : await upgradeStatus(server.url);
      expect(status).toBe(503);
    }
    first.say(chunk(tones("four")));
    first.say(END);
    expect(await first.hearAll()).toMatchObject([{ type: "ack" }, { text: "four" }, { type: "stream.closed" }]);
    await first.ended();
    expect((await exchange(server.url, transport, [END])).map(({ type }) => type)).toContain("stream.closed");
  });

  test("whose client leaves frees its place and drops its work", async () => {
    verifies("stt.stream.leaving-client-stops-the-work");
    const server = await startToneServer({ env: { STT_STREAMS_MAX: "1" } });
    for (let round = 0; round < 3; round += 1) {
      const stream = openStream(server.url, transport);
      await stream.hear();
      for (let piece = 0; piece < 5; piece += 1) stream.say(chunk(sound("one", 800)));
      await stream.hear();
      stream.leave();
      await expect.poll(() => placesTaken(server.url)).toBe(0);
    }
    expect((await exchange(server.url, transport, [END])).map(({ type }) => type)).toContain("stream.closed");
  });

  test("survives a crash of the engine", async () => {
    verifies("stt.stream.engine-crash-is-survived");
    const server = await startToneServer();
    const stream = openStream(server.url, transport);
    stream.say(chunk(tones("five", "six")));
    await stream.hear();
    for (const pid of await enginePids()) process.kill(pid, "SIGKILL");
    stream.say(chunk(tones("eight")));
    stream.say(END);
    expect((await stream.hearAll()).at(-2)).toMatchObject({ type: "transcript.final", text: "five six eight" });
    await settled(server.speech);
  });
});

describe.skipIf(program === null)("lines", () => {
  test("may be split anywhere, blank ones are ignored, and the last needs no line end", async () => {
    verifies("stt.ndjson.lines-may-split-anywhere");
    const server = await startToneServer();
    const lines = `\n${JSON.stringify(chunk(tones("three")))}\n\r\n${JSON.stringify(END)}`;
    const call = request(`${server.url}/stream/transcribe`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
    });
    for (let place = 0; place < lines.length; place += 4999) call.write(lines.slice(place, place + 4999));
    call.end();
    const [reply] = await once(call, "response");
    let text = "";
    for await (const piece of reply) text += String(piece);
    expect(reply.headers["content-type"]).toBe("application/x-ndjson");
    expect(
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).type),
    ).toEqual(["hello", "ack", "transcript.final", "stream.closed"]);
  });

  test("that are invalid, or in a body of another type, are refused, and the log says so", async () => {
    verifies("stt.ndjson.binary-body-refused", "stt.errors.http-shape");
    const { log, said } = listeningLog();
    const server = await startToneServer({ log });
    const body = new Uint8Array([0, 1, 2, 250, 10, 7]);
    const reply = await fetch(`${server.url}/stream/transcribe`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body,
    });
    expect(reply.status).toBe(415);
    expect(await reply.json()).toEqual({ error: { code: "unsupported_media_type", message: expect.any(String) } });
    expect(said).toEqual([VALUE_ERROR]);
    const pretending = await fetch(`${server.url}/stream/transcribe`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body,
    });
    expect(
      (await pretending.text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ type: "hello" }, { type: "error", code: "invalid_message" }]);
    expect(said).toEqual([VALUE_ERROR, VALUE_ERROR]);
  });

  test("of a client that reads nothing take bounded memory, and end its stream", async () => {
    verifies("stt.stream.slow-reader-is-bounded");
    const server = await startToneServer();
    const call = request(`${server.url}/stream/transcribe`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
    });
    call.on("error", () => {});
    call.flushHeaders();
    const [reply] = await once(call, "response");
    reply.pause();
    const flushes = `${JSON.stringify({ type: "flush" })}\n`.repeat(500);
    const isOver = async (): Promise<boolean> => (await placesTaken(server.url)) === 0;
    for (let round = 0; round < 400 && !(await isOver()); round += 1)
      if (!call.write(flushes))
        await Promise.race([once(call, "drain"), new Promise((resolve) => setTimeout(resolve, 50))]);
    await expect.poll(() => placesTaken(server.url)).toBe(0);
    call.destroy();
  });
});

describe.skipIf(program === null)("frames", () => {
  test("with binary data are not part of the protocol", async () => {
    verifies("stt.websocket.binary-frame-closes");
    const server = await startToneServer();
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws/transcribe`);
    const heard: unknown[] = [];
    socket.on("message", (bytes: Buffer) => heard.push(JSON.parse(bytes.toString())));
    await once(socket, "open");
    socket.send(Buffer.alloc(320));
    const [code] = await once(socket, "close");
    expect([code, heard]).toMatchObject([1003, [{ type: "hello" }, { type: "error", code: "invalid_message" }]]);
  });

  test("that are too large get an error, after the outstanding transcript, and close with 1009", async () => {
    verifies("stt.websocket.oversized-message-is-told");
    const server = await startToneServer();
    const stream = openStream(server.url, "websocket");
    stream.say(chunk(tones("seven")));
    stream.say("x".repeat(3 * 1024 * 1024));
    expect(await stream.hearAll()).toEqual([
      { type: "hello", protocol: "stt-jsonl-v1" },
      { type: "ack", received_bytes: 19_200 },
      expect.objectContaining({ type: "transcript.final", text: "seven" }),
      { type: "error", code: "chunk_too_large", message: "A message holds at most 2097152 bytes." },
    ]);
    expect(await stream.ended()).toBe(1009);
  });

  test("get 426 for a plain request to their path", async () => {
    verifies("stt.websocket.plain-request-is-426");
    const server = await startToneServer();
    const reply = await fetch(`${server.url}/ws/transcribe`);
    expect([reply.status, await reply.json()]).toMatchObject([426, { error: { code: "upgrade_required" } }]);
  });
});

async function placesTaken(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^antiphon_speech_streams_open (\d+)/m.exec(text)?.[1]);
}

async function postStatus(url: string): Promise<number> {
  const reply = await fetch(`${url}/stream/transcribe`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body: JSON.stringify(END),
  });
  expect(await reply.json()).toMatchObject({ error: { code: "too_many_streams" } });
  return reply.status;
}

async function upgradeStatus(url: string): Promise<number> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/transcribe`);
  socket.on("error", () => {});
  const [, reply] = await once(socket, "unexpected-response");
  return reply.statusCode;
}
