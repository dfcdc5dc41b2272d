import { describe, expect, test } from "vitest";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { DOORS, type Door, startAudioServer } from "./audio-servers.ts";
import { openRealtime, pcmAt } from "./realtime-client.ts";

const SETTINGS = {
  type: "transcription",
  audio: {
    input: {
      format: { type: "audio/pcm", rate: 24_000 },
      transcription: { model: "gpt-4o-transcribe", language: "en" },
      turn_detection: null,
    },
  },
} as const;

const SPOKEN = pcmAt(24_000, sound(300, "three", 400));

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function startDoor(door: Door, env: Readonly<Record<string, string>> = {}) {
  const { url, client } = await startAudioServer(door, { env });
  const post = async (path: string, body: unknown, key = client.apiKey ?? ""): Promise<Answer> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const reply = await fetch(`${url}/v1/realtime/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: reply.status, body: await reply.json() };
  };
  return { url, client, post };
}

describe.skipIf(program === null).each(DOORS)("client secrets of %s", (door) => {
  test("open sessions with their settings, as a Bearer and in the subprotocol of browsers", async () => {
    verifies("audio.secrets.open-sessions");
    const { url, client } = await startDoor(door);
    const secret = await client.realtime.clientSecrets.create({
      session: SETTINGS,
      expires_after: { anchor: "created_at", seconds: 60 },
    });
    expect(secret.value).toMatch(/^ek_[A-Za-z0-9_-]+$/);
    expect(Math.abs(secret.expires_at - (Date.now() / 1000 + 60))).toBeLessThan(30);
    expect(secret.session).toMatchObject({ type: "transcription", object: "realtime.transcription_session" });
    for (const options of [
      { apiKey: secret.value, search: "" },
      { protocols: ["realtime", `openai-insecure-api-key.${secret.value}`], search: "" },
      { protocols: [`openai-insecure-api-key.${secret.value}`, "realtime"] },
    ]) {
      const session = await openRealtime(url, options);
      if ("protocols" in options) expect(session.socket.protocol).toBe("realtime");
      const created = await session.until("session.created");
      expect(created.session.audio.input).toMatchObject(SETTINGS.audio.input);
      session.say(SPOKEN);
      session.commit();
      expect(await session.transcript()).toBe("three");
    }
  });

  test("are made in the older form, too", async () => {
    verifies("audio.secrets.older-form");
    const { url, post } = await startDoor(door);
    const { status, body } = await post("transcription_sessions", {
      input_audio_format: "g711_ulaw",
      input_audio_transcription: { model: "whisper-1" },
      turn_detection: { type: "server_vad", silence_duration_ms: 700 },
    });
    expect([status, body]).toMatchObject([
      200,
      {
        object: "realtime.transcription_session",
        input_audio_format: "g711_ulaw",
        turn_detection: { type: "server_vad", threshold: 0.5, silence_duration_ms: 700 },
        client_secret: { value: expect.stringMatching(/^ek_/) },
      },
    ]);
    const apiKey = /ek_[A-Za-z0-9_-]+/.exec(JSON.stringify(body))?.[0] ?? "";
    const session = await openRealtime(url, { apiKey, search: "" });
    const created = await session.until("session.created");
    expect(created.session.audio.input.format).toEqual({ type: "audio/pcmu" });
  });
});

const REFUSED: readonly (readonly [object, object])[] = [
  [{ session: { type: "realtime" } }, { code: "invalid_value", param: "session.type" }],
  [{ session: {} }, { code: "missing_required_parameter", param: "session.type" }],
  [{ expires_after: { seconds: 5 } }, { code: "integer_below_min_value", param: "expires_after.seconds" }],
  [{ expires_after: { seconds: 7201 } }, { code: "integer_above_max_value", param: "expires_after.seconds" }],
  [
    { session: { type: "transcription", audio: { input: { format: { type: "audio/pcm", rate: 8000 } } } } },
    { param: "session.audio.input.format.rate" },
  ],
  [
    {
      session: {
        type: "transcription",
        audio: { input: { transcription: { prompt: "é".repeat(1999), keywords: ["x".repeat(64), "y".repeat(64)] } } },
      },
    },
    { code: "string_above_max_length", param: "session" },
  ],
];

describe.skipIf(program === null)("a client secret", () => {
  test.each(["Interface A", "Interface B"] as const)(
    "of %s is refused for settings that are not valid",
    async (door) => {
      verifies("audio.secrets.refusals");
      const { post } = await startDoor(door);
      for (const [body, error] of REFUSED) {
        const answer = await post("client_secrets", body);
        expect(answer).toMatchObject({ status: 400, body: { error: { type: "invalid_request_error", ...error } } });
      }
    },
  );

  test("opens nothing but live sessions, and no more secrets", async () => {
    verifies("audio.secrets.open-sessions");
    const { url, post } = await startDoor("Interface A");
    const { body } = await post("client_secrets", {});
    const value = String(body["value"]);
    expect((await post("client_secrets", {}, value)).status).toBe(401);
    const reply = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${value}` } });
    expect(reply.status).toBe(401);
  });

  test.each(["Interface A", "Interface B"] as const)(
    "of another server, or changed, opens nothing on %s",
    async (door) => {
      verifies("audio.secrets.open-sessions");
      const other = await startDoor(door);
      const { body } = await other.post("client_secrets", {});
      const { url, post } = await startDoor(door);
      const own = String((await post("client_secrets", {})).body["value"]);
      for (const value of [String(body["value"]), `${own.slice(0, -2)}AA`, "ek_none"]) {
        if (door === "Interface A") {
          await expect(openRealtime(url, { apiKey: value })).rejects.toMatchObject({ status: 401 });
          continue;
        }
        const session = await openRealtime(url, { apiKey: value });
        expect((await session.until("error")).error).toMatchObject({ code: "invalid_api_key" });
        expect(await session.closed).toBe(1008);
      }
    },
  );

  test("ends with the key that made it", async () => {
    verifies("audio.secrets.of-their-key");
    const { url, client, post } = await startDoor("Interface A");
    const key = await client.post<{ id: string; value: string }>("/organization/keys", { body: { name: "brief" } });
    const apiKey = String((await post("client_secrets", {}, key.value)).body["value"]);
    await openRealtime(url, { apiKey });
    await client.delete(`/organization/keys/${key.id}`);
    await expect(openRealtime(url, { apiKey })).rejects.toMatchObject({ status: 401 });
  });

  test("counts against the requests of its key, and so do its sessions", async () => {
    verifies("audio.access.limits", "audio.secrets.of-their-key");
    const { url, post } = await startDoor("Interface A", { RATE_LIMIT_REQUESTS_PER_MINUTE: "2" });
    const { body } = await post("client_secrets", {});
    const apiKey = String(body["value"]);
    await openRealtime(url, { apiKey });
    await expect(openRealtime(url, { apiKey })).rejects.toMatchObject({ status: 429 });
  });
});
