import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { planAnswer } from "./plan-answer.ts";
import { aRequest, outline, spoken, WEATHER } from "./request.fixture.ts";
import { splitTokens } from "./tokens.ts";

type Input = string | readonly (string | InputItem)[];

function check(input: Input, text: string | RegExp, changes: Partial<ModelRequest> = {}): void {
  const answer = spoken(planAnswer(aRequest(input, changes)));
  if (typeof text === "string") expect(answer).toBe(text);
  else expect(answer).toMatch(text);
}

describe("a text answer", () => {
  test.each([
    ["Say hello", "hello"],
    ["Please say: good night!", "good night!"],
    ["Reply with exactly: pong", "pong"],
    ["reply only with the word OK", "OK"],
    ['Say "one two" and nothing else', "one two"],
    ["Could you please repeat after me: 'yes sir'", "yes sir"],
  ])("repeats the text it is asked to say: %s", (input, text) => check(input, text));

  test.each([
    ["Count to 5", "1 2 3 4 5"],
    ["Please count from 3 to one.", "3 2 1"],
    ["Count from 8 up to ten", "8 9 10"],
    ["Write 4 words", "the first voice sings"],
    ["I want you to write me a 3-word poem", "the first voice"],
  ])("counts: %s", (input, text) => check(input, text));

  test("has at most 1000 numbers or 5000 words", () => {
    check("count to 999999999", /^1 2 .* 999 1000$/);
    const words = spoken(planAnswer(aRequest("write 99999 words"))).split(" ");
    expect(words).toHaveLength(5000);
  });

  test.each([
    ["what is 2+2*3", "2+2*3 = 8"],
    ["What's 7 times 6?", "7 * 6 = 42"],
    ["(1 + 2) ^ 3 ^ 1 - -1 =", "(1 + 2) ^ 3 ^ 1 - -1 = 28"],
    ["Calculate 10 divided by 4. Be brief.", "10 / 4 = 2.5"],
    ["what is 0.1 + 0.2", "0.1 + 0.2 = 0.3"],
    ["what is 1/0", "1/0 has no value."],
  ])("calculates: %s", (input, text) => check(input, text));

  test.each(["what is 2024-01-05?", "what is 5?", "what is (1+2?", "is 3 > 2?"])("does not calculate: %s", (input) =>
    check(input, /^You said/),
  );

  test("remembers earlier messages", () => {
    check(["The sky is green.", "What did I say?"], 'You said: "The sky is green."');
    check(["What did I just say?"], "You have not said anything before that.");
    check(["My name is Ada Lovelace.", "What is my name?"], "Your name is Ada Lovelace.");
    check(["What's my favourite colour?"], "You have not told me your favourite colour.");
    check("What are your instructions?", 'My instructions are: "Be kind."', { instructions: "Be kind." });
  });

  test("summarizes the user's messages, so that they can be recalled from the summary", () => {
    const asks = "Write a summary of this conversation. It is about to be removed.";
    check(["My name is Ada.", "Hello!", asks], 'The user said:\n- "My name is Ada."\n- "Hello!"');
    check([asks], "Nothing was said.");
    check(['The user said:\n- "My name is Ada."', "What is my name?"], "Your name is Ada.");
  });

  test("greets and says what it is", () => {
    verifies("builtin-engine.answers.honest");
    check("Hello!", /^Hello! I am Antiphon's built-in engine, not a language model/);
    check("Which model are you?", /not a language model/);
    expect(aRequest("").model).toBe("antiphon-built-in");
  });

  test("quotes a question it cannot answer, and says how to connect a real model", () => {
    verifies("builtin-engine.answers.honest");
    check(
      "What is the capital of France?",
      'You said: "What is the capital of France?". This answer comes from Antiphon\'s built-in engine, which follows fixed rules and is not a language model; set MODEL_BASE_URL to connect a real one.',
    );
    check("x ".repeat(9000), /^You said: "(?:x ){99}x…"\. This/);
    check([], /^This answer comes from/);
  });

  test("counts the images, files and recordings that it cannot read", () => {
    const image = { type: "input_image", image_url: "data:," } as const;
    const audio = { type: "input_audio", input_audio: { data: "", format: "wav" } } as const;
    const content = [
      { type: "input_text", text: "What is this?" } as const,
      image,
      image,
      { type: "input_file", file_id: "f" } as const,
      audio,
    ];
    check(
      [{ type: "message", role: "user", content }],
      /^I received 2 images, 1 file and 1 recording\. I can't see images, read files or hear audio: I am the built-in engine\. You said: "What is this\?"/,
    );
  });
});

describe("endings", () => {
  const ending = (input: string, changes: Partial<ModelRequest> = {}): string =>
    outline(planAnswer(aRequest(input, changes)));

  test("can be chosen by phrases in the message", () => {
    expect(ending("Say hi")).toBe("text_delta usage stop");
    expect(ending("please refuse")).toBe("refusal_delta usage stop");
    expect(ending("trigger the content filter")).toBe("text_delta usage content_filter");
    expect(ending("Fail now!")).toBe("text_delta failure");
  });

  test("a requested failure is a server error", () => {
    expect(planAnswer(aRequest("fail now")).at(-1)).toMatchObject({
      error: { status: 500, type: "server_error", code: "server_error" },
    });
  });

  test("the answer is cut at exactly max_output_tokens, which includes reasoning", () => {
    const steps = planAnswer(aRequest("write 100 words", { maxOutputTokens: 16 }));
    expect(outline(steps)).toBe("text_delta usage length");
    expect(spoken(steps).split(" ")).toHaveLength(16);
    expect(ending("write 100 words", { maxOutputTokens: 16, reasoning: { effort: "high", summary: null } })).toBe(
      "reasoning_delta usage length",
    );
    expect(ending("write 16 words", { maxOutputTokens: 16 })).toBe("text_delta usage stop");
  });

  test("a call cut by the limit has no call_finished", () => {
    const steps = planAnswer(aRequest("weather ".repeat(40), { maxOutputTokens: 16, tools: [WEATHER] }));
    expect(outline(steps)).toBe("call_started call_delta usage length");
  });

  test("an answer without max_output_tokens still has a limit", () => {
    expect(ending(`say ${"a ".repeat(20_000)}`)).toBe("text_delta usage length");
  });
});

describe("reasoning", () => {
  const checkOutline = (effort: string | null, summary: string | null, expected: string): void =>
    expect(outline(planAnswer(aRequest("Say hi", { reasoning: { effort, summary } })))).toBe(
      `${expected}text_delta usage stop`,
    );

  test("is raw text if an effort is set, and a summary if one is requested", () => {
    checkOutline(null, null, "");
    checkOutline("none", null, "");
    checkOutline("none", "auto", "");
    checkOutline("low", null, "reasoning_delta ");
    checkOutline("low", "concise", "reasoning_summary_delta ");
    checkOutline(null, "detailed", "reasoning_summary_delta reasoning_summary_break reasoning_summary_delta ");
  });

  test("counts as output tokens", () => {
    const steps = planAnswer(aRequest("Say hi", { reasoning: { effort: "minimal", summary: null } }));
    const thoughts = steps.filter((step) => step.type === "reasoning_delta").length;
    expect(thoughts).toBeGreaterThan(5);
    expect(steps.at(-2)).toMatchObject({ usage: { outputTokens: thoughts + 1, reasoningTokens: thoughts } });
  });
});

describe("JSON", () => {
  test("json_object answers with an object that holds the text", () => {
    check("say hi", '{"answer":"hi"}', { text: { format: { type: "json_object" }, verbosity: "medium" } });
  });

  test("json_schema fills the schema with values from the message", () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, people: { type: "integer" } },
      required: ["city", "people"],
    };
    const format = { type: "json_schema", name: "trip", schema, strict: true, description: null } as const;
    check("A trip to Lisbon for 4", '{"city":"Lisbon","people":4}', { text: { format, verbosity: "medium" } });
  });
});

test("every delta has log probabilities if they are requested", () => {
  const steps = planAnswer(aRequest("say hé the", { topLogprobs: 2 }));
  const top = (token: string, bytes: number[]) => ({ token, bytes, logprob: -0.1 });
  expect(steps.slice(0, 2)).toEqual([
    {
      type: "text_delta",
      text: "hé",
      logprobs: [
        {
          ...top("hé", [104, 195, 169]),
          top_logprobs: [top("hé", [104, 195, 169]), { token: " the", bytes: [32, 116, 104, 101], logprob: -3.1 }],
        },
      ],
    },
    {
      type: "text_delta",
      text: " the",
      logprobs: [
        {
          ...top(" the", [32, 116, 104, 101]),
          top_logprobs: [top(" the", [32, 116, 104, 101]), { token: " a", bytes: [32, 97], logprob: -3.1 }],
        },
      ],
    },
  ]);
  expect(planAnswer(aRequest("say hi", { topLogprobs: 20 }))[0]).toMatchObject({
    logprobs: [{ top_logprobs: { length: 20 } }],
  });
});

test("the tokens of a text, joined, are the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(splitTokens(text).join("")).toBe(text);
    }),
  );
  expect(splitTokens("Hello, you  there!\n")).toEqual(["Hello", ",", " you", "  there", "!", "\n"]);
});

test("the same request always gets the same answer", () => {
  verifies("builtin-engine.answers.deterministic");
  const opening = fc.constantFrom("", "say ", "count to ", "what is ", "write ", "weather in ");
  fc.assert(
    fc.property(opening, fc.string({ unit: "grapheme" }), fc.boolean(), (start, rest, withTools) => {
      const request = aRequest(start + rest, {
        tools: withTools ? [WEATHER] : [],
        reasoning: { effort: "low", summary: "auto" },
        topLogprobs: 1,
      });
      expect(planAnswer(request)).toEqual(planAnswer(structuredClone(request)));
    }),
  );
});
