import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { messageSaying, responseShape } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";

const { eachLike, equal, integer, number, regex, string } = MatchersV3;
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const model = EXAMPLE_MODEL;
const input = "Say hello";

describe("a client that chooses how it is answered", () => {
  test("sets how words are drawn", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const asked = { input, temperature: 0.5, top_p: 0.75 };
    const exact = { temperature: equal(asked.temperature), top_p: equal(asked.top_p) };
    await checkAnswer(
      {
        ...CREATE,
        request: "with a temperature",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, exact) },
      },
      { temperature: 0.5, top_p: 0.75 },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("sets how tools may be called", async () => {
    const asked = { input, parallel_tool_calls: false, max_tool_calls: 3, tool_choice: "none" as const };
    const { parallel_tool_calls, max_tool_calls, tool_choice } = asked;
    await checkAnswer(
      {
        ...CREATE,
        request: "with rules for calls",
        body: { model: theModel, ...asked },
        reply: {
          json: responseShape({ parallel_tool_calls, tool_choice }, { max_tool_calls: equal(max_tool_calls) }),
        },
      },
      { parallel_tool_calls, max_tool_calls, tool_choice },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("says for whom it asks", async () => {
    const names = { safety_identifier: "reader-7", prompt_cache_key: "greetings" };
    const asked = { input, ...names, service_tier: "default" as const, truncation: "auto" as const };
    await checkAnswer(
      {
        ...CREATE,
        request: "with names for the caller",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({ ...names, truncation: "auto" }) },
      },
      { ...names, service_tier: "default", truncation: "auto" },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("gets log probabilities", async () => {
    const include = ["message.output_text.logprobs" as const];
    const asked = { input, include, top_logprobs: 1 };
    const bytes = [104, 101, 108, 108, 111];
    const token = { token: "hello", bytes, logprob: -0.1, top_logprobs: [{ token: "hello", bytes, logprob: -0.1 }] };
    const shape = { token: string("hello"), bytes: eachLike(integer(104)), logprob: number(-0.1) };
    const logprobs = eachLike({ ...shape, top_logprobs: eachLike(shape) });
    const part = { type: "output_text", annotations: [], logprobs, text: string("hello") };
    const example = messageSaying("hello");
    const output = [{ ...example, id: regex("^msg_.+$", example.id), content: [part] }];
    await checkAnswer(
      {
        ...CREATE,
        request: "for log probabilities",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { output, top_logprobs: equal(1) }) },
      },
      { top_logprobs: 1, output: [{ content: [{ logprobs: [{ token: token.token, logprob: token.logprob }] }] }] },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("gets JSON without a schema, as text", async () => {
    const format = { type: "json_object" as const };
    const asked = { input: "Say hello in JSON.", text: { format }, max_output_tokens: 64 };
    const answer = '{"answer":"hello"}';
    const message = messageSaying(answer);
    const part = {
      type: "output_text",
      annotations: [],
      logprobs: [],
      text: regex("^\\s*\\{[\\s\\S]*\\}\\s*$", answer),
    };
    const output = [{ ...message, id: regex("^msg_.+$", message.id), content: [part] }];
    await checkAnswer(
      {
        ...CREATE,
        request: "for JSON without a schema",
        body: { model: theModel, ...asked },
        reply: {
          json: responseShape({ text: { format, verbosity: "medium" } }, { output, max_output_tokens: equal(64) }),
        },
      },
      { output: [message], text: { format } },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("is told how far it is from its limits", async () => {
    verifies("http.headers.ratelimit-on-plain-creates");
    const asked = { input, max_output_tokens: 32 };
    const count = regex("^\\d+$", "1000");
    const duration = regex("^(\\d+h)?(\\d+m)?\\d+(\\.\\d+)?s$|^\\d+ms$", "2ms");
    await checkAnswer(
      {
        ...CREATE,
        request: "whose reply tells of limits",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { max_output_tokens: equal(32) }) },
        replyHeaders: {
          "x-ratelimit-limit-requests": count,
          "x-ratelimit-limit-tokens": count,
          "x-ratelimit-remaining-requests": count,
          "x-ratelimit-remaining-tokens": count,
          "x-ratelimit-reset-requests": duration,
          "x-ratelimit-reset-tokens": duration,
        },
      },
      { status: "completed" },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });
});
