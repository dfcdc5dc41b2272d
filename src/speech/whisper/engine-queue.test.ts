import { expect, test } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { SpeechError } from "../speech-engine.ts";
import { type Answerer, type Asking, EngineQueue } from "./engine-queue.ts";
import type { Heard } from "./engine-reply.ts";

/** An engine that says how much it was given. */
const counting: Answerer = {
  ask: ({ samples }) => Promise.resolve(heard(String(samples.length))),
  untilIdle: () => Promise.resolve(),
  kill: () => {},
};

function heard(text: string): Heard {
  return { segments: [{ text, startMs: 0, endMs: 0, logProbability: 0 }], languageName: null };
}

function ask(queue: EngineQueue, samples: number, asking: Partial<Asking> = {}): Promise<Heard> {
  return queue.ask(
    { samples: new Int16Array(samples), positions: null, language: "en", prompt: null },
    {
      caller: null,
      urgency: "awaited",
      signal: new AbortController().signal,
      timeoutMs: 1000,
      isContinued: false,
      ...asking,
    },
  );
}

test("while there is no engine questions wait for one; beyond the limit only those of requests that were begun", async () => {
  const queue = new EngineQueue(1, silentLogger);
  const first = ask(queue, 1);
  await expect(ask(queue, 2)).rejects.toMatchObject({ reason: "busy" });
  const continued = ask(queue, 3, { isContinued: true });
  queue.setEngine(counting);
  expect(await Promise.all([first, continued])).toEqual([heard("1"), heard("3")]);
});

test("who is sent away is told why, and so is everyone who comes before there is an engine again", async () => {
  const queue = new EngineQueue(8, silentLogger);
  const waiting = ask(queue, 1);
  queue.rejectAll(new SpeechError("failed", "The engine is gone"));
  await expect(waiting).rejects.toThrow("The engine is gone");
  await expect(ask(queue, 2)).rejects.toThrow("The engine is gone");
  queue.setEngine(counting);
  expect(await ask(queue, 3)).toEqual(heard("3"));
});

test("an answer that comes after its question was taken back reaches nobody, and the next one is its own", async () => {
  const queue = new EngineQueue(8, silentLogger);
  const late = Promise.withResolvers<Heard>();
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

test("what somebody begins to wait for passes what nobody waits for", async () => {
  const queue = new EngineQueue(8, silentLogger);
  const order: string[] = [];
  const hurrying = new AbortController();
  const note = async (samples: number, asking: Partial<Asking>): Promise<void> => {
    order.push(
      (await ask(queue, samples, { urgency: "ahead", caller: String(samples), ...asking })).segments[0]?.text ?? "",
    );
  };
  const all = [note(1, {}), note(2, {}), note(3, { hurried: hurrying.signal })];
  hurrying.abort();
  queue.setEngine(counting);
  await Promise.all(all);
  expect(order).toEqual(["3", "1", "2"]);
});
