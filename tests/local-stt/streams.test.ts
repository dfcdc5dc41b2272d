import { Resampler } from "@antiphon/speech/audio/resampler.ts";
import { describe, expect, test } from "vitest";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { sound, tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { chunk, chunks, exchange, type Message, openStream, TRANSPORTS } from "./stream-client.ts";
import { program, startToneServer } from "./tone-server.ts";

const HELLO = { type: "hello", protocol: "stt-jsonl-v1" };
const CLOSED = { type: "stream.closed" };
const FLUSH = { type: "flush" };
const END = { type: "end" };

function finals(messages: readonly Message[]): Message[] {
  return messages.filter(({ type }) => type === "transcript.final");
}

function texts(messages: readonly Message[]): unknown[] {
  return finals(messages).map(({ text }) => text);
}

describe.skipIf(program === null).each(TRANSPORTS)("a stream over %s", (transport) => {
  test("says hello, acknowledges each chunk, and ends with the words and stream.closed", async () => {
    verifies("stt.stream.hello-first", "stt.stream.one-ack-per-chunk", "stt.stream.received-bytes-counts-audio");
    verifies("stt.stream.end-transcribes-and-closes", "stt.stream.encoding-is-optional");
    const server = await startToneServer();
    const stream = openStream(server.url, transport);
    expect(await stream.hear()).toEqual(HELLO);
    const spoken = tones("three", "one", "four");
    const half = spoken.length / 2;
    stream.say(chunk(spoken.subarray(0, half)));
    expect(await stream.hear()).toEqual({ type: "ack", received_bytes: half * 2 });
    stream.say(chunk(spoken.subarray(half), { encoding: "pcm_s16le", sample_rate: 16_000, last: null }));
    expect(await stream.hear()).toEqual({ type: "ack", received_bytes: spoken.length * 2 });
    stream.say(END);
    const final = { type: "transcript.final", text: "three one four", full_text: "three one four", language: "en" };
    expect(await stream.hearAll()).toEqual([{ ...final, seq: 0, start_ms: 0, end_ms: 1800 }, CLOSED]);
    expect(await stream.ended()).toBe(transport === "ndjson" ? 200 : 1000);
    if (transport === "websocket") verifies("stt.websocket.orderly-close-code");
    else verifies("stt.ndjson.full-duplex");
  });

  test("answers each flush with the transcript since the previous final", async () => {
    verifies("stt.stream.flush-transcribes-now", "stt.stream.final-covers-since-previous");
    verifies("stt.stream.full-text-covers-the-stream", "stt.stream.final-positions", "stt.stream.answers-keep-order");
    verifies("stt.stream.silence-is-empty-text");
    const server = await startToneServer();
    const heard = await exchange(server.url, transport, [
      FLUSH,
      chunk(tones("two", "five")),
      FLUSH,
      chunk(sound(500)),
      FLUSH,
      chunk(tones("nine")),
      END,
    ]);
    expect(heard.map(({ type }) => type)).toEqual([
      "hello",
      "transcript.final",
      "ack",
      "transcript.final",
      "ack",
      "transcript.final",
      "ack",
      "transcript.final",
      "stream.closed",
    ]);
    const type = "transcript.final";
    expect(finals(heard)).toEqual([
      { type, text: "", full_text: "", seq: 0, start_ms: 0, end_ms: 0 },
      { type, text: "two five", full_text: "two five", language: "en", seq: 1, start_ms: 0, end_ms: 1200 },
      { type, text: "", full_text: "two five", seq: 2, start_ms: 1200, end_ms: 1700 },
      { type, text: "nine", full_text: "two five nine", language: "en", seq: 3, start_ms: 1700, end_ms: 2300 },
    ]);
  });

  test("uses the language of its first chunk, and ends at one that the model does not know", async () => {
    verifies("stt.stream.language");
    const server = await startToneServer();
    const english = await exchange(server.url, transport, [chunk(tones("six"), { language: "en-GB" }), END]);
    expect(finals(english)).toMatchObject([{ text: "six", language: "en" }]);
    const german = await exchange(server.url, transport, [chunk(tones("six"), { language: "de" }), END]);
    expect(german.at(-1)).toEqual({
      type: "error",
      code: "unsupported_language",
      message: expect.stringMatching(/^The speech model .* does not know the language 'de'\.$/),
    });
    const changed = await exchange(server.url, transport, [
      chunk(tones("six")),
      chunk(tones("six"), { language: "en" }),
    ]);
    expect(changed.at(-1)).toMatchObject({ type: "error", code: "invalid_message" });
  });

  test("treats a last chunk as the end", async () => {
    verifies("stt.stream.last-acts-as-end");
    const server = await startToneServer();
    const heard = await exchange(server.url, transport, [chunk(tones("six")), chunk(tones("seven"), { last: true })]);
    expect(heard.map(({ type }) => type)).toEqual(["hello", "ack", "ack", "transcript.final", "stream.closed"]);
    expect(texts(heard)).toEqual(["six seven"]);
  });

  test("gives no transcript to a client that stops without requesting one", async () => {
    verifies("stt.stream.no-transcript-without-flush-or-end");
    const server = await startToneServer();
    const stream = openStream(server.url, transport);
    stream.say(chunk(tones("one")));
    expect([await stream.hear(), await stream.hear()]).toMatchObject([HELLO, { type: "ack" }]);
    stream.hangUp();
    expect(await stream.hearAll()).toEqual([]);
  });

  test("gives no words for silence and noise", async () => {
    verifies("stt.stream.silence-is-empty-text");
    const server = await startToneServer();
    const noise = Int16Array.from({ length: 32_000 }, (_, n) => ((n * 7919 + ((n * n) % 4093) * 13) % 2001) - 1000);
    const heard = await exchange(server.url, transport, [chunk(sound(3000)), FLUSH, chunk(noise), END]);
    expect(texts(heard)).toEqual(["", ""]);
  });

  test("gives the same words for chunks of any size, including odd ones and 32 kB ones", async () => {
    verifies("stt.stream.split-samples", "stt.stream.recommended-chunk-size");
    const server = await startToneServer();
    const spoken = sound(...["four", "two", "eight"].flatMap((word): (ToneWord | number)[] => [isWord(word), 300]));
    for (const bytes of [333, 1001, 32_000, 57_600]) {
      const heard = await exchange(server.url, transport, [...chunks(spoken, bytes), END]);
      expect(texts(heard)).toEqual(["four two eight"]);
      expect(heard.findLast(({ type }) => type === "ack")).toEqual({ type: "ack", received_bytes: spoken.length * 2 });
    }
  });

  test("resamples other rates; a new rate applies from its chunk on", async () => {
    verifies("stt.stream.sample-rate-is-honoured");
    const server = await startToneServer();
    const at = (rateHz: number, samples: Int16Array): Int16Array => {
      const resampler = new Resampler(16_000, rateHz);
      return Int16Array.from([...resampler.push(samples), ...resampler.end()]);
    };
    const heard = await exchange(server.url, transport, [
      ...chunks(at(44_100, tones("nine", "zero", "five")), 10_001, { sample_rate: 44_100 }),
      FLUSH,
      chunk(at(48_000, tones("three")), { sample_rate: 48_000 }),
      chunk(at(48_000, tones("one"))),
      chunk(at(8000, tones("two")), { sample_rate: 8000 }),
      END,
    ]);
    expect(texts(heard)).toEqual(["nine zero five", "three one two"]);
    expect(heard.at(-2)).toMatchObject({ start_ms: 1800, end_ms: 3600 });
  });

  test("transcribes while audio arrives, so that only the tail is left at the end", async () => {
    const server = await startToneServer();
    const stream = openStream(server.url, transport, "?interim=true");
    // The model never repeats a word, so each piece has its own.
    const words: [ToneWord, ToneWord][] = [
      ["one", "two"],
      ["three", "four"],
      ["five", "six"],
      ["seven", "eight"],
    ];
    const all = words.flat().join(" ");
    for (const [first, second] of words) stream.say(chunk(sound(first, 300, second, 1000)));
    const partials: unknown[] = [];
    while (partials.at(-1) !== all) {
      const message = await stream.hear();
      if (message?.["type"] === "transcript.partial") partials.push(message["text"]);
      expect(["hello", "ack", "transcript.partial"]).toContain(message?.["type"]);
    }
    stream.say(END);
    expect(texts(await stream.hearAll())).toEqual([all]);
    verifies("stt.stream.interim-is-opt-in");
  });

  test("sends no partials unless requested", async () => {
    verifies("stt.stream.interim-is-opt-in");
    const server = await startToneServer();
    const heard = await exchange(server.url, transport, [chunk(sound("one", 1200)), chunk(sound("two", 1200)), END]);
    expect(heard.map(({ type }) => type)).toEqual(["hello", "ack", "ack", "transcript.final", "stream.closed"]);
  });
});

function isWord(word: string): ToneWord {
  const known: Readonly<Record<string, ToneWord>> = { four: "four", two: "two", eight: "eight" };
  return known[word] ?? "zero";
}

test.skipIf(program === null)("both transports send the same messages", async () => {
  verifies("stt.stream.same-on-both-transports", "stt.ndjson.content-types");
  const server = await startToneServer();
  const messages = [chunk(tones("one", "three")), FLUSH, FLUSH, chunk(sound(100)), chunk(tones("two"), { last: true })];
  const [lines, frames] = await Promise.all(TRANSPORTS.map((transport) => exchange(server.url, transport, messages)));
  expect(lines).toEqual(frames);
  expect(texts(lines ?? [])).toEqual(["one three", "", "two"]);
});

test.skipIf(program === null)("eight streams at once all get their words", async () => {
  const server = await startToneServer();
  const words: readonly ToneWord[] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
  const heard = await Promise.all(
    words.map((word, index) =>
      exchange(server.url, index % 2 === 0 ? "ndjson" : "websocket", [
        ...chunks(sound(word, 1000, "nine", 1000, word, 400), 3200),
        END,
      ]),
    ),
  );
  for (const [index, word] of words.entries())
    expect(finals(heard[index] ?? [])).toMatchObject([{ text: `${word} nine ${word}` }]);
});
