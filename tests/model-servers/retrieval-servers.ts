import { isRecord } from "@antiphon/base/json/records.ts";
import type { Answer } from "../responses/behind-upstream.ts";

/** Makes vectors of a text's length and first sign, or of its tokens' sum, as an embeddings server does. */
export const embeds: Answer = (response, { body }) => {
  const { input, encoding_format: encoding } = askedOf(body);
  const list: readonly unknown[] = Array.isArray(input) ? input : [];
  const data = list.map((element, index) => ({ object: "embedding", index, embedding: vectorOf(element, encoding) }));
  const usage = { prompt_tokens: list.length, total_tokens: list.length };
  response.setHeader("content-type", "application/json").end(JSON.stringify({ object: "list", data, usage }));
};

/** The same, but in the order in which no client wants it, and only as numbers. */
export const embedsInNumbers: Answer = (response, { body }) => {
  const { input } = askedOf(body);
  const list: readonly unknown[] = Array.isArray(input) ? input : [];
  const data = list.map((element, index) => ({ index, embedding: vectorOf(element, "float") })).toReversed();
  response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
};

/** The vector that the servers above make. All of its numbers are exact in 32 bits. */
export function numbersOf(element: unknown): readonly number[] {
  if (typeof element === "string") return [element.length, element.charCodeAt(0), 0.5];
  const tokens: readonly unknown[] = Array.isArray(element) ? element : [];
  return [tokens.length, tokens.reduce<number>((sum, token) => sum + Number(token), 0), -0.25];
}

function vectorOf(element: unknown, encoding: unknown): string | readonly number[] {
  const numbers = numbersOf(element);
  return encoding === "base64" ? base64Of(numbers) : numbers;
}

export function base64Of(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
}

/** Ranks documents by how often they have the words of the question, as vLLM, llama.cpp and Jina answer. */
export const ranks: Answer = (response, { path, body }) => {
  if (path !== "/v1/rerank") return response.writeHead(404).end("Not Found");
  const { query, documents } = askedOf(body);
  const list: readonly unknown[] = Array.isArray(documents) ? documents : [];
  const results = list.map((document, index) => ({ index, relevance_score: scoreOf(String(query), String(document)) }));
  const usage = { total_tokens: 7 };
  const sorted = results.toSorted((one, other) => other.relevance_score - one.relevance_score);
  response.setHeader("content-type", "application/json").end(JSON.stringify({ results: sorted, usage }));
};

/** The same as Text Embeddings Inference answers: below the root, with `texts`, and a bare list. */
export const ranksTexts: Answer = (response, { path, body }) => {
  if (path !== "/rerank") return response.writeHead(404).end("Not Found");
  const { query, texts } = askedOf(body);
  const list: readonly unknown[] = Array.isArray(texts) ? texts : [];
  const results = list.map((text, index) => ({ index, score: scoreOf(String(query), String(text)) }));
  response.setHeader("content-type", "application/json").end(JSON.stringify(results));
};

function scoreOf(query: string, document: string): number {
  return query.split(" ").reduce((sum, word) => sum + document.split(word).length - 1, 0) / 10;
}

/** What a call asked for. */
export function askedOf(body: string): Readonly<Record<string, unknown>> {
  const asked: unknown = JSON.parse(body === "" ? "{}" : body);
  return isRecord(asked) ? asked : {};
}
