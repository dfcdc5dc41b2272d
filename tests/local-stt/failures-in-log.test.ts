import { silentLogger } from "@antiphon/base/logger.ts";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { postAudio } from "../kit/upload.ts";
import { type LocalSttServerOptions, startLocalSttServer } from "../local-stt-server.ts";
import { type EngineName, isMissing, openEngines } from "../speech/staged-engines.ts";
import { tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { chunk, openStream, TRANSPORTS } from "./stream-client.ts";

const engines = await openEngines();

interface Line {
  readonly level: "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** A server with this engine, and the warnings and errors of its log. */
async function startServer(engine: EngineName): Promise<{ readonly url: string; readonly lines: readonly Line[] }> {
  const lines: Line[] = [];
  const at =
    (level: Line["level"]) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields, message });
  const options: LocalSttServerOptions = {
    speech: engines.engine(engine),
    log: { ...silentLogger, warn: at("warn"), error: at("error") },
  };
  const server = await startLocalSttServer(options);
  onTestFinished(() => server.close());
  return { url: server.url, lines };
}

async function upload(url: string, path: string, file: Uint8Array): Promise<number> {
  const reply = await postAudio(`${url}${path}`, file, "secret-name.wav");
  await reply.text();
  return reply.status;
}

interface Told {
  readonly reason: string;
  readonly problem: RegExp;
}

const SPOKEN = wavFile(tones("one"), 16_000);
const FAILED = { reason: "crashed", problem: "The speech engine failed on this recording, twice" };

describe("the log gives the reason for an upload without transcript", () => {
  test.each<readonly [what: string, file: Uint8Array, status: number, told: Told]>([
    [
      "text",
      Buffer.from("words of a secret text ".repeat(9)),
      415,
      { reason: "unsupported", problem: /^Unsupported format/ },
    ],
    ["an empty file", Buffer.alloc(0), 400, { reason: "empty", problem: /empty file/ }],
    ["half a file", SPOKEN.subarray(0, SPOKEN.length / 2), 400, { reason: "broken", problem: /cut off/ }],
    ["a file without sound", wavFile(new Int16Array(0), 16_000), 400, { reason: "empty", problem: /no sound/ }],
  ])("%s", async (_what, file, status, { reason, problem }) => {
    verifies("stt.errors.speech-failures-are-logged");
    const { url, lines } = await startServer("failing");
    for (const path of ["/transcribe", "/stt_and_format"]) expect(await upload(url, path, file)).toBe(status);
    const line = {
      level: "warn",
      fields: { requestId: expect.stringMatching(/^req_/), reason, problem: expect.stringMatching(problem) },
      message: "recording cannot be read",
    };
    expect(lines).toEqual([line, line]);
    expect(JSON.stringify(lines)).not.toMatch(/secret/);
  });

  test.each<readonly [engine: EngineName, status: number, level: string, fields: object]>([
    ["failing", 500, "error", FAILED],
    ["full", 503, "warn", { reason: "busy", problem: "Too many recordings are already waiting for the speech engine" }],
    ["loading", 503, "warn", { reason: "loading", problem: "The speech engine is not ready" }],
    ["none", 503, "error", { reason: "failed", problem: "Speech is switched off" }],
  ])("an engine that is %s", async (engine, status, level, fields) => {
    verifies("stt.errors.speech-failures-are-logged");
    const { url, lines } = await startServer(engine);
    expect(await upload(url, "/transcribe", SPOKEN)).toBe(status);
    expect(lines[0]).toMatchObject({ level, fields, message: "speech was not transcribed" });
  });
});

/** The line of a request that is refused before its stream begins. */
const REFUSED = { ndjson: "request", websocket: "upgrade refused" } as const;

describe.each(TRANSPORTS)("the log gives the reason for a stream over %s without transcript", (transport) => {
  test("if the engine fails", async () => {
    verifies("stt.errors.speech-failures-are-logged");
    const { url, lines } = await startServer("failing");
    const stream = openStream(url, transport);
    for (const message of [chunk(tones("one")), { type: "end" }]) stream.say(message);
    expect((await stream.hearAll()).at(-1)).toMatchObject({ type: "error", code: "transcription_failed" });
    expect(lines).toMatchObject([
      { level: "error", fields: FAILED, message: "speech was not transcribed" },
      { level: "warn", fields: { reason: "transcription_failed" }, message: "an error ended a stream" },
    ]);
  });

  test("if it is refused at its start", async () => {
    verifies("stt.errors.speech-failures-are-logged");
    const { url, lines } = await startServer("full");
    const stream = openStream(url, transport);
    if (transport === "ndjson") stream.hangUp();
    await stream.hearAll();
    expect(lines).toMatchObject([{ level: "warn", fields: { err: { code: "busy" } }, message: REFUSED[transport] }]);
  });

  test.each<readonly [what: string, message: object, reason: string]>([
    ["another encoding", chunk(tones("one"), { encoding: "secret" }), "unsupported_format"],
    ["a file", chunk(SPOKEN), "unsupported_format"],
    ["a chunk that is too large", chunk(new Uint8Array(1024 * 1024 + 2)), "chunk_too_large"],
  ])("where it sends %s", async (_what, message, reason) => {
    verifies("stt.errors.speech-failures-are-logged");
    const { url, lines } = await startServer("talkative");
    const stream = openStream(url, transport);
    stream.say(message);
    expect((await stream.hearAll()).at(-1)).toMatchObject({ type: "error", code: reason });
    expect(lines).toMatchObject([{ level: "warn", fields: { reason }, message: "an error ended a stream" }]);
    expect(JSON.stringify(lines)).not.toMatch(/secret/);
  });
});

test.skipIf(isMissing("tones"))("a stream that ends normally leaves no warning", async () => {
  verifies("stt.errors.speech-failures-are-logged");
  onTestFinished(() => engines.close());
  const { url, lines } = await startServer("tones");
  for (const transport of TRANSPORTS) {
    const stream = openStream(url, transport);
    for (const message of [chunk(tones("one")), { type: "end" }]) stream.say(message);
    expect((await stream.hearAll()).at(-1)).toMatchObject({ type: "stream.closed" });
  }
  expect(lines).toEqual([]);
});
