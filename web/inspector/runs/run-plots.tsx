import type { Antiphon, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { useAtMostEvery } from "../api/use-at-most-every.ts";
import { useCall } from "../api/use-call.ts";
import { formatMs, formatShortCount } from "../base/format.ts";
import { askedFilters, type RunFilters } from "./filters.ts";
import { Plot, type Series } from "./plot.tsx";

interface RunPlotsProps {
  readonly counted: CountedRuns;
  readonly filters: RunFilters;
  /** A stretch of time was chosen, in Unix seconds. */
  readonly onSpan: (from: number, to: number) => void;
}

/** Null while the first count goes on. */
export interface CountedRuns {
  readonly reply: ResponsesApi.ResponseStatistics | null;
  readonly error: string | null;
}

const BUCKETS = 60;
/** Counting all runs of a month costs the server more than reading the newest ones. */
const COUNT_INTERVAL_MS = 10_000;

/** Counts the runs of these filters, again when `version` rises. */
export function useCounts(filters: RunFilters, version: number): CountedRuns {
  const client = useClient();
  const { text: _text, sort: _sort, tool: _tool, error: _error, ...counted } = filters;
  const shownVersion = useAtMostEvery(version, COUNT_INTERVAL_MS);
  return useCall(
    async (signal) => {
      const asked = askedFilters(filters, Math.floor(Date.now() / 1000));
      const oldest = filters.span === "all" ? await readOldest(client, signal) : {};
      return await client.getResponseStatistics({ ...asked, ...oldest, buckets: BUCKETS }, { signal });
    },
    [client, JSON.stringify(counted), shownVersion],
  );
}

/** Runs, errors, tokens and latency over time. */
export function RunPlots({ counted: { reply, error }, filters, onSpan }: RunPlotsProps) {
  if (reply === null)
    return error === null ? (
      <div className="plots" aria-busy="true" />
    ) : (
      <p className="trouble" role="alert">
        {error}
      </p>
    );
  return (
    <>
      <Plots statistics={reply} onSpan={onSpan} />
      {filters.text === "" && filters.tool === "" && filters.error === "" ? null : (
        <p className="plots-hint hint">
          The plots count all runs of these filters, whatever their words, tools and errors.
        </p>
      )}
      {reply.is_partial ? <p className="plots-hint hint">The plots count the newest 200,000 of these runs.</p> : null}
    </>
  );
}

/** When the first run was stored, so that the plots of all time begin there. */
async function readOldest(client: Antiphon, signal: AbortSignal): Promise<{ readonly created_after?: number }> {
  const { data } = await client.listResponses({ order: "asc", limit: 1 }, { signal });
  const [oldest] = data;
  return oldest === undefined ? {} : { created_after: oldest.created_at };
}

type Bucket = ResponsesApi.StatisticsBucket;

interface PlotsProps {
  readonly statistics: ResponsesApi.ResponseStatistics;
  readonly onSpan: RunPlotsProps["onSpan"];
}

function Plots({ statistics, onSpan }: PlotsProps) {
  const { buckets, bucket_seconds: bucketSeconds, from, to } = statistics;
  const axis = { starts: buckets.map(({ start }) => start), bucketSeconds, from, to };
  const sum = (of: (bucket: Bucket) => number): string =>
    formatShortCount(buckets.reduce((all, bucket) => all + of(bucket), 0));
  const series = (name: string, colour: Series["colour"], of: (bucket: Bucket) => number | null): Series => ({
    name,
    colour,
    values: buckets.map(of),
  });
  const common = { axis, onSpan, kind: "bars", format: formatShortCount } as const;
  return (
    <section className="plots" aria-label="Over time">
      <Plot
        {...common}
        title="Runs"
        figure={sum(({ runs }) => runs)}
        series={[series("runs", "accent", ({ runs }) => runs)]}
      />
      <Plot
        {...common}
        title="Failed"
        figure={sum(({ failed }) => failed)}
        series={[series("failed", "alarm", ({ failed }) => failed)]}
      />
      <Plot
        {...common}
        title="Tokens"
        figure={`${sum((bucket) => bucket.input_tokens)} in, ${sum((bucket) => bucket.output_tokens)} out`}
        series={[
          series("input", "second", (bucket) => bucket.input_tokens),
          series("output", "accent", (bucket) => bucket.output_tokens),
        ]}
      />
      <Plot
        {...common}
        kind="lines"
        title="Latency"
        figure={latencyFigure(statistics)}
        series={[
          series("95 of 100", "second", (bucket) => bucket.duration_ms_p95),
          series("median", "accent", (bucket) => bucket.duration_ms_p50),
          series("first token", "third", (bucket) => bucket.first_text_ms_p50),
        ]}
        format={formatMs}
      />
    </section>
  );
}

/** The median of the model with most runs stands for all if it is the only one. */
function latencyFigure({ models }: ResponsesApi.ResponseStatistics): string {
  const [first] = models;
  return first === undefined || first.duration_ms_p50 === null ? "" : `median ${formatMs(first.duration_ms_p50)}`;
}
