import type { Antiphon, Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { isNotFound } from "../api/use-call.ts";
import { findSummary } from "./use-summary.ts";

/** A run as the tree of its chain shows it. */
export interface ChainRun {
  readonly id: string;
  readonly previousId: string | null;
  readonly status: string;
  readonly createdAt: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly text: string;
}

/** A run of a tree, and how deep it stands. */
export interface ChainNode {
  readonly run: ChainRun;
  readonly depth: number;
}

/** The runs of a chain or conversation as a tree, each before those that continue it. */
export interface Chain {
  readonly nodes: readonly ChainNode[];
  /** Whether no run was left out. */
  readonly isWhole: boolean;
}

/** Runs before this one, and runs in all, that are read. */
const ANCESTORS_MAX = 100;
const RUNS_MAX = 300;
const PAGE_SIZE = 100;
/** Runs whose next runs are asked for at a time. */
const ASKED_AT_ONCE = 6;

/** The runs before this one in its chain or conversation, and all branches that continue them. */
export async function readChain(client: Antiphon, response: Response, signal: AbortSignal): Promise<Chain> {
  const found = new Map<string, ChainRun>();
  const reading: Reading = { client, found, signal };
  const isBegun = await addAncestors(reading, response);
  const conversation = response.conversation?.id;
  const isListed = conversation === undefined || (await addListed(reading, { conversation, order: "asc" }));
  const isEnded = await addBranches(reading);
  return { nodes: asTree([...found.values()]), isWhole: isBegun && isListed && isEnded };
}

interface Reading {
  readonly client: Antiphon;
  readonly found: Map<string, ChainRun>;
  readonly signal: AbortSignal;
}

/** Adds a run and those before it. Resolves to whether the first one was reached. */
async function addAncestors({ client, found, signal }: Reading, response: Response): Promise<boolean> {
  let current: Response | null = response;
  let first = response;
  while (current !== null && found.size < ANCESTORS_MAX) {
    found.set(current.id, ofResponse(current));
    first = current;
    const previousId: string | null = current.previous_response_id;
    current = previousId === null ? null : await readRun(client, previousId, signal);
  }
  const summary = await findSummary(client, first, signal); // The others are in the lists of what continues a run.
  if (summary !== null) found.set(first.id, ofSummary(summary));
  return current === null;
}

/** Adds what continues the known runs, and what continues those. Resolves to whether that was all. */
async function addBranches(reading: Reading): Promise<boolean> {
  const { found } = reading;
  const asked = new Set<string>();
  for (;;) {
    const next = [...found.keys()].filter((id) => !asked.has(id)).slice(0, ASKED_AT_ONCE);
    if (next.length === 0) return true;
    if (found.size >= RUNS_MAX) return false;
    for (const id of next) asked.add(id);
    const added = await Promise.all(next.map((id) => addListed(reading, { previous_response_id: id, order: "asc" })));
    if (added.includes(false)) return false;
  }
}

type ListQuery = Parameters<Antiphon["listResponses"]>[0];

/** Adds the runs of a list. Resolves to whether that was all. */
async function addListed({ client, found, signal }: Reading, query: ListQuery): Promise<boolean> {
  let after: string | null = null;
  while (found.size < RUNS_MAX) {
    const page: ResponsesApi.ResponseSummaryList = await client.listResponses(
      { ...query, limit: PAGE_SIZE, ...(after === null ? {} : { after }) },
      { signal },
    );
    for (const summary of page.data) found.set(summary.id, ofSummary(summary));
    if (!page.has_more || page.last_id === null) return true;
    after = page.last_id;
  }
  return false;
}

async function readRun(client: Antiphon, id: string, signal: AbortSignal): Promise<Response | null> {
  try {
    return await client.getResponse(id, {}, { signal });
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

function ofResponse(response: Response): ChainRun {
  return {
    id: response.id,
    previousId: response.previous_response_id,
    status: response.status,
    createdAt: response.created_at,
    inputTokens: response.usage?.input_tokens ?? null,
    outputTokens: response.usage?.output_tokens ?? null,
    text: "",
  };
}

function ofSummary(run: ResponsesApi.ResponseSummary): ChainRun {
  return {
    id: run.id,
    previousId: run.previous_response_id,
    status: run.status,
    createdAt: run.created_at,
    inputTokens: run.usage?.input_tokens ?? null,
    outputTokens: run.usage?.output_tokens ?? null,
    text: run.input_preview,
  };
}

/** Runs below the one that they continue, older ones first. Only a fork goes one step deeper. */
export function asTree(runs: readonly ChainRun[]): ChainNode[] {
  const known = new Set(runs.map(({ id }) => id));
  const children = Map.groupBy(
    runs.toSorted((one, other) => one.createdAt - other.createdAt),
    ({ previousId }) => (previousId !== null && known.has(previousId) ? previousId : null),
  );
  const nodes: ChainNode[] = [];
  const open = (children.get(null) ?? []).map((run) => ({ run, depth: 0 })).toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node);
    const { depth } = node;
    const next = children.get(node.run.id) ?? [];
    const placed = next.map((run, index) => ({ run, depth: depth + (index < next.length - 1 ? 1 : 0) }));
    open.push(...placed.toReversed());
  }
  return nodes;
}
