import type { FormatRequest } from "@antiphon/contracts/local-stt/types.ts";
import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { sending } from "./detours.fixture.ts";
import { checkInteraction, checkRefusal, type Refusal, type RequestBody } from "./interaction.fixture.ts";
import type { State } from "./provider-states.fixture.ts";

const { regex, string } = MatchersV3;

const FORMAT = { method: "POST", path: "/format" } as const;
const TEXT = "milk and bread";

describe("a client that has a text formatted", () => {
  test.each<readonly [name: string, body: FormatRequest, text: unknown]>([
    ["a text", { text: TEXT, assistive: false }, regex("^Milk and bread[.]$", "Milk and bread.")],
    [
      "a text as a list",
      { text: TEXT, instruction: "as a list" },
      regex("^[^\\n]*milk\\n[^\\n]*bread$", "- milk\n- bread"),
    ],
    ["what a text asks for", { text: TEXT, assistive: true }, string("You said: milk and bread")],
  ])("gets %s", async (name, body, text) => {
    verifies("stt.format.provider-formats", "stt.format.reply-shape", "stt.format.assistive-reaches-provider");
    await checkInteraction(
      {
        ...FORMAT,
        given: "a formatter",
        request: `to format ${name}`,
        body: { json: body },
        reply: { json: { text, raw_text: TEXT, formatted: true } },
      },
      async (client) => expect(await client.format(body)).toMatchObject({ raw_text: TEXT, formatted: true }),
    );
  });

  test.each<readonly [given: State, text: string, warning: object]>([
    ["a speech server", TEXT, {}],
    ["formatting that is switched off", TEXT, {}],
    ["a formatter", "", { warning: string("There is no text to format.") }],
    ["a formatter that is down", TEXT, { warning: string("The formatting provider cannot be reached.") }],
    ["a formatter that refuses its key", TEXT, { warning: string("The formatting provider refused the key.") }],
    ["a formatter that fails", TEXT, { warning: string("The formatting provider answered with status 404.") }],
    ["a formatter that breaks off", TEXT, { warning: string("The formatting provider broke off its answer.") }],
  ])("gets the raw text, given %s and '%s'", async (given, text, warning) => {
    verifies("stt.format.raw-without-key", "stt.format.provider-failure-keeps-text");
    verifies("stt.format.warning-when-provider-fails", "stt.format.reply-shape", "stt.format.empty-text-is-told");
    const raw = { text, raw_text: text, formatted: false };
    await checkInteraction(
      {
        ...FORMAT,
        given,
        request: `to format ${text === "" ? "nothing" : "a text"}, with ${given}`,
        body: { json: { text } },
        reply: { json: { ...raw, ...warning } },
      },
      async (client) => {
        const { warning: seen, ...reply } = await client.format({ text });
        expect([reply, seen !== undefined]).toEqual([raw, "warning" in warning]);
      },
    );
  });
});

describe("a client whose text is refused", () => {
  test.each<readonly [name: string, body: RequestBody, refusal: Refusal]>([
    ["no body at all", { text: "", type: "application/json" }, { status: 400, code: "invalid_json" }],
    ["a body without a text", { json: { assistive: true } }, { status: 400, code: "invalid_request" }],
    ["a text that is a number", { json: { text: 7 } }, { status: 400, code: "invalid_request" }],
    ["a member that nobody knows", { json: { text: TEXT, colour: "blue" } }, { status: 400, code: "invalid_request" }],
    ["a text that is no JSON", { text: TEXT, type: "text/plain" }, { status: 415, code: "unsupported_media_type" }],
  ])("sent %s", async (name, body, refusal) => {
    verifies("stt.errors.http-shape");
    const interaction = { ...FORMAT, given: "a speech server", request: `to format ${name}`, body } as const;
    await checkRefusal(interaction, refusal, (client) => client.format({ text: TEXT }), sending(body));
  });

  test.each<readonly [given: State, text: string, refusal: Refusal]>([
    ["a body of more than any text", TEXT, { status: 413, code: "upload_too_large" }],
    ["a connection that stalls", "milk ".repeat(1000), { status: 408, code: "idle_timeout" }],
    ["a server that is stopping", TEXT, { status: 503, code: "shutting_down", isPassing: true }],
  ])("given %s", async (given, text, refusal) => {
    const interaction = { ...FORMAT, given, request: `to format, with ${given}`, body: { json: { text } } };
    await checkRefusal(interaction, refusal, (client) => client.format({ text }));
  });
});
