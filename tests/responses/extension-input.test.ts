import { describe, expect, test } from "vitest";
import { lastChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, chunks, says, serveBehind, toolDelta } from "./behind-upstream.ts";
import { checkReply, codeless, missing } from "./check-refusal.ts";
import { PIXEL, PIXEL_BYTES, WAV } from "./media-samples.ts";
import { readResponse } from "./read-stream.ts";

const customCall = { type: "custom_tool_call", call_id: "call_1", name: "c", input: "x" };
const functionCall = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
const user = (...content: readonly object[]): object => ({ type: "message", role: "user", content });

/** Elements at the top level of `input`, and how they are listed, oldest first. */
const ELEMENTS: Readonly<Record<string, readonly [input: readonly object[], listed: readonly object[]]>> = {
  "a text with its type": [
    [{ type: "input_text", text: "Hi", mime_type: "text/plain" }],
    [user({ type: "input_text", text: "Hi" })],
  ],
  "an image as data": [
    [{ type: "input_image", data: PIXEL_BYTES.toString("base64"), mime_type: "image/png", detail: "low" }],
    [user({ type: "input_image", detail: "low", file_id: null, image_url: PIXEL })],
  ],
  "an image by its address": [
    [{ type: "input_image", image_url: PIXEL }],
    [user({ type: "input_image", detail: "auto", file_id: null, image_url: PIXEL })],
  ],
  "a recording": [
    [{ type: "input_audio", data: WAV, format: "wav", sample_rate_hz: 16_000, channels: 1, language_hint: "en" }],
    [
      user({
        type: "input_audio",
        input_audio: { data: WAV, format: "wav", sample_rate_hz: 16_000, channels: 1, language_hint: "en" },
      }),
    ],
  ],
  "a recording that is described beside the object that holds it": [
    [
      {
        type: "input_audio",
        input_audio: { data: WAV, format: "pcm", channels: 1 },
        sample_rate_hz: 16_000,
        language_hint: "en",
      },
    ],
    [
      user({
        type: "input_audio",
        input_audio: { data: WAV, format: "pcm", sample_rate_hz: 16_000, channels: 1, language_hint: "en" },
      }),
    ],
  ],
  "a file": [
    [{ type: "input_file", data: "SGk=", filename: "a.txt", mime_type: "text/plain" }],
    [user({ type: "input_file", file_data: "data:text/plain;base64,SGk=", file_id: null, filename: "a.txt" })],
  ],
  "neighbours, which are one message": [
    [
      { type: "input_text", text: "See" },
      { type: "input_image", image_url: PIXEL },
      { role: "user", content: "Then" },
      { type: "input_text", text: "Last" },
    ],
    [
      user(
        { type: "input_text", text: "See" },
        { type: "input_image", detail: "auto", file_id: null, image_url: PIXEL },
      ),
      user({ type: "input_text", text: "Then" }),
      user({ type: "input_text", text: "Last" }),
    ],
  ],
  "the result of a function": [
    [functionCall, { type: "tool_result", call_id: "call_1", output: { degrees: 18 } }],
    [functionCall, { type: "function_call_output", call_id: "call_1", output: '{"degrees":18}' }],
  ],
  "the result of a custom tool": [
    [customCall, { type: "tool_result", call_id: "call_1", output: "done" }],
    [customCall, { type: "custom_tool_call_output", call_id: "call_1", output: "done" }],
  ],
};

describe("an extension of the request", () => {
  const list = async ({ server }: BehindUpstream, id: string): Promise<unknown> =>
    (await server.fetch(`/v1/responses/${id}/input_items?order=asc`)).json();

  verifies(
    "extensions.input.top-level-parts",
    "extensions.input.text-mime-type",
    "extensions.input.image-base64-or-url",
  );
  verifies("extensions.input.audio-members", "extensions.input.file-members", "extensions.input.tool-result");
  test.each(Object.entries(ELEMENTS))(
    "in input is kept as the reference would keep it: %s",
    async (_title, [input, listed]) => {
      const behind = await serveBehind(says("Hi"), { MODEL_INPUT: "text,image,audio" });
      const { id } = await readResponse(await behind.create({ input }));
      expect(await list(behind, id)).toMatchObject({ data: listed });
    },
  );

  test("answers a call of an earlier response with a tool_result", async () => {
    const tools = [{ type: "custom", name: "c" }];
    const called = { id: "call_1", type: "function", function: { name: "c", arguments: '{"input":"x"}' } };
    const answers = [chunks(toolDelta(0, called), lastChunk("tool_calls")), says("Done"), says("Hi")];
    const behind = await serveBehind((response, call) => answers.shift()?.(response, call));
    const first = await readResponse(await behind.create({ tools }));
    expect(first.output).toMatchObject([{ type: "custom_tool_call", call_id: "call_1", input: "x" }]);
    const again = { type: "tool_result", call_id: "call_1", output: "two" };
    const second = await readResponse(await behind.create({ tools, input: [again], previous_response_id: first.id }));
    expect(await list(behind, second.id)).toMatchObject({ data: [{ type: "custom_tool_call_output", output: "two" }] });
    const stranger = await behind.create({ input: [{ ...again, call_id: "call_x" }] });
    await checkReply(stranger, codeless("input", "No tool call found for function call output with call_id call_x."));
  });

  test("with an array of instructions sends them to the model in order and echoes a text", async () => {
    verifies("extensions.instructions.array");
    const behind = await serveBehind(says("Hi"));
    const instructions = [
      { type: "input_text", text: "First." },
      { type: "input_text", text: "Second." },
    ];
    const response = await readResponse(await behind.create({ instructions }));
    expect(response.instructions).toBe("First.\n\nSecond.");
    expect(behind.asked()).toMatchObject({
      messages: [{ role: "system", content: "First.\n\nSecond." }, { role: "user" }],
    });
  });

  test("with enable_chain_of_thought asks for a summary, unless false", async () => {
    verifies("extensions.reasoning.chain-of-thought");
    const behind = await serveBehind(says("<think>Hm.</think>Hi"));
    const shown = await readResponse(await behind.create({ reasoning: { enable_chain_of_thought: true } }));
    expect(shown.reasoning).toEqual({ context: "current_turn", effort: null, summary: "detailed" });
    expect(shown.output).toMatchObject([{ type: "reasoning", summary: [{ text: "Hm." }] }, { type: "message" }]);
    const hidden = await readResponse(await behind.create({ reasoning: { enable_chain_of_thought: false } }));
    expect(hidden.reasoning).toEqual({ context: null, effort: null, summary: null });
  });

  test("is refused by its path if a member is missing", async () => {
    const behind = await serveBehind(says("Hi"));
    await checkReply(await behind.create({ input: [{ type: "input_text" }] }), missing("input[0].text"));
    await checkReply(await behind.create({ input: [{ type: "input_image" }] }), missing("input[0].image_url"));
    await checkReply(await behind.create({ input: [{ type: "input_audio" }] }), missing("input[0].data"));
    await checkReply(await behind.create({ input: [{ type: "input_file" }] }), missing("input[0].file_data"));
  });

  test("with the same thing in two places is refused, and both names are given", async () => {
    verifies("media.audio.described-in-either-place");
    const behind = await serveBehind(says("Hi"));
    const audio = { data: WAV, format: "wav", sample_rate_hz: 16_000 };
    const message = /'input\[0\]\.sample_rate_hz' or 'input\[0\]\.input_audio\.sample_rate_hz'/;
    const twice = { type: "input_audio", input_audio: audio, sample_rate_hz: 8000 };
    const refusal = { code: "mutually_exclusive_parameters", param: null, message };
    await checkReply(await behind.create({ input: [twice] }), refusal);
    const inMessage = { role: "user", content: [{ type: "input_audio", input_audio: audio, sample_rate_hz: 8000 }] };
    const param = "input[0].content[0].sample_rate_hz";
    const unknown = { code: "unknown_parameter", param, message: /^Unknown parameter: / };
    await checkReply(await behind.create({ input: [inMessage] }), unknown);
  });
});
