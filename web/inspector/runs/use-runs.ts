import { useCallback, useEffect, useMemo, useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import { askedFilters, type RunFilters } from "./filters.ts";

const PAGE_SIZE = 50;
/** How often the newest runs are asked for while the list is live. */
const LOOK_INTERVAL_MS = 2_000;
/** A search for words costs the server more. */
const SEARCH_INTERVAL_MS = 10_000;

export interface Runs {
  readonly runs: readonly ResponsesApi.ResponseSummary[];
  readonly hasMore: boolean;
  readonly isPending: boolean;
  readonly error: string | null;
  /** Rises whenever the runs of the list have changed since it was first read. */
  readonly version: number;
  readonly more: () => void;
}

interface State extends Omit<Runs, "more"> {
  readonly lastId: string | null;
}

const EMPTY: State = { runs: [], hasMore: false, isPending: true, error: null, version: 0, lastId: null };

/**
 * The runs that fit the filters, newest first. While it is live, new runs appear and running ones are brought up to
 * date.
 */
export function useRuns(filters: RunFilters, isLive: boolean): Runs {
  const client = useClient();
  const [state, setState] = useState<State>(EMPTY);
  const asked = JSON.stringify(filters);
  const read = useMemo(() => {
    const wanted: RunFilters = JSON.parse(asked);
    return (after: string | null, signal?: AbortSignal): Promise<ResponsesApi.ResponseSummaryList> =>
      client.listResponses(
        {
          ...askedFilters(wanted, Math.floor(Date.now() / 1000)),
          limit: PAGE_SIZE,
          ...(wanted.text === "" ? {} : { query: wanted.text }),
          ...(after === null ? {} : { after }),
        },
        signal === undefined ? {} : { signal },
      );
  }, [client, asked]);

  useEffect(() => readFirst(read, setState), [read]);

  useEffect(() => {
    if (!isLive) return undefined;
    const controller = new AbortController();
    const intervalMs = filters.text === "" ? LOOK_INTERVAL_MS : SEARCH_INTERVAL_MS;
    void lookAgain(read, { signal: controller.signal, intervalMs }, setState);
    return () => controller.abort();
  }, [read, isLive]);

  const { lastId } = state;
  const more = useCallback(() => {
    if (lastId === null) return;
    setState((before) => ({ ...before, isPending: true }));
    read(lastId).then(
      ({ data, has_more: hasMore, last_id: last }) =>
        setState((before) => ({
          ...before,
          runs: [...before.runs, ...data],
          hasMore,
          lastId: last ?? lastId,
          isPending: false,
        })),
      (error: unknown) => setState((before) => ({ ...before, isPending: false, error: sentenceOf(error) })),
    );
  }, [read, lastId]);

  return { ...state, more };
}

type Read = (after: string | null, signal?: AbortSignal) => Promise<ResponsesApi.ResponseSummaryList>;
type SetState = (change: State | ((before: State) => State)) => void;

/** Reads the first page. Returns what stops it. */
function readFirst(read: Read, setState: SetState): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  setState((before) => ({ ...before, isPending: true, error: null }));
  read(null, signal).then(
    ({ data, has_more: hasMore, last_id: lastId }) =>
      setState(({ version }) => ({ runs: data, hasMore, lastId, isPending: false, error: null, version })),
    (error: unknown) => {
      if (!signal.aborted) setState({ ...EMPTY, isPending: false, error: sentenceOf(error) });
    },
  );
  return () => controller.abort();
}

/** Asks for the newest runs again and again while the page can be seen. A failure is told once and tried again. */
async function lookAgain(
  read: Read,
  { signal, intervalMs }: { readonly signal: AbortSignal; readonly intervalMs: number },
  setState: SetState,
): Promise<void> {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
    if (signal.aborted) return;
    if (document.hidden) continue;
    await read(null, signal).then(
      (page) => setState((before) => withNewest(before, page)),
      (error: unknown) => {
        if (!signal.aborted) setState((before) => ({ ...before, error: sentenceOf(error) }));
      },
    );
  }
}

/** If the newest runs are all that fit, others no longer do. */
function withNewest(before: State, { data: newest, has_more: hasMore }: ResponsesApi.ResponseSummaryList): State {
  const known = new Map(before.runs.map((run) => [run.id, run]));
  const isSame = newest.every((run) => JSON.stringify(known.get(run.id)) === JSON.stringify(run));
  if (isSame && (hasMore || newest.length === before.runs.length))
    return before.error === null ? before : { ...before, error: null };
  const ids = new Set(newest.map(({ id }) => id));
  const rest = hasMore ? before.runs.filter(({ id }) => !ids.has(id)) : [];
  return { ...before, runs: [...newest, ...rest], error: null, version: before.version + 1 };
}
