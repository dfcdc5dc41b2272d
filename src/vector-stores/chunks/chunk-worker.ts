/** The thread that cuts files into chunks: reads their text, then replies with a batch of chunks per request. */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { assert } from "@antiphon/base/assert.ts";
import { TextExtractor } from "@antiphon/media/extract-text.ts";
import { counterFor } from "@antiphon/tokenizers/count-texts.ts";
import { formsOfText } from "../words/text-language.ts";
import type { WordForms } from "../words/word-forms.ts";
import { wordsOf } from "../words/words.ts";
import type {
  ChunkAnswer,
  ChunkRequest,
  ChunkTask,
  ChunkThreadData,
  PreparedChunk,
  SentChunk,
} from "./chunk-messages.ts";
import { ChunkWords } from "./chunk-words.ts";
import { cutText, type TextRange, TooManyTokens } from "./cut-text.ts";

/** The maximum chunks per reply: some milliseconds of work for the receiver. */
const CHUNKS_AT_ONCE_MAX = 16;
const CHARACTERS_AT_ONCE_MAX = 64 * 1024;
/** Where the names of a table's columns are looked for. */
const HEAD_CHARACTERS = 2_048;
const COLUMNS_LINE = /^.*[,;].*$/m;

assert(!isMainThread && parentPort !== null, "this module is the start of a thread");
const port = parentPort;
const { limits, tokensMax }: ChunkThreadData = workerData;
const extractor = new TextExtractor(limits);
const never = new AbortController().signal; // The thread is terminated instead.
let current: Generator<PreparedChunk, null> | null = null;

async function beginFile({ file, names, chunking }: ChunkTask): Promise<ChunkAnswer> {
  current = null;
  const extraction = await extractor.extract(file, never);
  if (extraction.type === "failed") return { name: "failed", error: extraction.error };
  const count = await counterFor("o200k_base");
  const { max_chunk_size_tokens: sizeMax, chunk_overlap_tokens: overlapMax } = chunking;
  const { text, layout, title } = extraction;
  const ranges = cutText(text, { sizeMax, overlapMax, tokensMax, layout, count });
  current = prepareChunks({ text, isTable: layout === "table", title, names, forms: await formsOfText(text) }, ranges);
  return nextChunks();
}

/** A text to cut. */
interface TitledText {
  readonly text: string;
  /** Whether it has commas or semicolons between its cells. */
  readonly isTable: boolean;
  readonly title: string | null;
  readonly names: readonly string[];
  readonly forms: WordForms;
}

/** The chunks with their words. Leaves out chunks with only white space. */
function* prepareChunks(
  { text, isTable, title, names, forms }: TitledText,
  ranges: ReturnType<typeof cutText>,
): Generator<PreparedChunk, null> {
  const nameWords = [...wordsOf(names.join("\n"), forms)];
  const prepare = isTable ? apartCells(text) : (part: string): string => part;
  const textWords = new ChunkWords(text, forms, prepare);
  let ordinal = 0;
  for (const { range, nextStart } of withNextStarts(ranges)) {
    const ownWords = textWords.wordsIn(range, nextStart);
    const cut = text.slice(range.start, range.end);
    if (!/\S/.test(cut)) continue;
    const headings = title === null || range.headings[0] === title ? range.headings : [title, ...range.headings];
    const context = [...headings, range.columns ?? ""].join("\n");
    const words = [...nameWords, ...wordsOf(context, forms), ...ownWords];
    yield { ordinal: ordinal++, text: cut, ...range, headings, words, language: forms.language };
  }
  return null;
}

/** Puts blanks between cells, because numbers with a comma between them would be one number. */
function apartCells(table: string): (part: string) => string {
  const columns = COLUMNS_LINE.exec(table.slice(0, HEAD_CHARACTERS))?.[0] ?? "";
  const separator = columns.includes(";") ? ";" : ",";
  return (part) => part.replaceAll(separator, `${separator} `);
}

function* withNextStarts(
  ranges: Iterable<TextRange>,
): Generator<{ readonly range: TextRange; readonly nextStart: number }> {
  let range: TextRange | null = null;
  for (const next of ranges) {
    if (range !== null) yield { range, nextStart: next.start };
    range = next;
  }
  if (range !== null) yield { range, nextStart: range.end };
}

function nextChunks(): ChunkAnswer {
  const chunks: SentChunk[] = [];
  let characters = 0;
  while (chunks.length < CHUNKS_AT_ONCE_MAX && characters < CHARACTERS_AT_ONCE_MAX) {
    const step = current?.next();
    if (step === undefined || step.done === true) return { name: "chunks", chunks, isLast: true };
    chunks.push({ ...step.value, words: step.value.words.join(" ") });
    characters += step.value.text.length;
  }
  return { name: "chunks", chunks, isLast: false };
}

async function answerTo(request: ChunkRequest): Promise<ChunkAnswer> {
  try {
    return request.name === "begin" ? await beginFile(request.task) : nextChunks();
  } catch (error) {
    if (!(error instanceof TooManyTokens)) throw error;
    const message = `The file has more than ${tokensMax} tokens.`;
    return { name: "failed", error: { code: "invalid_file", message } };
  }
}

async function postAnswer(request: ChunkRequest): Promise<void> {
  port.postMessage(await answerTo(request));
}

port.on("message", (request: ChunkRequest) => void postAnswer(request));
