import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { CALL, CUSTOM_CALL, WEATHER } from "./example-events.fixture.ts";
import { PDF_URL, PNG_URL } from "./example-media.fixture.ts";
import { messageSaying, responseShape } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";

const { fromProviderState, like, regex, string } = MatchersV3;
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const model = EXAMPLE_MODEL;
const CONVERSATION_ID = "conv_6700000101234567890123456789012345678901234567ab";
const said = { output: [messageSaying("hello")] };

describe("a client that says more than a text", () => {
  test("sends messages of several roles", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const input = [
      { role: "developer" as const, content: "Be brief." },
      { role: "user" as const, content: "My name is Ada." },
      { role: "assistant" as const, content: "Nice to meet you." },
      { role: "user" as const, content: [{ type: "input_text" as const, text: "Say hello" }] },
    ];
    await checkAnswer(
      { ...CREATE, request: "with a list of messages", body: { model: theModel, input }, reply: textReply() },
      said,
      {
        official: (client) => client.responses.create({ model, input }),
        own: (client) => client.createResponse({ model, input }),
      },
    );
  });

  test("sends a picture", async () => {
    const content = [
      { type: "input_text" as const, text: "Say hello to this picture." },
      { type: "input_image" as const, image_url: PNG_URL, detail: "low" as const },
    ];
    const input = [{ role: "user" as const, content }];
    await checkAnswer(
      { ...CREATE, request: "with a picture", body: { model: theModel, input }, reply: textReply() },
      said,
      {
        official: (client) => client.responses.create({ model, input }),
        own: (client) => client.createResponse({ model, input }),
      },
    );
  });

  test("sends a file", async () => {
    const content = [
      { type: "input_text" as const, text: "Say hello to this file." },
      { type: "input_file" as const, filename: "hello.pdf", file_data: PDF_URL },
    ];
    const input = [{ role: "user" as const, content }];
    await checkAnswer(
      { ...CREATE, request: "with a file", body: { model: theModel, input }, reply: textReply() },
      said,
      {
        official: (client) => client.responses.create({ model, input }),
        own: (client) => client.createResponse({ model, input }),
      },
    );
  });

  test("sends a file that it uploaded before", async () => {
    const file_id = "file-0123456789abcdef0067000000012345";
    const inputOf = (file: unknown) => [{ role: "user", content: [{ type: "input_file", file_id: file }] }];
    const input = [{ role: "user" as const, content: [{ type: "input_file" as const, file_id }] }];
    await checkAnswer(
      {
        ...CREATE,
        given: ["a chat model", "an uploaded file", "our own server"],
        request: "with an uploaded text file",
        body: { model: theModel, input: inputOf(fromProviderState("${file_id}", file_id)) },
        reply: textReply(),
      },
      said,
      {
        official: (client) => client.responses.create({ model, input }),
        own: (client) => client.createResponse({ model, input }),
      },
    );
  });

  test("goes on in a conversation", async () => {
    const conversation = { id: CONVERSATION_ID };
    const asked = { input: "Say hello", conversation: CONVERSATION_ID };
    const id = fromProviderState("${conversation_id}", CONVERSATION_ID);
    await checkAnswer(
      {
        ...CREATE,
        given: ["a chat model", "a conversation of two messages"],
        request: "that goes on in a conversation",
        body: { model: theModel, ...asked, conversation: id },
        reply: { json: responseShape({ conversation }) },
      },
      { conversation, previous_response_id: null },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });
});

describe("a client that runs tools", () => {
  const user = { role: "user" as const, content: "What is the weather in Rome?" };
  const { call_id } = CALL;

  test("tells what a function returned", async () => {
    const call = { type: "function_call" as const, call_id, name: CALL.name, arguments: CALL.arguments };
    const output = { type: "function_call_output" as const, call_id, output: "Sunny, 18 degrees." };
    const asked = { input: [user, call, output], tools: [WEATHER] };
    await checkAnswer(
      {
        ...CREATE,
        request: "with what a function returned",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { tools: [like(WEATHER)] }) },
      },
      said,
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("gets the call of a custom tool", async () => {
    const tool = { type: "custom" as const, name: CUSTOM_CALL.name, description: "Runs a shell command." };
    const tool_choice = { type: "custom" as const, name: CUSTOM_CALL.name };
    const asked = { input: "List the files.", tools: [tool], tool_choice };
    const ids = { id: regex("^ctc_.+$", CUSTOM_CALL.id), call_id: regex("^call_.+$", CUSTOM_CALL.call_id) };
    const output = [{ ...CUSTOM_CALL, ...ids, input: string(CUSTOM_CALL.input) }];
    await checkAnswer(
      {
        ...CREATE,
        request: "that forces a custom tool",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { output, tools: [like(tool)], tool_choice: like(tool_choice) }) },
      },
      { output: [CUSTOM_CALL] },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("tells what a custom tool returned", async () => {
    const { input: command, name } = CUSTOM_CALL;
    const tool = { type: "custom" as const, name, description: "Runs a shell command." };
    const call = { type: "custom_tool_call" as const, call_id, name, input: command };
    const output = { type: "custom_tool_call_output" as const, call_id, output: "hello.txt" };
    const asked = { input: [{ ...user, content: "List the files." }, call, output], tools: [tool] };
    await checkAnswer(
      {
        ...CREATE,
        request: "with what a custom tool returned",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { tools: [like(tool)] }) },
      },
      said,
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });
});

function textReply() {
  return { json: responseShape() };
}
