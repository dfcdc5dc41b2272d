import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { espeakSamples, HAS_ESPEAK } from "../voices/programs.ts";

const TEXT = "Good morning to all of you.";
const SPOKEN = { modalities: ["text", "audio"], audio: { voice: "alloy", format: "pcm16" } } as const;
const SAMPLE_RATE = 24_000;

/** Bytes of 16 bits a sample. */
const soundBytes = 2 * Math.round((espeakSamples(TEXT) * SAMPLE_RATE) / 22_050);

const asked: { model: string; messages: ChatCompletionMessageParam[] } = {
  model: "m",
  messages: [{ role: "user", content: "Say good morning." }],
};
const spoken = { ...asked, modalities: [...SPOKEN.modalities], audio: SPOKEN.audio };

async function serveVoice() {
  const behind = await serveBehind(says(TEXT));
  const { url, apiKey } = behind.server;
  return { behind, client: new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }) };
}

describe.skipIf(!HAS_ESPEAK)("a chat completion with audio", () => {
  test("is spoken, and its sound lasts as long as the words", async () => {
    verifies("chat.audio.answers");
    const { client } = await serveVoice();
    const { choices } = await client.chat.completions.create(spoken);
    const message = choices[0]?.message;
    expect(message).toMatchObject({ content: null, audio: { id: expect.stringMatching(/^audio_/), transcript: TEXT } });
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(Buffer.from(message?.audio?.data ?? "", "base64").length).toBe(soundBytes);
    expect(message?.audio?.expires_at).toBeGreaterThan(Date.now() / 1000);
  });

  test("streams the same sound, transcript and id in pieces", async () => {
    verifies("chat.audio.answers");
    const { client } = await serveVoice();
    const plain = (await client.chat.completions.create(spoken)).choices[0]?.message.audio;
    const audio = { id: "", transcript: "" };
    const sound: Buffer[] = [];
    for await (const { choices } of await client.chat.completions.create({ ...spoken, stream: true })) {
      const piece = choices[0]?.delta.audio;
      audio.id += piece?.id ?? "";
      audio.transcript += piece?.transcript ?? "";
      sound.push(Buffer.from(piece?.data ?? "", "base64"));
    }
    expect(audio).toEqual({ id: plain?.id, transcript: TEXT });
    expect(Buffer.concat(sound).toString("base64")).toBe(plain?.data);
  });

  test("goes on by the id of its sound, although nothing was stored", async () => {
    verifies("chat.audio.answers");
    const { behind, client } = await serveVoice();
    const id = (await client.chat.completions.create(spoken)).choices[0]?.message.audio?.id ?? "";
    const messages: ChatCompletionMessageParam[] = [
      ...asked.messages,
      { role: "assistant", audio: { id } },
      { role: "user", content: "Again, please." },
    ];
    await client.chat.completions.create({ ...asked, messages });
    expect(behind.asked()).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant", content: TEXT }, { role: "user" }],
    });
  });

  test("is stored without its sound, which the response has", async () => {
    const { behind, client } = await serveVoice();
    const { data, response } = await client.chat.completions.create({ ...spoken, store: true }).withResponse();
    const stored = await client.chat.completions.retrieve(data.id);
    const sound = data.choices[0]?.message.audio;
    expect(stored.choices[0]?.message.audio).toEqual({ ...sound, data: "" });
    const responseId = response.headers.get("x-antiphon-response-id");
    const reply = await behind.server.fetch(`/v1/responses/${responseId}/audio`);
    expect(Buffer.from(await reply.arrayBuffer()).toString("base64")).toBe(sound?.data);
  });
});

test("without a voice, a spoken answer is refused by the name of a chat member", async () => {
  const { server } = await serveBehind(says(TEXT), { ESPEAK_PATH: "/nowhere/espeak-ng" });
  const reply = await server.post("/v1/chat/completions", {
    model: "m",
    messages: [{ role: "user", content: "Hi" }],
    ...SPOKEN,
  });
  expect(reply.status).toBe(400);
  expect(jsonOrText(await reply.text())).toMatchObject({
    error: { param: "audio", message: expect.stringContaining("espeak-ng") },
  });
});
