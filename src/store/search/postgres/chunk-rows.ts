import { type RawBuilder, sql } from "kysely";
import type { IndexedChunk } from "../../../vector-stores/ports/chunks.ts";
import { chunkKey, placedWord } from "../chunk-keys.ts";

/** Rows for the table of chunks, to be selected into it. */
export function postgresChunkRows(fileNumber: number, chunks: readonly IndexedChunk[]): RawBuilder<unknown> {
  return sql`select * from unnest(
    ${keysOf(fileNumber, chunks)}::bigint[],
    ${chunks.map(({ text }) => text)}::text[],
    ${chunks.map(({ start }) => start)}::bigint[],
    ${chunks.map(({ end }) => end)}::bigint[],
    ${chunks.map(({ headings }) => JSON.stringify(headings))}::text[],
    ${chunks.map(({ words }) => words.length)}::bigint[],
    ${chunks.map(({ columns }) => columns)}::text[])`;
}

/** Rows for the index of words, to be selected into it: each word once, and the counts of repeated words. */
export function postgresWordRows(
  fileNumber: number,
  storeNumber: number,
  chunks: readonly IndexedChunk[],
): RawBuilder<unknown> {
  const wordCounts = chunks.map(({ words }) => countEach(words));
  const wordTexts = wordCounts.map((counts) =>
    [...counts.keys()].map((word) => placedWord(storeNumber, word)).join(" "),
  );
  const repetitions = wordCounts.map((counts) =>
    JSON.stringify(Object.fromEntries([...counts].filter(([, n]) => n > 1))),
  );
  return sql`(key, words, repeated)
    select key, array_to_tsvector(string_to_array(words, ' ')), repeated::jsonb
    from unnest(${keysOf(fileNumber, chunks)}::bigint[], ${wordTexts}::text[], ${repetitions}::text[])
      as given (key, words, repeated)`;
}

function keysOf(fileNumber: number, chunks: readonly IndexedChunk[]): readonly number[] {
  return chunks.map(({ ordinal }) => chunkKey(fileNumber, ordinal));
}

function countEach(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
