import type { LogProb } from "../../../../generated/responses-api/types.ts";
import { isRecord } from "../../../base/json/records.ts";
import { isList, type JsonObject } from "../json-values.ts";

/** The log probabilities of a delta, or undefined where the server sent none. */
export function readLogprobs(value: unknown): readonly LogProb[] | undefined {
  const tokens = isRecord(value) ? value["content"] : undefined;
  if (!isList(tokens) || tokens.length === 0) return undefined;
  return tokens
    .filter(isRecord)
    .map((token) => ({ ...readToken(token), top_logprobs: readAlternatives(token["top_logprobs"]) }));
}

function readAlternatives(value: unknown): LogProb["top_logprobs"] {
  return isList(value) ? value.filter(isRecord).map(readToken) : [];
}

function readToken(entry: JsonObject): { token: string; bytes: number[]; logprob: number } {
  const token = typeof entry["token"] === "string" ? entry["token"] : "";
  const logprob = typeof entry["logprob"] === "number" ? entry["logprob"] : 0;
  return { token, bytes: bytesOf(entry["bytes"], token), logprob };
}

/** Some servers leave the bytes out; then the token's own UTF-8 stands in. */
function bytesOf(value: unknown, token: string): number[] {
  return isList(value) ? value.filter((byte) => typeof byte === "number") : [...Buffer.from(token)];
}
