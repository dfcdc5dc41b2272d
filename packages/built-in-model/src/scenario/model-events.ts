import { isRecord } from "@antiphon/base/json/records.ts";
import {
  byType,
  choiceOf,
  expected,
  integer,
  manyOf,
  mapping,
  NAME,
  RECORD,
  TEXT,
} from "@antiphon/base/yaml/file-values.ts";
import { z } from "zod";

const INDEX = integer(0);
const COUNT = INDEX.nullish().transform((count) => count ?? 0);
const OPTIONAL_NAME = NAME.nullable().default(null);
const FILE = { file_id: TEXT, filename: TEXT };

export const PHASE = choiceOf(["commentary", "final_answer"]);

/** Annotations, written as in the API. */
export const ANNOTATION = byType([
  mapping({ type: z.literal("url_citation"), end_index: INDEX, start_index: INDEX, title: TEXT, url: TEXT }),
  mapping({ type: z.literal("file_citation"), ...FILE, index: INDEX }),
  mapping({
    type: z.literal("container_file_citation"),
    container_id: TEXT,
    end_index: INDEX,
    ...FILE,
    start_index: INDEX,
  }),
  mapping({ type: z.literal("file_path"), file_id: TEXT, index: INDEX }),
]);

const COUNTS = mapping({
  input_tokens: COUNT,
  cached_tokens: COUNT,
  cache_write_tokens: COUNT,
  output_tokens: COUNT,
  reasoning_tokens: COUNT,
});

/** Accepts both spellings: `input_tokens` as in the rest of the file, and `inputTokens` as in `ModelUsage`. */
export const USAGE = z.preprocess(
  (usage) =>
    isRecord(usage) ? Object.fromEntries(Object.entries(usage).map(([key, count]) => [wireName(key), count])) : usage,
  COUNTS.transform((counts) => ({
    inputTokens: counts.input_tokens,
    cachedTokens: counts.cached_tokens,
    cacheWriteTokens: counts.cache_write_tokens,
    outputTokens: counts.output_tokens,
    reasoningTokens: counts.reasoning_tokens,
  })),
);

function wireName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const TOKEN = {
  token: TEXT,
  bytes: manyOf(integer(0, 255)).nullish(),
  logprob: z.number({ error: expected("a number") }),
};

function withBytes<Token extends { token: string; bytes?: number[] | null | undefined }>(token: Token) {
  return { ...token, bytes: token.bytes ?? [...new TextEncoder().encode(token.token)] };
}

const LIKELY = manyOf(mapping(TOKEN).transform(withBytes)).nullish();
const LOGPROBS = manyOf(
  mapping({ ...TOKEN, top_logprobs: LIKELY.transform((tokens) => tokens ?? []) }).transform(withBytes),
);

/** `ModelEvent`s, with the members of their type. */
export const MODEL_EVENT = byType([
  mapping({ type: z.literal("model_resolved"), model: NAME }),
  mapping({ type: z.literal("message_started"), phase: PHASE.exactOptional() }),
  mapping({ type: z.literal("text_delta"), text: TEXT, logprobs: LOGPROBS.exactOptional() }),
  mapping({ type: z.literal("annotation"), annotation: ANNOTATION }),
  mapping({
    type: z.literal(["refusal_delta", "reasoning_delta", "reasoning_summary_delta", "call_delta"]),
    text: TEXT,
  }),
  mapping({ type: z.literal(["message_finished", "reasoning_summary_break", "call_finished"]) }),
  mapping({
    type: z.literal("call_started"),
    kind: choiceOf(["function", "custom", "hosted"]),
    callId: OPTIONAL_NAME,
    name: NAME,
    namespace: NAME.exactOptional(),
  }),
  mapping({ type: z.literal("tool_search"), callId: OPTIONAL_NAME, arguments: RECORD }),
  mapping({ type: z.literal("usage"), usage: USAGE }),
  mapping({ type: z.literal("finished"), reason: choiceOf(["stop", "length", "content_filter"]) }),
]);
