import type { LogProb } from "../../../../generated/responses-api/types.ts";
import { assertNever } from "../../../base/assert.ts";
import { isRecord } from "../../../base/json/records.ts";
import type { ModelEvent, ModelUsage } from "../../../runs/ports/model-events.ts";
import { readAnnotation } from "./read-annotation.ts";
import {
  readChoice,
  readInteger,
  readList,
  readMapping,
  readName,
  readNumber,
  readOptional,
  readText,
} from "./read-values.ts";
import type { Place } from "./scenario-error.ts";

const TYPES = [
  "model_resolved",
  "message_started",
  "message_finished",
  "text_delta",
  "annotation",
  "refusal_delta",
  "reasoning_delta",
  "reasoning_summary_delta",
  "reasoning_summary_break",
  "call_started",
  "call_delta",
  "call_finished",
  "tool_search",
  "usage",
  "finished",
] as const satisfies readonly ModelEvent["type"][];

export const PHASES = ["commentary", "final_answer"] as const;

/** Reads any `ModelEvent`, with the members of its type. */
export function readModelEvent(value: unknown, place: Place): ModelEvent {
  const type = readChoice(isRecord(value) ? value["type"] : undefined, place.member("type"), TYPES);
  const members = (...keys: readonly string[]) => readMapping(value, place, ["type", ...keys]);
  switch (type) {
    case "model_resolved":
      return { type, model: readName(members("model")["model"], place.member("model")) };
    case "message_started": {
      const phase = readOptional(members("phase")["phase"], (name) => readChoice(name, place.member("phase"), PHASES));
      return { type, ...(phase === null ? {} : { phase }) };
    }
    case "text_delta": {
      const { text, logprobs } = members("text", "logprobs");
      const read = readOptional(logprobs, (list) => readLogProbs(list, place.member("logprobs")));
      return { type, text: readText(text, place.member("text")), ...(read === null ? {} : { logprobs: read }) };
    }
    case "annotation":
      return { type, annotation: readAnnotation(members("annotation")["annotation"], place.member("annotation")) };
    case "refusal_delta":
    case "reasoning_delta":
    case "reasoning_summary_delta":
    case "call_delta":
      return { type, text: readText(members("text")["text"], place.member("text")) };
    case "message_finished":
    case "reasoning_summary_break":
    case "call_finished":
      members();
      return { type };
    case "call_started":
      return readCallStarted(members("kind", "callId", "name", "namespace"), place);
    case "tool_search": {
      const { callId, arguments: asked } = members("callId", "arguments");
      if (!isRecord(asked)) throw place.member("arguments").expected("a mapping", asked);
      return { type, callId: readOptional(callId, (id) => readName(id, place.member("callId"))), arguments: asked };
    }
    case "usage":
      return { type, usage: readScenarioUsage(members("usage")["usage"], place.member("usage")) };
    case "finished":
      return {
        type,
        reason: readChoice(members("reason")["reason"], place.member("reason"), ["stop", "length", "content_filter"]),
      };
    default:
      return assertNever(type);
  }
}

function readCallStarted(event: Readonly<Record<string, unknown>>, place: Place): ModelEvent {
  const namespace = readOptional(event["namespace"], (name) => readName(name, place.member("namespace")));
  return {
    type: "call_started",
    kind: readChoice(event["kind"], place.member("kind"), ["function", "custom", "hosted"]),
    callId: readOptional(event["callId"], (id) => readName(id, place.member("callId"))),
    name: readName(event["name"], place.member("name")),
    ...(namespace === null ? {} : { namespace }),
  };
}

/** Accepts both spellings: `input_tokens` as in the rest of the file, and `inputTokens` as in `ModelUsage`. */
export function readScenarioUsage(value: unknown, place: Place): ModelUsage {
  const keys = ["input", "output", "cached", "cache_write", "reasoning"];
  const names = keys.flatMap((key) => [`${key}_tokens`, portName(key)]);
  const usage = readMapping(value, place, names);
  const count = (key: string): number => {
    const name = portName(key) in usage ? portName(key) : `${key}_tokens`;
    return readOptional(usage[name], (tokens) => readInteger(tokens, place.member(name), 0)) ?? 0;
  };
  return {
    inputTokens: count("input"),
    cachedTokens: count("cached"),
    cacheWriteTokens: count("cache_write"),
    outputTokens: count("output"),
    reasoningTokens: count("reasoning"),
  };
}

function portName(key: string): string {
  return `${key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}Tokens`;
}

function readLogProbs(value: unknown, place: Place): LogProb[] {
  return readList(value, place).map((entry, index) => {
    const at = place.element(index);
    const { token, bytes, logprob, top_logprobs } = readMapping(entry, at, [
      "token",
      "bytes",
      "logprob",
      "top_logprobs",
    ]);
    const alternatives = readOptional(top_logprobs, (list) => readLogProbs(list, at.member("top_logprobs"))) ?? [];
    return {
      token: readText(token, at.member("token")),
      bytes: readOptional(bytes, (list) => readBytes(list, at.member("bytes"))) ?? [
        ...new TextEncoder().encode(readText(token, at.member("token"))),
      ],
      logprob: readNumber(logprob, at.member("logprob")),
      top_logprobs: alternatives.map((alternative) => ({
        token: alternative.token,
        bytes: alternative.bytes,
        logprob: alternative.logprob,
      })),
    };
  });
}

function readBytes(value: unknown, place: Place): number[] {
  return readList(value, place).map((byte, index) => readInteger(byte, place.element(index), 0, 255));
}
