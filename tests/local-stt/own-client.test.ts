import type { SttClientMessage } from "@antiphon/contracts/local-stt/types.ts";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, test } from "vitest";
import { AntiphonSpeech } from "../../packages/client/src/index.ts";
import { sound, tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { program, startToneServer } from "./tone-server.ts";

function chunk(samples: Int16Array): SttClientMessage {
  return { type: "chunk", audio_base64: Buffer.from(pcmBytes(samples)).toString("base64") };
}

describe.skipIf(program === null)("our own client", () => {
  test.each(["ndjson", "websocket"] as const)(
    "streams over %s, with interim texts if requested",
    async (streamTransport) => {
      verifies("client.stt.both-stream-transports", "stt.stream.interim-is-opt-in");
      const { url } = await startToneServer();
      const client = new AntiphonSpeech({ baseUrl: url, streamTransport });
      for (const interim of [false, true]) {
        const heard: string[] = [];
        const early = Promise.withResolvers<void>();
        async function* speak(): AsyncGenerator<SttClientMessage> {
          yield chunk(sound("two", 1000));
          if (interim) await early.promise;
          yield chunk(tones("four"));
          yield { type: "end" };
        }
        for await (const message of await client.streamTranscription(speak(), { interim })) {
          heard.push("text" in message ? `${message.type} ${message.text}` : message.type);
          if (message.type === "transcript.partial") early.resolve();
        }
        const partials = heard.filter((one) => one.startsWith("transcript.partial"));
        expect(heard.filter((one) => !partials.includes(one))).toEqual([
          "hello",
          "ack",
          "ack",
          "transcript.final two four",
          "stream.closed",
        ]);
        expect(partials.slice(0, 1)).toEqual(interim ? ["transcript.partial two"] : []);
      }
    },
  );

  test("sends recordings and texts", async () => {
    const { url } = await startToneServer();
    const client = new AntiphonSpeech({ baseUrl: url });
    const audio = new Blob([Uint8Array.from(wavFile(tones("one", "six"), 16_000))]);
    expect(await client.transcribe({ audio })).toEqual({ text: "one six", duration_ms: 1200, language: "en" });
    const raw = { text: "one six", raw_text: "one six", formatted: false };
    expect(await client.transcribeAndFormat({ audio, instruction: "as a list" })).toEqual({ ...raw, language: "en" });
    expect(await client.format({ text: "one six" })).toEqual(raw);
  });
});
