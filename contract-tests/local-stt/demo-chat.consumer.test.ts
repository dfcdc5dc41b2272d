import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { asking, sending } from "./detours.fixture.ts";
import { checkInteraction, checkRefusal, type Refusal, type RequestBody } from "./interaction.fixture.ts";
import type { State } from "./provider-states.fixture.ts";

const { string } = MatchersV3;

const CHAT = { method: "POST", path: "/demo/chat" } as const;
const MESSAGES = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "hello" },
] as const;
/** Chosen by the client. */
const NAME = "b1c7d0c2-5d0e-4a51-9f3e-2f6f0f3d6a11";
const DELTA = '[{][^\\n]*"type":"chat[.]delta"[^\\n]*[}]\\n';
const DONE = '[{][^\\n]*"type":"chat[.]done"[^\\n]*[}]\\n';
const ERROR = '[{][^\\n]*"type":"error"[^\\n]*[}]\\n';

describe("a client that chats", () => {
  test("gets a whole answer", async () => {
    verifies("stt.demo.chat-answers");
    const reply = { message: { role: "assistant", content: "You said: hello" }, model: "writer" };
    await checkInteraction(
      {
        ...CHAT,
        given: "a formatter",
        request: "to chat",
        body: { json: { messages: MESSAGES } },
        reply: {
          json: { message: { role: "assistant", content: string("You said: hello") }, model: string("writer") },
        },
      },
      async (client) => expect(await client.demoChat({ messages: [...MESSAGES] })).toEqual(reply),
    );
  });

  test("gets an answer piece by piece, and whole at the end", async () => {
    verifies("stt.demo.chat-streams");
    const lines = [
      { type: "chat.delta", text: "You said: " },
      { type: "chat.delta", text: "hello" },
      { type: "chat.done", message: { role: "assistant", content: "You said: hello" }, model: "writer" },
    ];
    await checkInteraction(
      {
        ...CHAT,
        given: "a formatter",
        request: "to chat line by line",
        body: { json: { messages: MESSAGES, stream: true } },
        reply: { text: textOf(lines), pattern: `^(${DELTA})+${DONE}$`, type: "application/x-ndjson" },
      },
      async (client) => {
        const stream = await client.demoChat({ messages: [...MESSAGES], stream: true });
        expect(await Array.fromAsync(stream)).toEqual(lines);
      },
    );
  });

  test("gets an answer with a name, and stops it", async () => {
    verifies("stt.demo.named-answer-survives");
    const lines = [
      { type: "chat.delta", text: "You said: hello" },
      { type: "chat.done", message: { role: "assistant", content: "You said: hello" }, model: "writer" },
    ];
    await checkInteraction(
      {
        ...CHAT,
        given: "a formatter",
        request: "to chat line by line, with a name for the answer",
        body: { json: { messages: MESSAGES, stream: true, answer_id: NAME } },
        reply: { text: textOf(lines), pattern: `^(${DELTA})+${DONE}$`, type: "application/x-ndjson" },
      },
      async (client) => {
        const stream = await client.demoChat({ messages: [...MESSAGES], stream: true, answer_id: NAME });
        expect(await Array.fromAsync(stream)).toEqual(lines);
      },
    );
    await checkInteraction(
      {
        method: "DELETE",
        path: "/demo/chat",
        query: { answer_id: NAME },
        given: "a formatter",
        request: "to stop an answer",
        status: 204,
        reply: null,
      },
      async (client) => expect(await client.stopDemoChat({ answer_id: NAME })).toBeUndefined(),
    );
  });

  test("learns from the stream that the answer broke off", async () => {
    verifies("stt.errors.stream-shape");
    const lines = [
      { type: "chat.delta", text: "Good " },
      { type: "error", code: "provider_failed", message: "The provider broke off its answer." },
    ];
    await checkInteraction(
      {
        ...CHAT,
        given: "a formatter that breaks off",
        request: "to chat line by line, with a formatter that breaks off",
        body: { json: { messages: MESSAGES, stream: true } },
        reply: { text: textOf(lines), pattern: `^(${DELTA})+${ERROR}$`, type: "application/x-ndjson" },
      },
      async (client) => {
        const stream = await client.demoChat({ messages: [...MESSAGES], stream: true });
        await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: "provider_failed" });
      },
    );
  });
});

describe.each([false, true])("a client whose chat gets no answer, streamed: %s", (stream) => {
  test.each<readonly [given: State, refusal: Refusal]>([
    ["a formatter that refuses its key", { status: 500, code: "provider_unauthorized" }],
    ["a formatter that is down", { status: 500, code: "provider_unreachable" }],
    ["a formatter that fails", { status: 500, code: "provider_failed" }],
    ["a speech server", { status: 500, code: "provider_not_configured" }],
    ["formatting that is switched off", { status: 500, code: "provider_not_configured" }],
    ["a body of more than any text", { status: 413, code: "upload_too_large" }],
    ["a server that is stopping", { status: 503, code: "shutting_down", isPassing: true }],
  ])("given %s", async (given, refusal) => {
    verifies("stt.demo.bad-credentials-is-500", "stt.demo.daemon-not-running-is-500", "stt.errors.http-shape");
    const json = { messages: MESSAGES, stream };
    const request = `to chat${stream ? " line by line" : ""}, with ${given}`;
    await checkRefusal({ ...CHAT, given, request, body: { json } }, refusal, (client) =>
      client.demoChat({ messages: [...MESSAGES], stream }),
    );
  });
});

test("a client whose chat does not arrive is refused", async () => {
  const json = { messages: [{ role: "user" as const, content: "hello ".repeat(1000) }] };
  const given = "a connection that stalls";
  await checkRefusal(
    { ...CHAT, given, request: `to chat, with ${given}`, body: { json } },
    { status: 408, code: "idle_timeout" },
    (client) => client.demoChat(json),
  );
});

test("a client that stops an answer without its name is refused", async () => {
  const stop = { method: "DELETE", path: "/demo/chat" } as const;
  await checkRefusal(
    { ...stop, given: "a formatter", request: "to stop an answer without a name" },
    { status: 400, code: "invalid_request" },
    (client) => client.stopDemoChat({ answer_id: NAME }),
    asking("DELETE", "/demo/chat"),
  );
});

test.each<readonly [name: string, body: RequestBody, refusal: Refusal]>([
  ["no body at all", { text: "", type: "application/json" }, { status: 400, code: "invalid_json" }],
  ["no messages", { json: { messages: [] } }, { status: 400, code: "invalid_request" }],
  [
    "a role that nobody has",
    { json: { messages: [{ role: "cat", content: "meow" }] } },
    { status: 400, code: "invalid_request" },
  ],
  [
    "a name that is too short",
    { json: { messages: MESSAGES, answer_id: "short" } },
    { status: 400, code: "invalid_request" },
  ],
  ["a text that is no JSON", { text: "hello", type: "text/plain" }, { status: 415, code: "unsupported_media_type" }],
])("a client that sends %s as a chat is refused", async (name, body, refusal) => {
  verifies("stt.errors.http-shape");
  const interaction = { ...CHAT, given: "a formatter", request: `to chat with ${name}`, body } as const;
  await checkRefusal(interaction, refusal, (client) => client.demoChat({ messages: [...MESSAGES] }), sending(body));
});

function textOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
