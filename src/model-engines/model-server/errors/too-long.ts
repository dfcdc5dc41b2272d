import type { JsonObject } from "../json-values.ts";

/** Numbers of tokens in the refusal of a long input; null if missing. */
export interface TooLong {
  readonly tokenCount: number | null;
  readonly window: number | null;
}

/** A smaller number is not a window, but quoted in the message. */
const WINDOW_MIN = 256;

const COUNTED = [
  /(\d+) in the messages/i,
  /(\d+) input tokens/i,
  /requested tokens \((\d+)\)/i,
  /(?:prompt|input|messages?)[^.]{0,40}?(?:has|is|of|contains?|resulted in|with|:)\s*(\d+) tokens/i,
  /(?:resulted in|requested) (\d+) tokens/i,
  /too long: (\d+) tokens/i,
  /context limit: (\d+) \+/i,
];
const WINDOWS = [
  /maximum context length (?:is|of) (\d+)/i,
  /context (?:window|length|size) (?:is|of) (\d+)/i,
  /exceeds? (?:the )?(?:available )?context (?:window|length|size) (?:of |\()(\d+)/i,
  /tokens > (\d+) maximum/i,
  /context limit: \d+ \+ \d+ > (\d+)/i,
];

/** `error` is the error object of the reply; its members are llama.cpp's. */
export function readTooLong(message: string, error: JsonObject): TooLong {
  return {
    tokenCount: countIn(error["n_prompt_tokens"]) ?? firstNumber(message, COUNTED),
    window: plausible(countIn(error["n_ctx"]) ?? firstNumber(message, WINDOWS)),
  };
}

function plausible(window: number | null): number | null {
  return window === null || window < WINDOW_MIN ? null : window;
}

function firstNumber(text: string, patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    const count = countIn(Number(pattern.exec(text)?.[1]));
    if (count !== null) return count;
  }
  return null;
}

function countIn(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
