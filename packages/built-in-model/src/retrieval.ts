import { Slices } from "@antiphon/base/limits/slices.ts";
import type {
  EmbeddingInput,
  Embeddings,
  EmbeddingsRequest,
  EmbeddingVector,
  Ranks,
  RanksRequest,
} from "@antiphon/domain/models/retrieval.ts";
import { callerFault } from "./model-errors.ts";
import { countTokens } from "./tokens.ts";

const DIMENSIONS = 256;
const DIMENSIONS_MAX = 4096;
const WORD = /[\p{L}\p{N}]+/gu;
/** Words of a text that count. */
const WORDS_MAX = 10_000;
/** Parts of a word count less than the word, so that forms of a word are near each other. */
const PART_CHARACTERS = 3;
const PART_WEIGHT = 0.25;

/** Vectors by the hashes of words and their parts: texts with the same words are near each other. No language model. */
export async function embedInputs({ inputs, dimensions }: EmbeddingsRequest): Promise<Embeddings> {
  const size = dimensions ?? DIMENSIONS;
  if (size > DIMENSIONS_MAX)
    throw callerFault(`The built-in engine makes at most ${DIMENSIONS_MAX} dimensions.`, "dimensions");
  const slices = new Slices();
  const vectors: EmbeddingVector[] = [];
  let tokens = 0;
  for (const input of inputs) {
    vectors.push([...wordVector(input, size)]);
    tokens += tokensOf(input);
    await slices.pause();
  }
  return { vectors, tokens };
}

/** Scores from 0 to 1 by the words that a document shares with the question. */
export async function rankDocuments({ query, documents }: RanksRequest): Promise<Ranks> {
  const slices = new Slices();
  const question = wordVector(query, DIMENSIONS);
  const scores: number[] = [];
  let tokens = countTokens(query);
  for (const document of documents) {
    const vector = wordVector(document, DIMENSIONS);
    const cosine = question.reduce((sum, value, place) => sum + value * (vector[place] ?? 0), 0);
    scores.push(Math.min(1, Math.max(0, cosine)));
    tokens += countTokens(document);
    await slices.pause();
  }
  return { scores, tokens };
}

function tokensOf(input: EmbeddingInput): number {
  return typeof input === "string" ? countTokens(input) : input.length;
}

/** Of unit length. Tokens are hashed as words, by their numbers. */
function wordVector(input: EmbeddingInput, size: number): Float32Array {
  const vector = new Float32Array(size);
  for (const [feature, weight] of featuresOf(input)) {
    const hash = hashOf(feature);
    const place = hash % size;
    vector[place] = (vector[place] ?? 0) + (hash & SIGN_BIT ? -weight : weight);
  }
  const length = Math.hypot(...vector);
  if (length === 0) vector[0] = 1; // A text without words still has a direction.
  return length === 0 ? vector : vector.map((value) => value / length);
}

function* featuresOf(input: EmbeddingInput): Generator<readonly [feature: string, weight: number]> {
  if (typeof input !== "string") {
    for (const token of input.slice(0, WORDS_MAX)) yield [`#${token}`, 1];
    return;
  }
  for (const [word] of input.toLowerCase().matchAll(WORD).take(WORDS_MAX)) {
    yield [word, 1];
    for (let start = 0; start + PART_CHARACTERS < word.length; start++)
      yield [`~${word.slice(start, start + PART_CHARACTERS)}`, PART_WEIGHT];
  }
}

const SIGN_BIT = 0x40_00_00_00;

/** FNV-1a with 32 bits, from 0. Source: http://www.isthe.com/chongo/tech/comp/fnv/. */
function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01_00_01_93);
  return hash >>> 0;
}
