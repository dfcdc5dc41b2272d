import { expect, test } from "vitest";
import { KEPT_BYTES_MAX, SpokenAudio } from "./spoken-audio.ts";

const RATE = 16_000;

function piece(value: number, length = 4): Int16Array {
  return new Int16Array(length).fill(value);
}

/** A message in short: the first sample of a chunk, or the type of another message. */
async function next(messages: ReturnType<SpokenAudio["messages"]>): Promise<number | string> {
  const { value, done } = await messages.next();
  if (done === true) return "done";
  return value.type === "chunk" ? Buffer.from(value.audio_base64, "base64").readInt16LE() : value.type;
}

async function take(messages: ReturnType<SpokenAudio["messages"]>, count: number): Promise<(number | string)[]> {
  const taken: (number | string)[] = [];
  while (taken.length < count) taken.push(await next(messages));
  return taken;
}

function spoken(...values: readonly number[]): SpokenAudio {
  const audio = new SpokenAudio(RATE);
  for (const value of values) audio.add(piece(value));
  return audio;
}

test("pieces are sent in order, with their sample rate, followed by the end", async () => {
  const audio = spoken(1, -2, 3);
  audio.end();
  const first = await audio.messages().next();
  expect(first.value).toEqual({ type: "chunk", audio_base64: "AQABAAEAAQA=", sample_rate: RATE });
  expect(await take(audio.messages(), 5)).toEqual([1, -2, 3, "end", "done"]);
});

test("a waiting stream gets audio that is added later", async () => {
  const audio = spoken(1);
  const messages = audio.messages();
  expect(await next(messages)).toBe(1);
  const later = next(messages);
  audio.add(piece(2));
  expect(await later).toBe(2);
});

test("a new stream gets the audio without a final transcript again", async () => {
  const audio = spoken(1, 2, 3);
  const first = audio.messages();
  expect(await take(first, 3)).toEqual([1, 2, 3]);
  audio.acknowledge();
  audio.acknowledge();
  audio.settle(); // A final for the acknowledged pieces: 1 and 2.
  audio.acknowledge();
  audio.end();
  expect(await take(audio.messages(), 3)).toEqual([3, "end", "done"]);
});

test("an older stream gets nothing more", async () => {
  const audio = spoken(1);
  const old = audio.messages();
  await next(old);
  const ofOld = next(old);
  const young = audio.messages();
  expect(await next(young)).toBe(1);
  const ofYoung = next(young);
  audio.add(piece(2));
  expect(await ofYoung).toBe(2);
  expect(await Promise.race([ofOld, Promise.resolve("nothing")])).toBe("nothing");
});

test("a final is requested once, after the audio so far", async () => {
  const audio = spoken(1, 2);
  const messages = audio.messages();
  audio.askForFinal();
  expect(await take(messages, 3)).toEqual([1, 2, "flush"]);
  audio.add(piece(3));
  audio.end();
  expect(await take(messages, 2)).toEqual([3, "end"]);
});

test("the kept audio is bounded, and finals make room", async () => {
  const audio = new SpokenAudio(RATE);
  const rest = KEPT_BYTES_MAX / 2 - 4;
  expect([audio.add(piece(1)), audio.add(piece(0, rest)), audio.add(piece(2))]).toEqual([true, true, false]);
  expect(Math.round(audio.openMs)).toBe((KEPT_BYTES_MAX / 2 / RATE) * 1000);
  expect(await next(audio.messages())).toBe(1);
  audio.acknowledge();
  audio.settle();
  expect([audio.add(piece(2)), audio.add(piece(3))]).toEqual([true, false]);
});
