import type { FileSearchCall, FileSearchResult, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, MadeCall, OpenTool, ToolCall, ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { Passage, PassageFinder, PassageSearch, VectorStores } from "@antiphon/domain/vector-stores.ts";
import { failedOutcome } from "../failed-outcome.ts";
import { invalidToolsError } from "../invalid-tools-error.ts";
import { readArguments } from "../read-arguments.ts";
import { type FileCitable, fromPassage, shortenPassages, tellPassages } from "./told-passages.ts";

const QUERIES_MAX = 5;
const QUERY_CHARACTERS_MAX = 4_000;
const RESULTS_DEFAULT = 20;
const RESULTS_INCLUDE = "file_search_call.results";

const SEARCH_FUNCTION: HostedFunction = {
  type: "hosted_function",
  server: null,
  name: "file_search",
  description:
    "Searches the user's files by their words and returns numbered passages. Ask for words that the files may use; several forms of one question find more.",
  parameters: {
    type: "object",
    properties: {
      queries: { type: "array", items: { type: "string" }, minItems: 1, maxItems: QUERIES_MAX },
      from_passage: { type: "integer", minimum: 1, description: "To go on where passages were left out." },
    },
    required: ["queries"],
  },
};

const MEANING_DESCRIPTION =
  "Searches the user's files by meaning and words and returns numbered passages. Ask short questions; several forms of one question find more.";

/** The search, and the list of stores. */
export interface FileSearchServices {
  readonly stores: Pick<VectorStores, "findStore">;
  readonly passages: PassageFinder;
}

type FileSearch = Extract<ToolInput, { type: "file_search" }>;

/** The `file_search` tool: the model asks questions, and hits in the files of the named vector stores answer. */
export function fileSearchTool(services: FileSearchServices): HostedTool {
  return {
    kind: "file_search",
    types: ["file_search"],
    refusal: () => null,
    open: async (tool, scope) => {
      if (tool.type !== "file_search") throw new Error("only a file search is opened here");
      await requireStores(services, tool, scope);
      return openSearch(services, tool, scope);
    },
  };
}

async function requireStores({ stores }: FileSearchServices, tool: FileSearch, { owner }: ToolScope): Promise<void> {
  for (const id of tool.vector_store_ids) {
    const store = await stores.findStore(owner, id);
    if (store === null) throw invalidToolsError(404, `Vector store with id '${id}' not found.`);
    if (store.status === "expired") throw invalidToolsError(400, `Vector store with id '${id}' is expired.`);
  }
}

function openSearch(services: FileSearchServices, tool: FileSearch, scope: ToolScope): OpenTool {
  const numbers = new FileNumbers(scope.citedBefore ?? 0);
  return {
    functions: [searchFunction(services.passages)],
    note: null,
    opening: [],
    pending: [],
    call: (_name, origin) => fileSearchCall({ services, tool, scope, numbers }, origin),
    shorten: ({ arguments: args, text }, charactersMax) =>
      shortenPassages(text, fromPassage(readArguments(args)), charactersMax),
    close: async () => {},
  };
}

function searchFunction({ comparesMeaning }: PassageFinder): HostedFunction {
  return comparesMeaning ? { ...SEARCH_FUNCTION, description: MEANING_DESCRIPTION } : SEARCH_FUNCTION;
}

/** State shared by the calls of one response. */
interface Session {
  readonly services: FileSearchServices;
  readonly tool: FileSearch;
  readonly scope: ToolScope;
  readonly numbers: FileNumbers;
}

function fileSearchCall(session: Session, { newItemId }: MadeCall): ToolCall {
  const first: FileSearchCall = {
    id: newItemId("fs"),
    type: "file_search_call",
    status: "in_progress",
    queries: [],
    results: null,
  };
  return {
    item: first,
    streams: null,
    effect: "none",
    async *run(args, signal): AsyncGenerator<ToolStep, ToolOutcome> {
      yield { type: "searching" };
      return await search(session, first, args, signal);
    },
  };
}

async function search(
  session: Session,
  first: FileSearchCall,
  args: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const queries = readQueries(args);
  if (queries.length === 0) return failedOutcome(first, "The arguments need `queries`, a list of texts.");
  const { services, tool, scope } = session;
  const result = await services.passages.search(scope.owner, searchOf(tool, queries), signal);
  if (result.type !== "found")
    return failedOutcome({ ...first, queries }, `The vector store ${result.storeId} is gone.`);
  const from = fromPassage(readArguments(args));
  const passages = result.passages.slice(from - 1);
  const sources = passages.map((passage) => session.numbers.cite(passage));
  const isIncluded = scope.include.includes(RESULTS_INCLUDE);
  return {
    type: "ran",
    item: { ...first, status: "completed", queries, results: isIncluded ? passages.map(shownResult) : null },
    output: tellPassages(passages, { from, count: result.passages.length, sources }),
    parts: [],
    sources,
  };
}

function searchOf(tool: FileSearch, queries: readonly string[]): PassageSearch {
  const { embedding_weight: meaning, text_weight: words } = tool.ranking_options?.hybrid_search ?? {};
  return {
    storeIds: [...new Set(tool.vector_store_ids)],
    queries,
    rewrites: false, // A model wrote them.
    filter: tool.filters ?? null,
    resultsMax: tool.max_num_results ?? RESULTS_DEFAULT,
    scoreMin: tool.ranking_options?.score_threshold ?? 0,
    weights: meaning === undefined || words === undefined ? null : { words, meaning },
    order: tool.ranking_options?.ranker === "default-2024-11-15" ? "ranks" : "best",
  };
}

/** Many models write one `query`. Removes duplicates. */
function readQueries(text: string): string[] {
  const args = readArguments(text) ?? {};
  const { queries = args["query"] } = args;
  const list: readonly unknown[] = Array.isArray(queries) ? queries : [queries];
  const texts = list.filter((one) => typeof one === "string").map((one) => one.trim().slice(0, QUERY_CHARACTERS_MAX));
  return [...new Set(texts)].filter((one) => one !== "").slice(0, QUERIES_MAX);
}

function shownResult({ attributes, fileId, filename, score, text, storeId }: Passage): FileSearchResult {
  return { attributes: attributes ?? {}, file_id: fileId, filename, score, text, vector_store_id: storeId };
}

/** The numbers by which the model cites files. A file keeps its number in all calls of a response. */
class FileNumbers {
  readonly #before: number;
  readonly #numbers = new Map<string, number>();

  constructor(before: number) {
    this.#before = before;
  }

  cite({ fileId, filename }: Passage): FileCitable {
    const number = this.#numbers.get(fileId) ?? this.#before + this.#numbers.size + 1;
    this.#numbers.set(fileId, number);
    return { type: "file", number, fileId, filename };
  }
}
