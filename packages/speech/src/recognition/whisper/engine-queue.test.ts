import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { SpeechError } from "../speech-engine.ts";
import { type Answerer, EngineQueue, type QuestionOptions } from "./engine-queue.ts";
import type { EngineReply } from "./engine-reply.ts";

/** An engine whose answer is the number of samples. */
const counting: Answerer = {
  ask: ({ samples }) => Promise.resolve(heard(String(samples.length))),
  untilIdle: () => Promise.resolve(),
  kill: () => {},
};

function heard(text: string): EngineReply {
  return { segments: [{ text, startMs: 0, endMs: 0, logProbability: 0 }], languageName: null };
}

function ask(queue: EngineQueue, samples: number, options: Partial<QuestionOptions> = {}): Promise<EngineReply> {
  return queue.ask(
    { samples: new Int16Array(samples), positions: null, language: "en", prompt: null },
    {
      caller: null,
      urgency: "awaited",
      signal: new AbortController().signal,
      timeoutMs: 1000,
      isContinued: false,
      ...options,
    },
  );
}

test("questions wait for an engine; a full queue accepts only later questions of a request that has begun", async () => {
  const queue = new EngineQueue(1, silentLogger);
  const first = ask(queue, 1);
  await expect(ask(queue, 2)).rejects.toMatchObject({ reason: "busy" });
  const continued = ask(queue, 3, { isContinued: true });
  queue.setEngine(counting);
  expect(await Promise.all([first, continued])).toEqual([heard("1"), heard("3")]);
});

test("rejectAll rejects waiting questions, and new ones until there is an engine again", async () => {
  const queue = new EngineQueue(8, silentLogger);
  const waiting = ask(queue, 1);
  queue.rejectAll(new SpeechError("failed", "The engine is gone"));
  await expect(waiting).rejects.toThrow("The engine is gone");
  await expect(ask(queue, 2)).rejects.toThrow("The engine is gone");
  queue.setEngine(counting);
  expect(await ask(queue, 3)).toEqual(heard("3"));
});

test("the late answer to an aborted question is dropped, and the next question gets its own answer", async () => {
  const queue = new EngineQueue(8, silentLogger);
  const late = Promise.withResolvers<EngineReply>();
  queue.setEngine({
    ...counting,
    ask: (question, signal) => (question.samples.length === 1 ? late.promise : counting.ask(question, signal)),
  });
  const leaving = new AbortController();
  const first = ask(queue, 1, { signal: leaving.signal });
  const second = ask(queue, 2);
  leaving.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  late.resolve(heard("late"));
  expect(await second).toEqual(heard("2"));
});

test("a question that becomes awaited goes ahead of those that are not", async () => {
  const queue = new EngineQueue(8, silentLogger);
  const order: string[] = [];
  const hurrying = new AbortController();
  const note = async (samples: number, options: Partial<QuestionOptions>): Promise<void> => {
    order.push(
      (await ask(queue, samples, { urgency: "ahead", caller: String(samples), ...options })).segments[0]?.text ?? "",
    );
  };
  const all = [note(1, {}), note(2, {}), note(3, { hurried: hurrying.signal })];
  hurrying.abort();
  queue.setEngine(counting);
  await Promise.all(all);
  expect(order).toEqual(["3", "1", "2"]);
});
