import type { ChunkHit, ChunkQuestion, FoundChunk } from "./ports/search.ts";

const ACCENTS = /[\u0300-\u036f]/g;
const NO_WORD = /[^\p{L}\p{N}]+/u;
/** Shorter stems are the beginning of too many words. */
const STEM_LENGTH_MIN = 3;

/**
 * Raises the scores by words of chunks that have the words of the question in one row of a table. Otherwise, a chunk
 * would match as well by words from several rows, which say nothing together. The first chunk of a table is known by
 * the others.
 */
export function favourRows(
  hits: readonly ChunkHit[],
  chunks: readonly FoundChunk[],
  words: ChunkQuestion["words"],
): readonly ChunkHit[] {
  if (words.length < 2) return hits;
  const files = new Set(chunks.flatMap(({ fileId, columns }) => (columns === null ? [] : [fileId])));
  const tables = new Map(chunks.flatMap(({ key, fileId, text }) => (files.has(fileId) ? [[key, text]] : [])));
  return hits.map((hit) => {
    const text = hit.words === 0 ? undefined : tables.get(hit.key);
    return text === undefined ? hit : { ...hit, words: hit.words * (1 + bestRowShare(text, words)) };
  });
}

/** The largest share of the words that one row has. */
function bestRowShare(text: string, words: ChunkQuestion["words"]): number {
  const rows = text.normalize("NFKD").replace(ACCENTS, "").toLowerCase().split("\n");
  const counts = rows.map((row) => {
    const rowWords = row.split(NO_WORD);
    return words.filter((forms) => forms.some((form) => rowWords.some((word) => isForm(word, form)))).length;
  });
  return Math.max(...counts) / words.length;
}

function isForm(word: string, form: string): boolean {
  return form.length < STEM_LENGTH_MIN ? word === form : word.startsWith(form);
}
