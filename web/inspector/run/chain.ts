import type { Antiphon, Response } from "../../../src/client/index.ts";
import { isNotFound } from "../api/use-call.ts";

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

/** Runs before this one, and runs after it, that are looked at. */
const ANCESTORS_MAX = 50;
const LATER_MAX = 100;

/** The runs before this one in its chain or conversation, and those that continue them. */
export async function readChain(client: Antiphon, response: Response, signal: AbortSignal): Promise<ChainNode[]> {
  const found = new Map<string, ChainRun>();
  let current: Response | null = response;
  while (current !== null && found.size < ANCESTORS_MAX) {
    found.set(current.id, ofResponse(current));
    current =
      current.previous_response_id === null ? null : await readRun(client, current.previous_response_id, signal);
  }
  const first = [...found.values()].at(-1) ?? ofResponse(response);
  const conversation = response.conversation?.id;
  const near = conversation === undefined ? { created_after: first.createdAt } : { conversation };
  const { data } = await client.listResponses({ ...near, limit: LATER_MAX, order: "asc" }, { signal });
  for (const run of data) {
    const isNext = run.previous_response_id !== null && found.has(run.previous_response_id);
    if (!isNext && conversation === undefined) continue;
    found.set(run.id, {
      id: run.id,
      previousId: run.previous_response_id,
      status: run.status,
      createdAt: run.created_at,
      inputTokens: run.usage?.input_tokens ?? null,
      outputTokens: run.usage?.output_tokens ?? null,
      text: run.input_preview,
    });
  }
  return asTree([...found.values()]);
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

/** Runs below the one that they continue, older ones first. Only a fork goes one step deeper. */
function asTree(runs: readonly ChainRun[]): ChainNode[] {
  const known = new Set(runs.map(({ id }) => id));
  const sorted = runs.toSorted((one, other) => one.createdAt - other.createdAt);
  const nodes: ChainNode[] = [];
  const add = (parent: string | null, depth: number): void => {
    const children = sorted.filter(({ previousId }) =>
      parent === null ? previousId === null || !known.has(previousId) : previousId === parent,
    );
    for (const [index, run] of children.entries()) {
      const isFork = parent !== null && index < children.length - 1;
      nodes.push({ run, depth: depth + (isFork ? 1 : 0) });
      add(run.id, depth + (isFork ? 1 : 0));
    }
  };
  add(null, 0);
  return nodes;
}
