import { connect } from "node:net";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import type { RealtimeServerEvent } from "openai/resources/realtime/realtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AudioServer, DOORS, startAudioServer } from "../audio/audio-servers.ts";
import { pcmAt } from "../audio/realtime-client.ts";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";

const SPOKEN = pcmAt(24_000, sound(500, "three", 300, "one", 1200, "four", 1000));

/** The class speaks TLS to any address, so its connection is opened for it. */
async function openSocket({ url, client }: AudioServer): Promise<OpenAIRealtimeWS> {
  const port = Number(new URL(url).port);
  const options = { createConnection: () => connect(port, "127.0.0.1") };
  const realtime = new OpenAIRealtimeWS({ intent: "transcription", options }, client);
  onTestFinished(() => realtime.close());
  await realtime.emitted("session.created");
  return realtime;
}

describe.skipIf(program === null).each(DOORS)(`openai ${installedVersion("openai")} live on %s`, (door) => {
  test("hears turns by OpenAIRealtimeWS, with deltas that are the transcript", async () => {
    verifies("audio.realtime.order", "audio.realtime.deltas");
    const realtime = await openSocket(await startAudioServer(door));
    const events: RealtimeServerEvent[] = [];
    const transcripts = new Map<string, string>();
    const both = Promise.withResolvers<void>();
    realtime.on("event", (event) => events.push(event));
    realtime.on("conversation.item.input_audio_transcription.completed", ({ item_id, transcript }) => {
      transcripts.set(item_id, transcript);
      if (transcripts.size === 2) both.resolve();
    });
    realtime.send({
      type: "session.update",
      session: {
        type: "transcription",
        audio: {
          input: {
            format: { type: "audio/pcm", rate: 24_000 },
            transcription: { model: "gpt-4o-transcribe", language: "en", prompt: "digits" },
            turn_detection: { type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 },
          },
        },
      },
    });
    for (let start = 0; start < SPOKEN.length; start += 4800) {
      const audio = Buffer.from(SPOKEN.subarray(start, start + 4800)).toString("base64");
      realtime.send({ type: "input_audio_buffer.append", audio });
    }
    await both.promise;
    expect([...transcripts.values()]).toEqual(["three one", "four"]);
    for (const [itemId, transcript] of transcripts) expect(deltasOf(events, itemId)).toBe(transcript);
    const session = events.find((event) => event.type === "session.updated")?.session;
    expect(session).toMatchObject({ audio: { input: { transcription: { language: "en", prompt: "digits" } } } });
  });

  test("is told of its mistakes by the error event", async () => {
    verifies("audio.realtime.bad-events");
    const realtime = await openSocket(await startAudioServer(door));
    const failed = Promise.withResolvers<unknown>();
    realtime.on("error", (error) => failed.resolve(error.error));
    realtime.send({ type: "input_audio_buffer.commit", event_id: "mine" });
    expect(await failed.promise).toMatchObject({ code: "input_audio_buffer_commit_empty", event_id: "mine" });
  });
});

function deltasOf(events: readonly RealtimeServerEvent[], itemId: string): string {
  return events
    .flatMap((event) =>
      event.type === "conversation.item.input_audio_transcription.delta" && event.item_id === itemId
        ? [event.delta ?? ""]
        : [],
    )
    .join("");
}
