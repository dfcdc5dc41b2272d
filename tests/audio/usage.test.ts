import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, test } from "vitest";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { HAS_ESPEAK } from "../voices/programs.ts";
import { type AudioServer, DOORS, recordingForm, startAudioServer } from "./audio-servers.ts";
import { openRealtime, pcmAt } from "./realtime-client.ts";

/** Three seconds. */
const RECORDING = new Uint8Array(wavFile(sound(400, "three", 2300), 16_000));

const WITH_KEYS = DOORS.filter((door) => door !== "Interface B");

/** What is counted of this kind today, by model. */
async function countsOf({ client }: AudioServer, kind: string): Promise<unknown> {
  const start = Math.floor(Date.now() / 1000);
  const page = await client.get<{ data: readonly { results: readonly unknown[] }[] }>(
    `/organization/usage/${kind}?start_time=${start}&group_by[]=model`,
  );
  return page.data.flatMap(({ results }) => results);
}

describe.skipIf(program === null).each(WITH_KEYS)("the usage of %s", (door) => {
  test("has the seconds of recordings in every format, and those of live sessions", async () => {
    verifies("audio.access.usage");
    const server = await startAudioServer(door);
    const asked = [
      { response_format: "json" },
      { response_format: "verbose_json" },
      { response_format: "text" },
      { response_format: "srt" },
      { response_format: "vtt" },
      { stream: "true" },
    ];
    for (const parts of asked) {
      const reply = await server.post("/transcriptions", recordingForm(RECORDING, { model: "whisper-1", ...parts }));
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining("three")]);
    }
    const session = await openRealtime(server.url, { apiKey: server.client.apiKey ?? "" });
    session.configure({ turn_detection: null, transcription: { model: "gpt-4o-transcribe" } });
    session.say(pcmAt(24_000, sound(500, "one", 1200)));
    session.commit();
    expect(await session.transcript()).toBe("one");
    await expect
      .poll(() => countsOf(server, "audio_transcriptions"))
      .toMatchObject([
        { model: "gpt-4o-transcribe", seconds: 2, num_model_requests: 1 },
        { model: "whisper-1", seconds: 18, num_model_requests: 6 },
      ]);
  });
});

describe.skipIf(program === null || !HAS_ESPEAK)("the usage of Interface A", () => {
  test("has the characters that were spoken", async () => {
    verifies("audio.access.usage");
    const server = await startAudioServer("Interface A");
    const body = { model: "tts-1", voice: "nova", input: "Good morning.", response_format: "pcm" } as const;
    await (await server.client.audio.speech.create(body)).arrayBuffer();
    await expect
      .poll(() => countsOf(server, "audio_speeches"))
      .toMatchObject([{ model: "tts-1", characters: 13, num_model_requests: 1 }]);
  });
});
