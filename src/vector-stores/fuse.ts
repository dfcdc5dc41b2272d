import type { Passage, PassageSearch } from "@antiphon/domain/vector-stores.ts";
import { meaningOfCosine } from "./embeddings/cosine-scales.ts";
import type { ChunkHit, FoundChunk } from "./ports/search.ts";

/**
 * The constant of reciprocal rank fusion: how much the first ranks count more than the next. Its authors chose 60 for
 * lists of a thousand. In lists of fifty, that would rank hits that are mediocre in both lists above the best of one.
 */
const RANK_OFFSET = 5;
/**
 * Answers often have few of a question's words: in the collection of `scripts/bench/search`, those that are right cover
 * a fifth of a hard question, and others an eighth. This power puts 0.3 between them.
 */
const COVERAGE_POWER = 2 / 3;
/** So small that ranks decide only among chunks with the same score. */
const TIE_BREAK = 1e-6;

/** The weights of ranks for a search that names none, chosen by `scripts/tools-quality`. */
const RANK_WEIGHTS = { words: 1, meaning: 1.5 };

type Ranking = Pick<PassageSearch, "resultsMax" | "scoreMin" | "weights" | "order">;

/** A chunk with its rank and its relevance. */
interface RankedChunk {
  readonly key: number;
  /** Higher is better. Comparable within one search only. */
  readonly rank: number;
  /** From 0 to 1. */
  readonly score: number;
}

/**
 * Orders the hits of all forms of a question: by reciprocal rank fusion of both kinds of search, each chunk with its
 * best form. Overlapping chunks of a file become one hit. Best first.
 */
export function fuse(
  hits: readonly (readonly ChunkHit[])[],
  chunks: readonly FoundChunk[],
  ranking: Ranking,
): readonly Passage[] {
  const byKey = new Map(chunks.map((chunk) => [chunk.key, chunk]));
  const rankedChunks = bestForms(hits.map((ofForm) => rankForm(ofForm, ranking)))
    .filter(({ score }) => score >= ranking.scoreMin)
    .toSorted((one, other) => other.rank - one.rank || one.key - other.key);
  const places: PlacedChunk[] = [];
  for (const { key, score } of rankedChunks) {
    const chunk = byKey.get(key);
    if (chunk === undefined) continue;
    if (!joinOverlapping(places, chunk) && places.length < ranking.resultsMax) places.push({ chunks: [chunk], score });
  }
  return places.map(passageOf);
}

/** The ranks and relevances of the chunks found for one form. */
function rankForm(hits: readonly ChunkHit[], { weights, order }: Ranking): readonly RankedChunk[] {
  const { words: byWords, meaning: byMeaning } = weights ?? { words: 1, meaning: 1 };
  const rankWeights = weights ?? RANK_WEIGHTS;
  const wordRanks = ranksOf(
    hits.filter(({ words }) => words > 0),
    ({ words }) => words,
  );
  const meaningRanks = ranksOf(
    hits.filter(({ nearness }) => nearness !== null),
    ({ nearness }) => nearness ?? 0,
  );
  return hits.map((hit) => {
    const { key, coverage } = hit;
    const score = relevance(coverage ** COVERAGE_POWER, meaningOf(hit), { byWords, byMeaning });
    const fusedRank = part(rankWeights.words, wordRanks.get(key)) + part(rankWeights.meaning, meaningRanks.get(key));
    return { key, score, rank: order === "score" ? score + fusedRank * TIE_BREAK : fusedRank };
  });
}

function meaningOf({ cosine, model }: ChunkHit): number | null {
  return cosine === null ? null : meaningOfCosine(model ?? "", cosine);
}

function ranksOf(hits: readonly ChunkHit[], valueOf: (hit: ChunkHit) => number): ReadonlyMap<number, number> {
  const sortedHits = hits.toSorted((one, other) => valueOf(other) - valueOf(one) || one.key - other.key);
  return new Map(sortedHits.map(({ key }, index) => [key, index + 1]));
}

function part(weight: number, rank: number | undefined): number {
  return rank === undefined ? 0 : weight / (RANK_OFFSET + rank);
}

/**
 * Half of it is the better of both kinds, and half their mean: a chunk that answers in other words than the question
 * is relevant, and one that fits in both ways is more so.
 */
function relevance(
  wordRelevance: number,
  meaningRelevance: number | null,
  { byWords, byMeaning }: { readonly byWords: number; readonly byMeaning: number },
): number {
  if (meaningRelevance === null) return wordRelevance;
  const most = Math.max(byWords, byMeaning);
  if (most === 0) return 0;
  const ofWords = byWords * wordRelevance;
  const ofMeaning = byMeaning * meaningRelevance;
  return Math.max(ofWords, ofMeaning) / most / 2 + (ofWords + ofMeaning) / (byWords + byMeaning) / 2;
}

/** Each chunk once, with the form in which it ranks highest and its highest relevance. */
function bestForms(forms: readonly (readonly RankedChunk[])[]): readonly RankedChunk[] {
  const best = new Map<number, RankedChunk>();
  for (const { key, rank, score } of forms.flat()) {
    const earlier = best.get(key);
    best.set(key, { key, rank: Math.max(rank, earlier?.rank ?? 0), score: Math.max(score, earlier?.score ?? 0) });
  }
  return [...best.values()];
}

/** Consecutive chunks of one file, in order, and the best relevance among them. */
interface PlacedChunk {
  readonly chunks: FoundChunk[];
  readonly score: number;
}

/** Adds the chunk to a hit that it overlaps. Returns false if there is none. */
function joinOverlapping(places: readonly PlacedChunk[], chunk: FoundChunk): boolean {
  for (const { chunks } of places) {
    const first = chunks[0];
    const last = chunks.at(-1);
    if (first === undefined || last === undefined) continue;
    if (first.fileId !== chunk.fileId || first.storeId !== chunk.storeId) continue;
    if (chunk.ordinal === last.ordinal + 1 && chunk.start < last.end) return chunks.push(chunk) > 0;
    if (chunk.ordinal === first.ordinal - 1 && first.start < chunk.end) return chunks.unshift(chunk) > 0;
  }
  return false;
}

function passageOf({ chunks, score }: PlacedChunk): Passage {
  const [first, ...others] = chunks;
  if (first === undefined) throw new RangeError("a passage has a chunk");
  const { storeId, fileId, filename, attributes, headings, columns } = first;
  let { end } = first;
  let text = columns === null ? first.text : `${columns}\n${first.text}`;
  for (const chunk of others) {
    text += chunk.text.slice(Math.max(0, end - chunk.start));
    end = chunk.end;
  }
  return { storeId, fileId, filename, attributes, score, text, headings };
}
