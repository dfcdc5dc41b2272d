import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { afterAll, beforeAll } from "vitest";
import { settled } from "../local-stt-server.ts";
import { openEngine, toneModelFile, whisperForTests } from "../speech/whisper-for-tests.ts";

/** The real engine; null if this machine cannot build it. */
export const program = await whisperForTests();

/** One engine that reads tones as words, for all tests of a file. */
export function sharedToneSpeech(): () => SpeechEngine {
  let engine: (SpeechEngine & { close(): Promise<void> }) | null = null;
  beforeAll(async () => {
    engine = openEngine(program ?? "", await toneModelFile());
    await settled(engine);
  });
  afterAll(() => engine?.close());
  return () => {
    if (engine === null) throw new Error("the engine is there once the tests begin");
    return engine;
  };
}
