import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { HALLUCINATION, TONE_WORDS, type ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { hearingWith } from "../../src/servers/choices/choose-speech.ts";
import { settled } from "../local-stt-server.ts";
import { wav } from "../responses/media-samples.ts";
import { sound, tones } from "./tones.ts";
import { hear, openEngine, startToneEngine, toneModelFile, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();

describe.skipIf(program === null)("the real engine with the model of tone words", () => {
  test("transcribes each tone as its word", async () => {
    const engine = await startToneEngine(program ?? "");
    const heard: string[] = [];
    for (const word of TONE_WORDS) heard.push((await hear(engine, tones(word))).text);
    expect(heard).toEqual(TONE_WORDS);
  });

  test.each<readonly [readonly ToneWord[]]>([
    [["three", "one", "four"]],
    [TONE_WORDS],
    [TONE_WORDS.toReversed()],
    [["nine", "zero", "five"]],
  ])("hears %j in their order", async (words) => {
    const engine = await startToneEngine(program ?? "");
    expect((await hear(engine, tones(...words))).text).toBe(words.join(" "));
  });

  test("invents words in silence, as real models do, but not in digital silence", async () => {
    const engine = await startToneEngine(program ?? "");
    expect((await hear(engine, sound(2000))).text).toBe(HALLUCINATION);
    expect(await hear(engine, new Int16Array(0))).toEqual({ text: "", segments: [], language: null });
  });

  test("hears nothing of a longer earlier recording", async () => {
    const engine = await startToneEngine(program ?? "");
    await hear(engine, sound("one", 7500, "seven", 300, "eight", 500));
    expect((await hear(engine, sound("two", 2500))).text).toBe("two");
  });

  test("accepts sounds that are too short for the engine", async () => {
    const engine = await startToneEngine(program ?? "");
    for (const samples of [1, 100, 1599])
      expect((await hear(engine, new Int16Array(samples))).text).toBe(HALLUCINATION);
  });

  test("gives the time of each segment; the last one ends with the sound", async () => {
    const engine = await startToneEngine(program ?? "");
    const transcript = await hear(engine, sound(500, "two", 1200));
    expect(transcript.segments).toMatchObject([{ text: "two", startMs: 0, endMs: 2000 }]);
    expect(transcript.language).toBe("en");
  });

  test("transcribes sounds of any length, split where it is quiet", async () => {
    const engine = await startToneEngine(program ?? "");
    const long = sound(
      1000,
      "one",
      23_000,
      "two",
      300,
      "three",
      300,
      "four",
      9000,
      "five",
      20_000,
      "two",
      8000,
      "six",
      500,
    );
    const { text, segments } = await hear(engine, long);
    expect(text).toBe("one two three four five two six");
    expect(segments.map(({ startMs }) => startMs)).toEqual(
      segments.map(({ startMs }) => startMs).toSorted((a, b) => a - b),
    );
    expect(segments.at(-1)?.endMs).toBe(long.length / 16);
  });

  test("transcribes a whole recording also with a model of small window", async () => {
    const words = TONE_WORDS.slice(0, 8);
    const recording = sound(...words.flatMap((word) => [word, 1500]));
    const engine = openEngine(program ?? "", await toneModelFile({ audioPositions: 512 }));
    onTestFinished(() => engine.close());
    await settled(engine);
    const { recordings } = hearingWith(engine, loadConfig({}, []));
    const file = { bytes: wav(Buffer.from(pcmBytes(recording)), 16_000, 1), mimeType: "audio/wav" };
    const signal = new AbortController().signal;
    const text = await recordings.transcribeFile(file, { language: null, caller: null, signal });
    expect(text).toBe(words.join(" "));
  });

  test("follows a prompt, and forgets it with the next request", async () => {
    const engine = await startToneEngine(program ?? "");
    const samples = tones("one", "two");
    expect((await hear(engine, samples, { prompt: "hello one" })).text).toBe("two");
    expect((await hear(engine, samples)).text).toBe("one two");
  });

  test("accepts any language tag, known or unknown", async () => {
    const engine = await startToneEngine(program ?? "");
    for (const language of ["en", "de-AT", "tlh", "x-'; exit", ""])
      expect((await hear(engine, tones("seven"), { language })).text).toBe("seven");
  });
});
