import { describe, expect, test } from "vitest";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { DOORS, startAudioServer } from "./audio-servers.ts";
import { alawBytes, mulawBytes } from "./compressed-sound.ts";
import { openRealtime, pcmAt, type RealtimeClient } from "./realtime-client.ts";

const SPOKEN = sound(500, "three", 300, "one", 1200, "four", 1000);

async function startSession(door: (typeof DOORS)[number] = "Interface B"): Promise<RealtimeClient> {
  const { url, client } = await startAudioServer(door);
  return openRealtime(url, { apiKey: client.apiKey ?? "" });
}

describe.skipIf(program === null).each(DOORS)("a live session of %s", (door) => {
  test("tells of turns in order, and their words", async () => {
    verifies("audio.realtime.order", "audio.realtime.detection");
    const session = await startSession(door);
    const created = await session.until("session.created");
    expect(created.session.audio.input).toMatchObject({
      format: { type: "audio/pcm", rate: 24_000 },
      turn_detection: { type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 },
    });
    session.say(pcmAt(24_000, SPOKEN));
    expect(await session.transcript()).toBe("three one");
    expect(await session.transcript()).toBe("four");
    const [first, second] = itemsOf(session);
    expect(typesOf(session, first)).toEqual([
      "input_audio_buffer.speech_started",
      "input_audio_buffer.speech_stopped",
      "input_audio_buffer.committed",
      "conversation.item.added",
      "conversation.item.done",
      "conversation.item.input_audio_transcription.delta",
      "conversation.item.input_audio_transcription.completed",
    ]);
    expect(typesOf(session, second)).toEqual(typesOf(session, first));
    const committed = session.events.filter(({ type }) => type === "input_audio_buffer.committed");
    expect(committed).toMatchObject([{ previous_item_id: null }, { previous_item_id: first }]);
    const started = session.events.find((event) => event.type === "input_audio_buffer.speech_started");
    const stopped = session.events.find((event) => event.type === "input_audio_buffer.speech_stopped");
    expect(Math.abs((started?.audio_start_ms ?? 0) - 200)).toBeLessThan(100);
    expect(Math.abs((stopped?.audio_end_ms ?? 0) - 1900)).toBeLessThan(100);
  });
});

describe.skipIf(program === null)("a live session", () => {
  test.each([
    [{ type: "audio/pcm", rate: 24_000 }, pcmAt(24_000, SPOKEN)],
    [{ type: "audio/pcm", rate: 16_000 }, pcmAt(16_000, SPOKEN)],
    [{ type: "audio/pcmu" }, mulawBytes(pcmAt(8000, SPOKEN))],
    [{ type: "audio/pcma" }, alawBytes(pcmAt(8000, SPOKEN))],
  ])("hears %o", async (format, bytes) => {
    verifies("audio.realtime.formats");
    const session = await startSession();
    session.configure({ format, noise_reduction: { type: "near_field" } });
    expect((await session.until("session.updated")).session.audio.input).toMatchObject({
      format,
      noise_reduction: { type: "near_field" },
    });
    session.say(bytes);
    expect([await session.transcript(), await session.transcript()]).toEqual(["three one", "four"]);
  });

  test("without turn detection, ends turns at commits alone", async () => {
    verifies("audio.realtime.commit");
    const session = await startSession();
    session.configure({ turn_detection: null, format: { type: "audio/pcm", rate: 16_000 } });
    session.say(pcmAt(16_000, sound(400, "three", 1500, "one", 300)));
    session.commit();
    expect(await session.transcript()).toBe("three one");
    session.say(pcmAt(16_000, sound(500)));
    session.commit();
    expect(await session.transcript()).toBe("");
    session.commit();
    const { error } = await session.until("error");
    expect(error).toMatchObject({ type: "invalid_request_error", code: "input_audio_buffer_commit_empty" });
    session.say(pcmAt(16_000, sound(100, "four", 400)));
    session.send({ type: "input_audio_buffer.clear" });
    await session.until("input_audio_buffer.cleared");
    session.say(pcmAt(16_000, sound(100, "nine", 400)));
    session.commit();
    expect(await session.transcript()).toBe("nine");
    expect(session.events.some(({ type }) => type.startsWith("input_audio_buffer.speech"))).toBe(false);
  });

  test.each([
    ["a live model", { transcription: { model: "gpt-realtime-whisper" } }],
    ["a delay", { transcription: { model: "whisper-1", delay: "low" }, turn_detection: null }],
  ])("sends deltas that together are the transcript, at once with %s", async (_name, input) => {
    verifies("audio.realtime.deltas");
    const session = await startSession();
    session.configure({
      format: { type: "audio/pcm", rate: 16_000 },
      ...input,
    });
    session.say(pcmAt(16_000, sound(100, "three", 1000, "one", 1000, "four", 1000)));
    const live = [];
    for (let count = 0; count < 3; count += 1)
      live.push(await session.until("conversation.item.input_audio_transcription.delta"));
    expect(session.events.some(({ type }) => type === "input_audio_buffer.committed")).toBe(false);
    session.commit();
    const { item_id } = await session.until("input_audio_buffer.committed");
    const { transcript, usage } = await session.until("conversation.item.input_audio_transcription.completed");
    expect(new Set(live.map((delta) => delta.item_id))).toEqual(new Set([item_id]));
    expect(live.map(({ delta }) => delta).join("")).toBe("three one four");
    expect(transcript).toBe("three one four");
    expect(Math.abs(usage.seconds - 4)).toBeLessThan(0.1);
  });

  test("shows logprobs if they are included", async () => {
    verifies("audio.realtime.logprobs");
    const session = await startSession();
    session.configure({}, { include: ["item.input_audio_transcription.logprobs"] });
    session.say(pcmAt(24_000, SPOKEN));
    const delta = await session.until("conversation.item.input_audio_transcription.delta");
    const completed = await session.until("conversation.item.input_audio_transcription.completed");
    expect(
      delta.logprobs
        ?.map(({ token }) => token)
        .join("")
        .trim(),
    ).toBe("three one");
    expect(completed.logprobs).toEqual(delta.logprobs);
  });

  test("commits silence after idle_timeout_ms", async () => {
    verifies("audio.realtime.idle-sound");
    const session = await startSession();
    session.configure({
      format: { type: "audio/pcm", rate: 16_000 },
      turn_detection: { type: "server_vad", idle_timeout_ms: 5000 },
    });
    session.say(pcmAt(16_000, sound(5200)), 64_000);
    expect(await session.until("input_audio_buffer.timeout_triggered")).toMatchObject({
      audio_start_ms: 0,
      audio_end_ms: 5000,
    });
    expect(await session.transcript()).toBe("");
  });

  test("semantic_vad waits for long pauses where no sentence ends, as long as its eagerness says", async () => {
    verifies("audio.realtime.semantic");
    const session = await startSession();
    session.configure({
      format: { type: "audio/pcm", rate: 16_000 },
      turn_detection: { type: "semantic_vad", eagerness: "high" },
    });
    session.say(pcmAt(16_000, sound(300, "three", 1500, "one", 2200)));
    const { audio_end_ms } = await session.until("input_audio_buffer.speech_stopped");
    expect(Math.abs(audio_end_ms - 4400)).toBeLessThan(100);
    expect(await session.transcript()).toBe("three one");
  });
});

function itemsOf({ events }: RealtimeClient): string[] {
  return events.flatMap((event) => (event.type === "conversation.item.done" ? [event.item.id] : []));
}

function typesOf({ events }: RealtimeClient, itemId: string | undefined): string[] {
  return events.flatMap((event) => {
    const id = "item" in event ? event.item.id : "item_id" in event ? event.item_id : null;
    return id === itemId ? [event.type] : [];
  });
}
