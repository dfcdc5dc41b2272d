import type { EmbeddingPurpose } from "../ports/vectors.ts";

/** The text before each embedded text of a purpose, with its last space. */
export type EmbeddingPrefixes = Readonly<Record<EmbeddingPurpose, string>>;

export const NO_PREFIXES: EmbeddingPrefixes = { question: "", passage: "" };

const ENGLISH_QUESTION = "Represent this sentence for searching relevant passages: ";
const INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ";

/** Prefixes that the authors of models advise, the more special names first. Source: the cards of the models. */
const FAMILIES: readonly (readonly [name: RegExp, EmbeddingPrefixes])[] = [
  [/e5-.*instruct|qwen3-embedding/, { question: INSTRUCTION, passage: "" }],
  [/(^|[^a-z0-9])e5-(small|base|large)/, { question: "query: ", passage: "passage: " }],
  [/bge-(small|base|large)-zh/, { question: "为这个句子生成表示以用于检索相关文章：", passage: "" }],
  [/bge-(small|base|large)|mxbai-embed/, { question: ENGLISH_QUESTION, passage: "" }],
  [/arctic-embed.*(2\.0|v2|:?2$)|arctic-embed2/, { question: "query: ", passage: "" }],
  [/arctic-embed/, { question: ENGLISH_QUESTION, passage: "" }],
  [/nomic-embed-text/, { question: "search_query: ", passage: "search_document: " }],
  [/embedding-?gemma/, { question: "task: search result | query: ", passage: "title: none | text: " }],
];

/** None for models of unknown families. */
export function familyPrefixes(model: string): EmbeddingPrefixes {
  const name = model.toLowerCase().replaceAll("_", "-");
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? NO_PREFIXES;
}

/**
 * The name under which vectors are stored: vectors made with other prefixes cannot be compared, so prefixes are part of
 * it. A model without prefixes keeps its own name.
 */
export function prefixedModelName(model: string, { question, passage }: EmbeddingPrefixes): string {
  if (question === "" && passage === "") return model;
  return `${model}${MARK}${encodeURIComponent(question)}&${encodeURIComponent(passage)}`;
}

const MARK = "?prefixes=";

/** The reverse of `prefixedModelName`. */
export function splitModelName(name: string): { readonly model: string; readonly prefixes: EmbeddingPrefixes } {
  const at = name.lastIndexOf(MARK);
  if (at === -1) return { model: name, prefixes: NO_PREFIXES };
  const [question = "", passage = ""] = name.slice(at + MARK.length).split("&");
  return {
    model: name.slice(0, at),
    prefixes: { question: decodeURIComponent(question), passage: decodeURIComponent(passage) },
  };
}
