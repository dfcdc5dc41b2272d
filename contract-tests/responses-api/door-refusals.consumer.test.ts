import Anthropic from "@anthropic-ai/sdk";
import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkMessagesInteraction, EXAMPLE_MODEL, EXAMPLE_REQUEST_ID, theModel } from "./interaction.fixture.ts";
import type { State } from "./provider-states.ts";
import { checkRefusal, type Refusal } from "./refusal.fixture.ts";

const { regex, string } = MatchersV3;
const model = EXAMPLE_MODEL;
const said = string("It is refused.");
const failed = { type: "server_error", code: "server_error", param: null, message: said } as const;
const limited = {
  status: 429,
  type: "rate_limit_error",
  code: "rate_limit_error",
  param: null,
  message: said,
} as const;

/** A refusal that each door tells in its own way. */
interface DoorRefusal {
  /** Completes the sentence "a request …". */
  readonly request: string;
  readonly given: readonly State[];
  /** What the user says. */
  readonly text: string;
  readonly wrongKey?: string;
  /** Sent instead of the provider's model. */
  readonly model?: string;
  readonly refusal: Refusal;
  /** The status and type that messages have for it. */
  readonly message: { readonly status: number; readonly type: string };
}

const REFUSALS: readonly DoorRefusal[] = [
  {
    request: "with a wrong key",
    given: ["a chat model"],
    text: "Hi",
    wrongKey: "sk-wrong",
    refusal: { status: 401, code: "invalid_api_key", param: null, message: said },
    message: { status: 401, type: "authentication_error" },
  },
  {
    request: "to a model that is not there",
    given: [],
    text: "Hi",
    model: "no-such-model",
    refusal: { status: 404, code: "model_not_found", param: "model", message: said },
    message: { status: 404, type: "not_found_error" },
  },
  {
    request: "with a body that is too large",
    given: ["a chat model", "a server that takes little"],
    text: "x".repeat(9000),
    refusal: { status: 413, code: "request_too_large", param: null, message: said },
    message: { status: 413, type: "request_too_large" },
  },
  {
    request: "that is too much for the minute",
    given: ["a chat model", "a caller whose minute is used up"],
    text: "Hi",
    refusal: limited,
    message: { status: 429, type: "rate_limit_error" },
  },
  {
    request: "to a model that fails",
    given: ["a chat model", "a model that fails"],
    text: "Please play: fail",
    refusal: { ...failed, status: 500 },
    message: { status: 500, type: "api_error" },
  },
  {
    request: "to a model that cannot be reached",
    given: ["a chat model", "a model that cannot be reached"],
    text: "Please play: unreachable",
    refusal: { ...failed, status: 502 },
    message: { status: 502, type: "api_error" },
  },
  {
    request: "to a model that is overloaded",
    given: ["a chat model", "a model that is overloaded"],
    text: "Please play: overloaded",
    refusal: { ...failed, status: 503 },
    message: { status: 529, type: "overloaded_error" },
  },
  {
    request: "to a model that is too slow",
    given: ["a chat model", "a model that is too slow"],
    text: "Please play: too slow",
    refusal: { ...failed, status: 504 },
    message: { status: 504, type: "timeout_error" },
  },
];

describe.each(REFUSALS)("a request $request", ({ request, given, text, wrongKey, refusal, message, model: other }) => {
  const interaction = { given, ...(wrongKey === undefined ? {} : { wrongKey }), method: "POST" } as const;
  const sentModel = other ?? theModel;
  const asked = { model: other ?? model, messages: [{ role: "user" as const, content: text }] };

  test("is refused by chat", async () => {
    verifies("chat.errors.before-the-stream");
    await checkRefusal(
      {
        ...interaction,
        request: `${request} by chat`,
        path: "/v1/chat/completions",
        body: { ...asked, model: sentModel },
      },
      refusal,
      { official: (client) => client.chat.completions.create(asked) },
    );
  });

  test("is refused by message", async () => {
    verifies("messages.errors.own-types");
    const body = { ...asked, max_tokens: 100 };
    await checkMessagesInteraction(
      {
        ...interaction,
        given: [...given, ...(given.includes("our own server") ? [] : (["our own server"] as const))],
        request: `${request} by message`,
        path: "/v1/messages",
        body: { ...body, model: sentModel },
        status: message.status,
        reply: {
          json: {
            type: "error",
            error: { type: message.type, message: said },
            request_id: regex("^req_.+$", EXAMPLE_REQUEST_ID),
          },
        },
        replyHeaders: { "request-id": regex("^req_.+$", EXAMPLE_REQUEST_ID) },
      },
      async (client) => {
        const refused = client.messages.create(body);
        await expect(refused).rejects.toBeInstanceOf(Anthropic.APIError);
        await expect(refused).rejects.toMatchObject({ status: message.status, type: message.type });
      },
    );
  });
});
