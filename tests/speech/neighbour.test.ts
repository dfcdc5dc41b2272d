import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { createNeighbourTranscriber } from "@antiphon/speech/recognition/neighbour-transcriber.ts";
import type { FileTranscriber, SoundFile } from "@antiphon/speech/recognition/speech-engine.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { startLocalSttServer } from "../local-stt-server.ts";
import { wav } from "../responses/media-samples.ts";
import { verifies } from "../verifies.ts";
import { type EngineName, openEngines } from "./staged-engines.ts";
import { sound } from "./tones.ts";

const TIMEOUT_MS = 30_000;
const SPOKEN = wav(Buffer.from(pcmBytes(sound(500, "three", 400, "one", 500))), 16_000, 1);

/** A transcriber that uses the local speech server of a neighbour with this engine. */
async function neighbourOf(name: EngineName): Promise<FileTranscriber> {
  const engines = await openEngines();
  onTestFinished(() => engines.close());
  const server = await startLocalSttServer({ speech: engines.engine(name) });
  onTestFinished(() => server.close());
  return createNeighbourTranscriber({ url: () => server.url, timeoutMs: TIMEOUT_MS });
}

function hear(transcriber: FileTranscriber, bytes: Uint8Array = SPOKEN): Promise<string> {
  const file: SoundFile = { bytes, mimeType: "audio/wav" };
  return transcriber.transcribeFile(file, { caller: null, language: null, signal: new AbortController().signal });
}

describe("a process without a speech engine", () => {
  test("hears recordings through the process that has one", async () => {
    verifies("operations.processes.one-server");
    expect(await hear(await neighbourOf("talkative"))).toMatch(/^word word /);
  });

  test.each([
    { engine: "loading", reason: "loading" },
    { engine: "full", reason: "busy" },
    { engine: "failing", reason: "crashed" },
    { engine: "faulty", reason: "unavailable" },
  ] as const)("passes on that the engine is $reason", async ({ engine, reason }) => {
    verifies("operations.processes.one-server");
    await expect(hear(await neighbourOf(engine))).rejects.toMatchObject({ name: "SpeechError", reason });
  });

  test("passes on that a recording cannot be read", async () => {
    const transcriber = await neighbourOf("talkative");
    await expect(hear(transcriber, wav(Buffer.alloc(0), 16_000, 1))).rejects.toMatchObject({ reason: "refused" });
  });

  test.each([null, "http://127.0.0.1:9"])("says that the engine cannot be reached at %s", async (url) => {
    const transcriber = createNeighbourTranscriber({ url: () => url, timeoutMs: TIMEOUT_MS });
    await expect(hear(transcriber)).rejects.toMatchObject({
      reason: "unavailable",
      message: "The process with the speech engine cannot be reached",
    });
  });
});
