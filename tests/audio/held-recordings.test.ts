import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { program } from "../local-stt/tone-server.ts";
import { spokenFile } from "../speech/slow-sound.ts";
import { isMissing, openEngines } from "../speech/staged-engines.ts";
import { sound } from "../speech/tones.ts";
import { startToneEngine } from "../speech/whisper-for-tests.ts";
import { verifies } from "../verifies.ts";
import { DOORS, recordingForm, startAudioServer } from "./audio-servers.ts";

const TWO_PARTS = new Uint8Array(wavFile(sound(500, "three", 3000, "four", 500), 16_000));

interface HeldEngine {
  readonly engine: SpeechEngine;
  /** Resolves when the second part has been asked for. */
  readonly asked: Promise<void>;
  /** Resolves when its caller has given it up. */
  readonly givenUp: Promise<void>;
}

/** The real engine, which hears the first part, and the second one never. */
async function holdSecondPart(): Promise<HeldEngine> {
  const real = await startToneEngine(program ?? "");
  const asked = Promise.withResolvers<void>();
  const givenUp = Promise.withResolvers<void>();
  let count = 0;
  const transcribe: SpeechEngine["transcribe"] = async (samples, request) => {
    count += 1;
    if (count === 1) return real.transcribe(samples, request);
    asked.resolve();
    const { promise, reject } = Promise.withResolvers<never>();
    request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
    return promise.finally(() => givenUp.resolve());
  };
  const engine: SpeechEngine = {
    ...createDisabledEngine(""),
    status: () => real.status(),
    facts: () => real.facts(),
    refusal: () => null,
    transcribe,
  };
  return { engine, asked: asked.promise, givenUp: givenUp.promise };
}

describe.skipIf(program === null).each(DOORS)("while %s hears a recording", (door) => {
  test("the words of a part come before the next one is heard, and a client that leaves stops it", async () => {
    verifies("audio.transcriptions.stream", "audio.transcriptions.client-leaves");
    const { engine, asked, givenUp } = await holdSecondPart();
    const { post } = await startAudioServer(door, { speech: engine });
    const leaving = new AbortController();
    const reply = await post("/transcriptions", recordingForm(TWO_PARTS, { stream: "true" }), leaving.signal);
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    expect(first?.value).toContain('"delta":"three"');
    await asked;
    leaving.abort();
    await givenUp;
  });

  test("a client that leaves before the reply stops it, and gives its place back", async () => {
    verifies("audio.transcriptions.client-leaves");
    const { engine, asked, givenUp } = await holdSecondPart();
    const { post } = await startAudioServer(door, { speech: engine });
    const leaving = new AbortController();
    const reply = post("/transcriptions", recordingForm(TWO_PARTS), leaving.signal);
    await asked;
    leaving.abort();
    await expect(reply).rejects.toThrow(/abort/i);
    await givenUp;
  });
});

describe.skipIf(isMissing("tones"))("a server without a ready engine", () => {
  test("says what to do", async () => {
    verifies("audio.transcriptions.no-engine");
    const server = await startTestServer();
    const form = recordingForm(spokenFile("one"));
    const reply = await server.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
    const { error } = await reply.json();
    expect([reply.status, error]).toMatchObject([
      400,
      { code: "unsupported_value", message: expect.stringContaining("SPEECH_ENGINE") },
    ]);
  });

  test.each([
    ["loading", 503, "server_is_overloaded"],
    ["full", 503, "server_is_overloaded"],
    ["failing", 502, "server_error"],
  ] as const)("that is %s says so", async (name, status, code) => {
    verifies("audio.transcriptions.no-engine");
    const engines = await openEngines();
    onTestFinished(() => engines.close());
    const { post } = await startAudioServer("Interface B", { speech: engines.engine(name) });
    const reply = await post("/transcriptions", recordingForm(spokenFile("one")));
    const { error } = await reply.json();
    expect([reply.status, error.code]).toEqual([status, code]);
  });
});
