import { isRecord } from "@antiphon/base/json/records.ts";
import type { LogProb } from "@antiphon/contracts/responses-api/types.ts";
import { isList, type JsonObject } from "../json-values.ts";

/** A model server's list of tokens with their log probabilities; undefined if it sent none. */
export function readLogprobList(tokens: unknown): readonly LogProb[] | undefined {
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
  return { token, bytes: tokenBytes(entry["bytes"], token), logprob };
}

/** The bytes of a token; its UTF-8 if the server sends none. */
function tokenBytes(value: unknown, token: string): number[] {
  return isList(value) ? value.filter((byte) => typeof byte === "number") : [...Buffer.from(token)];
}
