import { expect, test } from "vitest";
import { readTooLong } from "./too-long.ts";

test.each<[string, object, number | null, number | null]>([
  ["Requested tokens (20254) exceed context window of 8192", {}, 20_254, 8192],
  [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
    {},
    4500,
    4096,
  ],
  ["This model's maximum context length is 4096 tokens. However, your request has 4200 input tokens.", {}, 4200, 4096],
  [
    "This model's maximum context length is 16385 tokens. However, your messages resulted in 17000 tokens.",
    {},
    17_000,
    16_385,
  ],
  [
    "the request exceeds the available context size, try increasing it",
    { n_prompt_tokens: 9000, n_ctx: 8192 },
    9000,
    8192,
  ],
  ["prompt is too long: 210234 tokens > 200000 maximum", {}, 210_234, 200_000],
  [
    "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` and try again",
    {},
    190_000,
    200_000,
  ],
  ["prompt is too long", {}, null, null],
])("%s", (message, members, counted, window) => {
  expect(readTooLong(message, { ...members })).toEqual({ tokenCount: counted, window });
});
