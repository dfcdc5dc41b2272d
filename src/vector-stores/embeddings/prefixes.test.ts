import { expect, test } from "vitest";
import { familyPrefixes, NO_PREFIXES, prefixedModelName, splitModelName } from "./prefixes.ts";

const MODELS: readonly (readonly [name: string, question: string, passage: string])[] = [
  ["intfloat/multilingual-e5-small", "query: ", "passage: "],
  ["e5-base-v2", "query: ", "passage: "],
  ["intfloat/multilingual-e5-large-instruct", "Instruct: ", ""],
  ["Qwen/Qwen3-Embedding-0.6B", "Instruct: ", ""],
  ["BAAI/bge-small-en-v1.5", "Represent this sentence", ""],
  ["bge-large-zh-v1.5", "为这个句子", ""],
  ["bge-m3", "", ""],
  ["mxbai-embed-large:latest", "Represent this sentence", ""],
  ["nomic-embed-text:latest", "search_query: ", "search_document: "],
  ["snowflake-arctic-embed:22m", "Represent this sentence", ""],
  ["snowflake-arctic-embed2", "query: ", ""],
  ["Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""],
  ["embeddinggemma:300m", "task: search result | query: ", "title: none | text: "],
  ["text-embedding-3-small", "", ""],
  ["all-MiniLM-L6-v2", "", ""],
];

test.each(MODELS)("%s gets the prefixes that its authors advise", (model, question, passage) => {
  const prefixes = familyPrefixes(model);
  expect(prefixes.question.startsWith(question)).toBe(true);
  expect(prefixes.question === "").toBe(question === "");
  expect(prefixes.passage).toBe(passage);
});

test("vectors are stored under a name that tells their prefixes, and a plain name stays as it is", () => {
  for (const prefixes of [NO_PREFIXES, { question: "a&b?prefixes=", passage: "ä: " }]) {
    const name = prefixedModelName("some/model?x", prefixes);
    expect(splitModelName(name)).toEqual({ model: "some/model?x", prefixes });
  }
  expect(prefixedModelName("m", NO_PREFIXES)).toBe("m");
});
