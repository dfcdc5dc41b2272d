import { idFromStem, newId, newIdStem } from "@antiphon/base/ids.ts";
import type { OutputItem, Response, RunKind, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ResponseFilter } from "@antiphon/domain/inspection.ts";
import type { Store } from "../../src/store/open-store.ts";
import { ALL } from "../../src/store/stores/inspection/response-filter.fixture.ts";
import { type BenchDatabase, benchDatabases, OWNER, openBenchStore } from "./search/bench-store.ts";
import { median } from "./statistics.ts";

const RESPONSES = 100_000;
const STORED_AT_ONCE = 500;
const ROUNDS = 7;
const DAY = 86_400;
const DAYS = 30;
const END = 1_795_000_000;
const START = END - DAYS * DAY;
const KINDS: readonly RunKind[] = ["plain", "streamed", "background", "websocket"];
const TEXT = "The tide turns twice a day and leaves the harbour dry for some hours of each. ".repeat(6);

/** Each filter with one that many responses fit, and one that few or none do. */
const FILTERS: readonly (readonly [name: string, filter: Partial<ResponseFilter>])[] = [
  ["none", {}],
  ["last day", { createdAfter: END - DAY }],
  ["status completed", { statuses: ["completed"] }],
  ["status failed (1 in 100)", { statuses: ["failed"] }],
  ["status cancelled (none)", { statuses: ["cancelled"] }],
  ["model (1 in 3)", { model: "model-1" }],
  ["model (none)", { model: "model-none" }],
  ["kind (1 in 4)", { kind: "websocket" }],
  ["in the background", { isBackground: true }],
  ["key (1 in 10)", { keyId: "key_1" }],
  ["key (none)", { keyId: "key_none" }],
  ["metadata (1 in 1,000)", { metadata: { topic: "7" } }],
  ["metadata (none)", { metadata: { topic: "none" } }],
  ["conversation (none)", { conversationId: "conv_none" }],
  ["a word in all", { words: ["harbour"] }],
  ["a word in 1 of 1,000", { words: ["pelican"] }],
  ["a word in none, whole search", { words: ["walrus"] }],
];

/** Measures lists and statistics of 100,000 stored responses, with each filter, as the inspector asks for them. */
export async function measureInspection(): Promise<void> {
  for (const database of benchDatabases()) await measureOn(database);
}

async function measureOn(database: BenchDatabase): Promise<void> {
  const bench = await openBenchStore(database);
  const { store } = bench;
  try {
    const startedMs = performance.now();
    const [first] = await fill(store);
    console.log(`\n${database}: ${RESPONSES} responses, stored in ${seconds(performance.now() - startedMs)} s`);
    console.log("filter, first page of 50: ms (slowest), rows, pages until there are 50 or no more");
    const filters = [...FILTERS, ["what continues one", { previousId: first ?? "" }] as const];
    for (const [name, filter] of filters) await measureList(store, name, { ...ALL, ...filter });
    console.log("statistics: ms (slowest), responses counted");
    for (const [name, filter] of filters.filter(([, { words }]) => words === undefined))
      await measureCount(store, name, { ...ALL, createdAfter: START, createdBefore: END + 1, ...filter });
  } finally {
    await bench.close();
  }
}

async function measureList({ archive }: Store, name: string, filter: ResponseFilter): Promise<void> {
  const wanted = 50;
  const times: number[] = [];
  let rows = 0;
  let pages = 0;
  for (let round = 0; round < ROUNDS; round++) {
    [rows, pages] = [0, 0];
    for (let after: string | null | undefined = null; after !== undefined && rows < wanted; pages++) {
      const startedMs = performance.now();
      const page = await archive.list(OWNER, { filter, limit: wanted - rows, order: "desc", after });
      times.push(performance.now() - startedMs);
      rows += page?.responses.length ?? 0;
      after = page?.hasMore === true ? (page.lastId ?? undefined) : undefined;
    }
  }
  console.log(`  ${name}: ${shown(times)}, ${rows} rows, ${pages} ${pages === 1 ? "page" : "pages"}`);
}

async function measureCount({ archive }: Store, name: string, filter: ResponseFilter): Promise<void> {
  const times: number[] = [];
  let counted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    const { models } = await archive.count(OWNER, { filter, from: START, bucketSeconds: (DAYS * DAY) / 60 });
    times.push(performance.now() - startedMs);
    counted = [...models.values()].reduce((sum, { runs }) => sum + runs, 0);
  }
  console.log(`  ${name}: ${shown(times)}, ${counted} counted`);
}

function shown(times: readonly number[]): string {
  return `${median(times).toFixed(1)} (${Math.max(...times).toFixed(1)})`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(0);
}

/** Resolves to the ids. Every hundredth response continues the first one. */
async function fill(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let from = 0; from < RESPONSES; from += STORED_AT_ONCE) {
    const numbers = Array.from({ length: STORED_AT_ONCE }, (_, index) => from + index);
    ids.push(...(await Promise.all(numbers.map(async (number) => await storeOne(store, number, ids[0] ?? null)))));
  }
  return ids;
}

async function storeOne({ events }: Store, number: number, firstId: string | null): Promise<string> {
  const createdAt = START + Math.floor((number * DAYS * DAY) / RESPONSES);
  const id = idFromStem("resp", newIdStem(createdAt), 0);
  const kind = KINDS[number % KINDS.length] ?? "plain";
  const isFailed = number % 100 === 3;
  const response: Response = JSON.parse(
    JSON.stringify({
      id,
      object: "response",
      created_at: createdAt,
      completed_at: isFailed ? null : createdAt + 2,
      status: isFailed ? "failed" : "completed",
      background: kind === "background",
      model: `model-${number % 3}`,
      previous_response_id: number % 100 === 0 ? firstId : null,
      metadata: { topic: String(number % 1_000), customer: "acme" },
      error: isFailed ? { code: "server_error", message: "The model server failed." } : null,
      incomplete_details: null,
      usage: {
        input_tokens: 120,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 200,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 320,
      },
      output: [message("assistant", createdAt, TEXT)],
    }),
  );
  const origin = { kind, keyId: `key_${number % 10}`, notes: [] };
  const asked = number % 1_000 === 500 ? `${TEXT}A pelican. ` : TEXT;
  const opened = { owner: OWNER, response, inputItems: [message("user", createdAt, asked)], origin };
  const times = { queuedMs: null, firstTextMs: 100 + (number % 400), durationMs: 1_000 + (number % 3_000), events: "" };
  await events.storeWhole(opened, [], { response, outputItems: [message("assistant", createdAt, TEXT)], times });
  return id;
}

function message(role: string, createdAt: number, text: string): StoredItem & OutputItem {
  const type = role === "user" ? "input_text" : "output_text";
  const content = [{ type, text, ...(role === "user" ? {} : { annotations: [], logprobs: [] }) }];
  return JSON.parse(
    JSON.stringify({ id: newId("msg", createdAt), type: "message", role, status: "completed", content }),
  );
}
