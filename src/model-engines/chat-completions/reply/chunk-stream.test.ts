import { StringDecoder } from "node:string_decoder";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolNames } from "../../context/tool-names.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { ChunkStream } from "./chunk-stream.ts";
import { RepeatedEvent } from "./repeated-event.ts";

/** What a reply was read as: its model events, and the message of the error that ended it. */
interface Outcome {
  readonly events: readonly ModelEvent[];
  readonly error: string | null;
}

const newReader = () => new ChunkReader({ toolNames: new ToolNames(), reasoningTags: "leading", wantsLogprobs: true });

function outcomeOf(reader: ChunkReader, read: () => void): Outcome {
  try {
    read();
  } catch (error) {
    return { events: reader.take(), error: String(error) };
  }
  return { events: reader.take(), error: null };
}

function readAsStream(pieces: readonly Buffer[]): Outcome {
  const reader = newReader();
  const stream = new ChunkStream(reader, { model: "m", host: "localhost", apiKey: null, keySetting: "MODEL_API_KEY" });
  return outcomeOf(reader, () => {
    for (const piece of pieces) stream.feed(piece);
    stream.end();
  });
}

/** The same with a parser of events and `JSON.parse` for each of them. */
function readPlainly(bytes: Buffer): Outcome {
  const reader = newReader();
  let isDone = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (isDone || data === "") return;
      if (data === "[DONE]") {
        isDone = true;
        return reader.finish();
      }
      const chunk: unknown = parsed(data);
      if (!isRecord(chunk)) throw new Error("no chunk");
      reader.read(chunk);
    },
  });
  return outcomeOf(reader, () => {
    parser.feed(`${new StringDecoder("utf8").end(bytes)}\n\n`);
    if (isDone) return;
    if (!reader.hasFinishReason) throw new Error("broke off");
    reader.finish();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function expectSame(bytes: Buffer, cuts: readonly number[]): void {
  const plain = readPlainly(bytes);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
  const read = readAsStream(pieces);
  expect(read.events).toEqual(plain.events);
  expect(read.error === null).toBe(plain.error === null);
}

const TEXT = fc.oneof(
  fc.constantFrom(
    " token",
    "",
    " ",
    "a",
    '"',
    "\\",
    "\n",
    "\u2028",
    "\ud83d\ude00",
    "\ud83d",
    "x".repeat(40),
    "<think>",
  ),
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 6 }),
);

/** Deltas with one text, as servers send them, and some with several. */
const DELTA = fc.oneof(
  { weight: 8, arbitrary: TEXT.map((content) => ({ content })) },
  { weight: 2, arbitrary: TEXT.map((content) => ({ role: "assistant", content, refusal: null })) },
  { weight: 2, arbitrary: TEXT.map((text) => ({ reasoning_content: text, content: null })) },
  { weight: 1, arbitrary: fc.tuple(TEXT, TEXT).map(([content, reasoning]) => ({ content, reasoning })) },
  {
    weight: 2,
    arbitrary: TEXT.map((text) => ({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: text } }] })),
  },
);

const CHUNK = fc.record({
  id: fc.constantFrom("chatcmpl-1", "chatcmpl-1", "chatcmpl-1", "chatcmpl-2", 'content":"'),
  delta: DELTA,
  finish: fc.constantFrom(null, null, null, null, null, null, null, null, "stop"),
  extra: fc.constantFrom({}, {}, { usage: null }, { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
});

/** How a server writes: the spaces of its JSON, its line ends, and fields beside `data`. */
const STYLE = fc.record({
  write: fc.constantFrom<(value: object) => string>(
    (value) => JSON.stringify(value),
    (value) => JSON.stringify(value, null, 1).replaceAll(/\n */g, " "),
    (value) =>
      JSON.stringify(value).replaceAll(
        /[\u007f-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
  ),
  field: fc.constantFrom("data: ", "data: ", "data:", "id: 7\ndata: ", ": note\n\ndata: "),
  end: fc.constantFrom("\n\n", "\n\n", "\n\n", "\r\n\r\n", "\n\n\n"),
});

const REPLY = fc
  .record({ chunks: fc.array(CHUNK, { maxLength: 30 }), style: STYLE, done: fc.boolean() })
  .map(({ chunks, style, done }) => {
    const texts = chunks.map(({ id, delta, finish, extra }) =>
      style.write({ id, model: "m", choices: [{ index: 0, delta, finish_reason: finish }], ...extra }),
    );
    return [...texts, ...(done ? ["[DONE]"] : [])].map((text) => `${style.field}${text}${style.end}`).join("");
  });

const CUTS = fc.array(fc.nat(), { maxLength: 40 });

test("a stream means the same as its events parsed one by one, wherever it is cut", () => {
  fc.assert(
    fc.property(REPLY, CUTS, (reply, cuts) => expectSame(Buffer.from(reply), cuts)),
    { numRuns: 500 },
  );
});

test("a stream with a damaged part means the same as its events parsed one by one", () => {
  const damage = fc.record({
    at: fc.nat(),
    removed: fc.integer({ min: 0, max: 3 }),
    put: fc.constantFrom(
      "",
      '"',
      "\\",
      "\n",
      "\r",
      "\t",
      "\u0000",
      "\\u12",
      "{",
      "}",
      ",",
      '","content":"',
      "\n\n",
      "data: ",
      "\ufeff",
    ),
  });
  fc.assert(
    fc.property(REPLY, CUTS, damage, (reply, cuts, { at, removed, put }) => {
      const place = at % (reply.length + 1);
      expectSame(Buffer.from(reply.slice(0, place) + put + reply.slice(place + removed)), cuts);
    }),
    { numRuns: 500 },
  );
});

test("an event whose text stands twice, or in no delta, is not misread", () => {
  const twice = (text: string) => `data: {"choices":[{"delta":{"content":"${text}","content":"last"}}]}\n\n`;
  const quoted = (text: string) =>
    `data: {"note":"\\"content\\":\\"${text}\\"","choices":[{"delta":{"content":"a"}}]}\n\n`;
  for (const write of [twice, quoted]) {
    const bytes = Buffer.from(`${["a", "b", "b", "c"].map(write).join("")}data: [DONE]\n\n`);
    expectSame(bytes, []);
  }
});

test("a byte order mark is removed at the beginning only", () => {
  for (const marked of [0, 1, 2]) {
    const events = ["a", "b", "c"].map((text, index) => (index === marked ? `\ufeff${event(text)}` : event(text)));
    expectSame(Buffer.from(`${events.join("")}data: [DONE]\n\n`), []);
  }
});

const event = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;

test("an event like the example is found, and nothing else", () => {
  const example = RepeatedEvent.like(event("one"));
  expect(example?.read(event("two"), 0)).toBe(event("two").length);
  expect(example?.chunk).toEqual({ choices: [{ delta: { content: "two" } }] });
  expect(example?.read(event("a\\n\\u0041\\\\"), 0)).toBeGreaterThan(0);
  expect(example?.chunk).toEqual({ choices: [{ delta: { content: "a\nA\\" } }] });
  expect(example?.read(event("two").slice(0, -1), 0)).toBe(-1);
  expect(example?.read(event("\\x"), 0)).toBe(-1);
  expect(example?.read(event("a\tb"), 0)).toBe(-1);
  expect(example?.read(event('a","content":"b'), 0)).toBe(-1);
});

test("events that are not one line of data, or hold no text, are no examples", () => {
  expect(RepeatedEvent.like(`id: 1\n${event("one")}`)).toBeNull();
  expect(RepeatedEvent.like(event("one").replaceAll("\n", "\r\n"))).toBeNull();
  expect(RepeatedEvent.like(event(""))).toBeNull();
  expect(RepeatedEvent.like("data: [DONE]\n\n")).toBeNull();
  expect(RepeatedEvent.like(event("x".repeat(5000)))).toBeNull();
});
