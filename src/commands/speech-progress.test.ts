import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import type { EngineStatus, SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { expect, test } from "vitest";
import { progressLine, showSpeechProgress } from "./speech-progress.ts";

test.each<[EngineStatus, string]>([
  [{ state: "building", percent: null }, "Building the speech engine, once  [------------------------]"],
  [{ state: "building", percent: 50 }, "Building the speech engine, once  [############------------]   50 %"],
  [
    { state: "downloading", receivedBytes: 49_000_000, totalBytes: 147_964_211 },
    "Downloading speech model base.en  [########----------------]   33 %  49 of 148 MB",
  ],
  [
    { state: "downloading", receivedBytes: 1_000_000, totalBytes: null },
    "Downloading speech model base.en  [------------------------]  1 of ? MB",
  ],
  [{ state: "loading" }, "Loading speech model base.en"],
  [{ state: "ready" }, "The speech model base.en is ready"],
  [
    { state: "demo", words: 69, reason: "There is no model" },
    "Demo model: 69 words of a synthetic voice. There is no model.",
  ],
  [{ state: "failed", reason: "There is no room" }, "Speech is unavailable: There is no room."],
])("%j is shown as %s", (status, line) => {
  expect(progressLine(status, "base.en")).toBe(line);
});

/** What is written while the engine passes through these states. */
function shown(output: { isTTY?: boolean; columns?: number }, statuses: readonly EngineStatus[]): readonly string[] {
  let listener: ((status: EngineStatus) => void) | null = null;
  const engine: SpeechEngine = {
    ...createDisabledEngine(""),
    status: () => ({ state: "loading" }),
    watch: (given) => {
      listener = given;
      return () => (listener = null);
    },
  };
  const written: string[] = [];
  showSpeechProgress(engine, { ...output, write: (text) => written.push(text) });
  const tell = (status: EngineStatus): void => listener?.(status);
  for (const status of statuses) tell(status);
  expect(listener).toBeNull();
  return written;
}

test("one line is drawn over and over until the engine is ready, and nothing after that", () => {
  const written = shown({ isTTY: true }, [{ state: "building", percent: 10 }, { state: "ready" }]).join("");
  expect(written.match(/\n/g)).toHaveLength(1);
  expect(written).toMatch(/is ready\n$/);
});

test("a terminal that is narrower than the line never has it wrapped", () => {
  const written = shown({ isTTY: true, columns: 20 }, [{ state: "building", percent: 10 }, { state: "ready" }]);
  const drawn = written.slice(0, -1).map((text) => text.replace("\r\u001B[2K", ""));
  expect(drawn.map(({ length }) => length <= 19)).toEqual([true, true]);
});

test("an output that is no terminal is told of a failure only", () => {
  expect(shown({}, [{ state: "building", percent: 10 }, { state: "ready" }])).toEqual([]);
  expect(shown({}, [{ state: "failed", reason: "There is no room" }])).toEqual([
    "Speech is unavailable: There is no room.\n",
  ]);
});
