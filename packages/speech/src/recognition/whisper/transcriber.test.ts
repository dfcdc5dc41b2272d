import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import type { TranscriptionRequest } from "../speech-engine.ts";
import { EngineQueue } from "./engine-queue.ts";
import type { EngineReply } from "./engine-reply.ts";
import type { EngineRequest } from "./process/engine-process.ts";
import { Transcriber } from "./transcriber.ts";

const SECONDS = 4;

function heard(text: string, logProbability: number, endMs = SECONDS * 1000): EngineReply {
  return { segments: [{ text, startMs: 0, endMs, logProbability }], languageName: null };
}

/** Transcribes four seconds of sound with an engine that gives these answers to shortened and to whole windows. */
async function ask(
  answers: { readonly fitted: EngineReply; readonly full: EngineReply },
  asked: Partial<TranscriptionRequest> = {},
): Promise<{ text: string; questions: string[] }> {
  const questions: string[] = [];
  const queue = new EngineQueue(8, silentLogger);
  queue.setEngine({
    ask: ({ positions, prompt }: EngineRequest) => {
      questions.push(`${positions ?? "all"}${prompt === null ? "" : " after words"}`);
      return Promise.resolve(positions === null ? answers.full : answers.fitted);
    },
    untilIdle: () => Promise.resolve(),
    kill: () => {},
  });
  const shape = { positionsMax: 1500, isMultilingual: false };
  const transcriber = new Transcriber({ queue, shape, window: "fitted", language: null });
  const { signal } = new AbortController();
  const request = { language: null, prompt: null, caller: null, urgency: "awaited", signal } as const;
  const { text } = await transcriber.transcribe(new Int16Array(SECONDS * 16_000).fill(1000), { ...request, ...asked });
  return { text, questions };
}

test("an answer with high confidence is used", async () => {
  const answers = { fitted: heard("It is here.", -0.1), full: heard("It is not.", -0.01) };
  expect(await ask(answers)).toEqual({ text: "It is here.", questions: ["320"] });
});

test.each([
  { full: heard("Press star.", -0.2), text: "Press star.", what: "used if its confidence is higher" },
  { full: heard("Press tar.", -0.5), text: "Press start.", what: "ignored if its confidence is lower" },
  { full: heard("Press star.", -0.2, 9000), text: "Press start.", what: "ignored if it looks wrong" },
])("after an answer with low confidence a whole window is tried too, whose answer is $what", async ({ full, text }) => {
  const fitted = heard("Press start.", -0.4);
  expect(await ask({ fitted, full })).toEqual({ text, questions: ["320", "all"] });
});

test("an answer that looks wrong is replaced by that of a whole window, at any confidence", async () => {
  const answers = { fitted: heard("Hello. Hello.", -0.1, 9000), full: heard("Hello.", -0.6) };
  expect(await ask(answers, { prompt: "Hi." })).toEqual({ text: "Hello.", questions: ["320 after words", "all"] });
});

test("a repeated phrase is reduced to one, without a second question", async () => {
  const phrase = " Your temporary greeting is currently active.";
  const answers = { fitted: heard(phrase.repeat(20), -0.2, 30_000), full: heard("Yours.", -0.01) };
  expect(await ask(answers)).toEqual({ text: phrase.trim(), questions: ["320"] });
});

test("a repeated phrase from the prompt is asked about again without the prompt", async () => {
  const answers = { fitted: heard(" Press one to go on.".repeat(20), -0.1, 30_000), full: heard("Goodbye.", -0.1) };
  const { text, questions } = await ask(answers, { prompt: "Please press one to go on" });
  expect({ text, questions }).toEqual({ text: "Goodbye.", questions: ["320 after words", "all"] });
});

test("a guess is asked for again only if it looks wrong", async () => {
  const full = heard("Press star.", -0.2);
  const guess = { isGuess: true };
  expect((await ask({ fitted: heard("Press start.", -0.4), full }, guess)).text).toBe("Press start.");
  expect((await ask({ fitted: heard("Press start.", -0.4, 9000), full }, guess)).text).toBe("Press star.");
});
