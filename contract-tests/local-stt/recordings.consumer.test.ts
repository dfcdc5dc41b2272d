import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { cutOffFile, silentFile, spokenFile } from "../../tests/speech/slow-sound.ts";
import { verifies } from "../../tests/verifies.ts";
import { sending } from "./detours.fixture.ts";
import { audioPart, type Form, upload } from "./forms.fixture.ts";
import { checkInteraction, checkRefusal, type Interaction, type Refusal } from "./interaction.fixture.ts";
import type { State } from "./provider-states.fixture.ts";

const { regex, string } = MatchersV3;

const HEARS = "a model that hears tones";
const SPOKEN = spokenFile("three");
/** For requests that are refused before the sound is read. */
const ANY = silentFile(50);
const NO_SOUND = new Uint8Array(Buffer.from("certainly no sound"));

/** For states in which the sound or its length matters. Silence would not reach the engine. */
const LONG_ENOUGH: Partial<Record<State, Uint8Array<ArrayBuffer>>> = {
  "a model that hears tones, and recordings of at most a second": silentFile(1100),
  "a connection that stalls": SPOKEN,
  "an engine that fails on every recording": SPOKEN,
  "an engine with a fault": SPOKEN,
};

/** The two operations that take a recording. Both refuse the same requests with the same messages. */
const OPERATIONS = [
  { name: "to transcribe", path: "/transcribe" },
  { name: "to transcribe and format", path: "/stt_and_format" },
] as const;

describe("a client with a recording", () => {
  test.each<readonly [name: string, file: Uint8Array<ArrayBuffer>, reply: { text: string; duration_ms: number }]>([
    ["of a word", SPOKEN, { text: "three", duration_ms: 600 }],
    ["of silence", silentFile(500), { text: "", duration_ms: 500 }],
  ])("%s gets its words and its length", async (name, file, reply) => {
    verifies("stt.transcribe.returns-text", "stt.transcribe.silence-is-empty-text");
    await checkInteraction(
      {
        ...formOf("/transcribe", [audioPart(file)]),
        given: HEARS,
        request: `to transcribe a recording ${name}`,
        reply: { json: reply },
      },
      async (client) => expect(await client.transcribe({ audio: upload(file) })).toEqual(reply),
    );
  });

  test("gets the words formatted as it asks", async () => {
    verifies("stt.format.combined-operation", "stt.format.reply-shape");
    const instruction = "as a list";
    const spoken = spokenFile("three", "one");
    await checkInteraction(
      {
        ...formOf("/stt_and_format", [audioPart(spoken), { name: "instruction", content: instruction }]),
        given: "a model that hears tones, and a formatter",
        request: "to transcribe and format as a list",
        reply: {
          json: { text: regex("^[\\s\\S]*\\n[\\s\\S]*$", "- three\n- one"), raw_text: "three one", formatted: true },
        },
      },
      async (client) =>
        expect(await client.transcribeAndFormat({ audio: upload(spoken), instruction })).toMatchObject({
          raw_text: "three one",
          formatted: true,
        }),
    );
  });

  test.each<readonly [state: State, warning: object]>([
    [HEARS, {}],
    ["a model that hears tones, and a formatter that is down", { warning: string("Nobody answers.") }],
  ])("gets the raw words, given %s", async (given, warning) => {
    verifies("stt.format.combined-operation", "stt.format.provider-failure-keeps-text", "stt.format.raw-without-key");
    await checkInteraction(
      {
        ...formOf("/stt_and_format", [audioPart(SPOKEN)]),
        given,
        request: `to transcribe and format, with ${given}`,
        reply: { json: { text: "three", raw_text: "three", formatted: false, ...warning } },
      },
      async (client) =>
        expect(await client.transcribeAndFormat({ audio: upload(SPOKEN) })).toMatchObject({
          text: "three",
          formatted: false,
        }),
    );
  });
});

describe.each(OPERATIONS)("a client that is refused, for a request $name", ({ name, path }) => {
  test.each<readonly [what: string, form: Form, refusal: Refusal]>([
    [
      "a file of no known format",
      [audioPart(NO_SOUND)],
      {
        status: 415,
        code: "unsupported_format",
        message: regex("^Unsupported format[\\s\\S]*$", "Unsupported format."),
      },
    ],
    ["an empty file", [audioPart(new Uint8Array(0))], { status: 400, code: "empty_audio" }],
    ["a file that is cut off", [audioPart(cutOffFile())], { status: 400, code: "invalid_audio" }],
    ["a text in the place of a file", [{ name: "audio", content: "a text" }], { status: 400, code: "missing_audio" }],
    [
      "a recording in a language that no model knows",
      [audioPart(ANY), { name: "language", content: "tlh" }],
      { status: 400, code: "unsupported_language" },
    ],
    [
      "a form with a part that nobody knows",
      [audioPart(ANY), { name: "colour", content: "blue" }],
      { status: 400, code: "invalid_request" },
    ],
  ])("%s", async (what, form, refusal) => {
    verifies(
      "stt.transcribe.unsupported-format",
      "stt.transcribe.no-sound-is-400",
      "stt.transcribe.missing-audio-is-400",
    );
    verifies("stt.format.combined-limits", "stt.errors.http-shape");
    const interaction = { ...formOf(path, form), given: HEARS, request: `${name} ${what}` } as const;
    await checkRefusal(interaction, refusal, send(path), sending({ form }));
  });

  test.each<readonly [given: State, refusal: Refusal]>([
    ["a model that hears tones, and recordings of at most a second", { status: 400, code: "audio_too_long" }],
    ["a model that hears tones, and an upload of more than may be uploaded", { status: 413, code: "upload_too_large" }],
    ["a connection that stalls", { status: 408, code: "idle_timeout" }],
    ["an engine that fails on every recording", { status: 500, code: "transcription_failed" }],
    ["an engine with a fault", { status: 500, code: "internal_error" }],
    ["a speech server", { status: 503, code: "model_failed", isPassing: true }],
    ["an engine that is being built", { status: 503, code: "model_loading", isPassing: true }],
    ["an engine with a full queue", { status: 503, code: "busy", isPassing: true }],
    ["a server that is stopping", { status: 503, code: "shutting_down", isPassing: true }],
  ])("given %s", async (given, refusal) => {
    verifies("stt.transcribe.too-large-is-413", "stt.transcribe.not-ready-is-503", "stt.format.combined-limits");
    verifies("stt.transcribe.slow-upload-is-408");
    const form = [audioPart(LONG_ENOUGH[given] ?? ANY)];
    const interaction = { ...formOf(path, form), given, request: `${name}, with ${given}` } as const;
    await checkRefusal(interaction, refusal, send(path), sending({ form }));
  });

  test("a body that is no form", async () => {
    const body = { text: "three", type: "text/plain" } as const;
    await checkRefusal(
      { given: HEARS, request: `${name} a body that is no form`, method: "POST", path, body },
      { status: 415, code: "unsupported_media_type" },
      send(path),
      sending(body),
    );
  });
});

function formOf(path: string, form: Form): Pick<Interaction, "method" | "path" | "body"> {
  return { method: "POST", path, body: { form } };
}

/** The detour replaces the request, because our client's types do not allow most of these requests. */
function send(path: (typeof OPERATIONS)[number]["path"]): Parameters<typeof checkRefusal>[2] {
  const audio = upload(ANY);
  return (client) => (path === "/transcribe" ? client.transcribe({ audio }) : client.transcribeAndFormat({ audio }));
}
