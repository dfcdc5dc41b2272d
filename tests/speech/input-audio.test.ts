import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import type { RecordingTranscriber } from "@antiphon/speech/recognition/recording-transcriber.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { settled, startLocalSttServer } from "../local-stt-server.ts";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { wav } from "../responses/media-samples.ts";
import { verifies } from "../verifies.ts";
import { sound } from "./tones.ts";
import { toneModelFile, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();

/** The engine that both interfaces get from the configuration. */
async function configuredEngine(): Promise<RecordingTranscriber> {
  const server = await startLocalSttServer({
    env: {
      SPEECH_ENGINE: "whisper",
      WHISPER_SERVER_PATH: program ?? "",
      WHISPER_MODEL_PATH: await toneModelFile(),
    },
  });
  onTestFinished(() => server.close());
  await settled(server.speech);
  return server.recordings;
}

function asked(samples: Int16Array, rateHz = 16_000): object {
  const data = wav(Buffer.from(pcmBytes(samples)), rateHz, 1).toString("base64");
  return { input: [{ role: "user", content: [{ type: "input_audio", input_audio: { data, format: "wav" } }] }] };
}

describe.skipIf(program === null)("a recording for a model without audio input, without a transcription server", () => {
  test.each([
    { what: "what is said in it", samples: sound(500, "three", 400, "one", 400, "four", 500), text: "three one four" },
    {
      what: "what is said between long silences",
      samples: sound(5000, "two", 12_000, "two", 300, "seven", 9000),
      text: "two two seven",
    },
    { what: "that nothing is", samples: sound(6000), text: "[A recording in which nothing is said]" },
  ])("reaches it as $what", async ({ samples, text }) => {
    verifies("media.audio.heard-or-transcribed");
    const behind = await serveBehind(says("I read."), {}, await configuredEngine());
    const reply = await behind.create(asked(samples));
    expect(reply.status, await reply.text()).toBe(200);
    expect(behind.asked()).toMatchObject({ messages: [{ role: "user", content: text }] });
  });

  test("that cannot be read is refused with the reason", async () => {
    const behind = await serveBehind(says("I read."), {}, await configuredEngine());
    const reply = await behind.create(asked(new Int16Array(0)));
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { message: expect.stringMatching(/^Invalid audio: /) } });
  });
});
