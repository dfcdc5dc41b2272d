import { expect, test } from "vitest";
import { createNoSpeech } from "../speech/no-speech.ts";
import type { EngineStatus, SpeechEngine } from "../speech/speech-engine.ts";
import { progressLine, showSpeechProgress } from "./speech-progress.ts";

test.each<[EngineStatus, string]>([
  [{ state: "building", percent: null }, "Speech engine is built, once  [------------------------]"],
  [{ state: "building", percent: 50 }, "Speech engine is built, once  [############------------]   50 %"],
  [
    { state: "downloading", receivedBytes: 49_000_000, totalBytes: 147_964_211 },
    "Speech model base.en is downloaded  [########----------------]   33 %  49 of 148 MB",
  ],
  [
    { state: "downloading", receivedBytes: 1_000_000, totalBytes: null },
    "Speech model base.en is downloaded  [------------------------]  1 of ? MB",
  ],
  [{ state: "loading" }, "Speech model base.en is loaded"],
  [{ state: "ready" }, "Speech model base.en is ready"],
  [{ state: "ready", notice: "Another model answers" }, "Another model answers."],
  [{ state: "failed", reason: "There is no room" }, "There is no speech: There is no room."],
])("%j is shown as %s", (status, line) => {
  expect(progressLine(status, "base.en")).toBe(line);
});

test("one line is drawn over and over until the engine is ready, and nothing after that", () => {
  let listener: ((status: EngineStatus) => void) | null = null;
  const engine: SpeechEngine = {
    ...createNoSpeech(""),
    status: () => ({ state: "loading" }),
    watch: (given) => {
      listener = given;
      return () => (listener = null);
    },
  };
  const written: string[] = [];
  showSpeechProgress(engine, { write: (text) => written.push(text) });
  const tell = (status: EngineStatus): void => listener?.(status);
  tell({ state: "building", percent: 10 });
  tell({ state: "ready" });
  expect(listener).toBeNull();
  expect(written.join("").match(/\n/g)).toHaveLength(1);
  expect(written.at(-1)).toBe("\n");
});
