import type { SttClientMessage, SttServerMessage } from "@antiphon/contracts/local-stt/types.ts";
import { describe, expect, test } from "vitest";
import { RATE_HZ, spokenBase64 } from "../../tests/speech/slow-sound.ts";
import { verifies } from "../../tests/verifies.ts";
import { asking, sending } from "./detours.fixture.ts";
import { checkInteraction, checkRefusal, type Refusal } from "./interaction.fixture.ts";
import type { State } from "./provider-states.fixture.ts";

const STREAM = { method: "POST", path: "/stream/transcribe" } as const;
const CHUNK = { type: "chunk", audio_base64: spokenBase64("three", 300), sample_rate: RATE_HZ } as const;
const SILENCE = { type: "chunk", audio_base64: spokenBase64(50), sample_rate: RATE_HZ } as const;
const END = { type: "end" } as const;
const HELLO = { type: "hello", protocol: "stt-jsonl-v1" } as const;
const FINAL = {
  type: "transcript.final",
  text: "three",
  full_text: "three",
  seq: 0,
  start_ms: 0,
  end_ms: 600,
} as const;
const NOTHING = { ...FINAL, text: "", full_text: "", end_ms: 0 } as const;
const CLOSED = { type: "stream.closed" } as const;
const ACK = { type: "ack", received_bytes: 9600 } as const;

interface Talk {
  readonly name: string;
  readonly messages: readonly SttClientMessage[];
  readonly query?: Readonly<Record<string, string>>;
  readonly answers: readonly SttServerMessage[];
}

/** Whole streams over plain HTTP. The pact with `local-stt-stream` holds the single messages. */
const TALKS: readonly Talk[] = [
  { name: "a word, ended", messages: [CHUNK, END], answers: [HELLO, ACK, FINAL, CLOSED] },
  { name: "a word in a last chunk", messages: [{ ...CHUNK, last: true }], answers: [HELLO, ACK, FINAL, CLOSED] },
  { name: "an end alone", messages: [END], query: { interim: "false" }, answers: [HELLO, NOTHING, CLOSED] },
  { name: "sound that nobody asks for", messages: [SILENCE], answers: [HELLO, { ...ACK, received_bytes: 800 }] },
];

describe("a client that streams over plain HTTP", () => {
  test.each(TALKS)("hears what answers $name", async ({ name, messages, query, answers }) => {
    verifies("stt.ndjson.content-types", "stt.stream.hello-first", "stt.stream.no-transcript-without-flush-or-end");
    await checkInteraction(
      {
        ...STREAM,
        given: "a model that hears tones",
        request: `to transcribe lines: ${name}`,
        ...(query === undefined ? {} : { query }),
        body: { lines: messages },
        reply: { text: textOf(answers), pattern: patternOf(answers), type: "application/x-ndjson" },
      },
      async (client) => {
        const stream = await client.streamTranscription(say(messages), query === undefined ? {} : { interim: false });
        const heard: unknown[] = [];
        try {
          for await (const message of stream) heard.push(message);
        } catch (error) {
          // The stream ended without a final message.
          expect([error, messages.at(-1)?.type]).toMatchObject([{ name: "StreamBrokenError" }, "chunk"]);
        }
        expect(heard).toEqual(answers);
      },
    );
  });

  test.each<readonly [given: State, refusal: Refusal]>([
    ["a speech server", { status: 503, code: "model_failed", isPassing: true }],
    ["a speech model that is being loaded", { status: 503, code: "model_loading", isPassing: true }],
    ["an engine with a full queue", { status: 503, code: "busy", isPassing: true }],
    ["as many streams as there may be", { status: 503, code: "too_many_streams", isPassing: true }],
    ["a server that is stopping", { status: 503, code: "shutting_down", isPassing: true }],
  ])("is refused, given %s", async (given, refusal) => {
    verifies("stt.transcribe.not-ready-is-503", "stt.stream.too-many-streams", "stt.errors.http-shape");
    const interaction = { ...STREAM, given, request: `to transcribe lines, with ${given}`, body: { lines: [END] } };
    await checkRefusal(interaction, refusal, (client) => client.streamTranscription(say([END])));
  });

  test("is refused where it does not say clearly whether it wants interim words", async () => {
    verifies("stt.stream.interim-is-opt-in");
    const query = { interim: "maybe" };
    const request = "to transcribe lines, perhaps with interim words";
    await checkRefusal(
      { ...STREAM, given: "a model that hears tones", request, query, body: { lines: [END] } },
      { status: 400, code: "invalid_request" },
      (client) => client.streamTranscription(say([END])),
      asking("POST", "/stream/transcribe?interim=maybe"),
    );
  });

  test("is refused where it sends sound in the place of lines", async () => {
    verifies("stt.ndjson.binary-body-refused");
    const body = { text: "three", type: "text/plain" } as const;
    await checkRefusal(
      { ...STREAM, given: "a model that hears tones", request: "to transcribe lines that are none", body },
      { status: 415, code: "unsupported_media_type" },
      (client) => client.streamTranscription(say([END])),
      sending(body),
    );
  });
});

async function* say(messages: readonly SttClientMessage[]): AsyncGenerator<SttClientMessage> {
  yield* messages;
}

function textOf(messages: readonly object[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join("");
}

/** Matches the message types in order. The pact of single messages holds their contents. */
function patternOf(messages: readonly { readonly type: string }[]): string {
  const lines = messages.map(({ type }) => `[{][^\\n]*"type":"${type.replace(".", "[.]")}"[^\\n]*[}]\\n`);
  return `^${lines.join("")}$`;
}
