import { useMemo, useState } from "react";
import { replaceRoute } from "../shell/route.ts";
import { FilterBar } from "./filter-bar.tsx";
import { type RunFilters, readFilters, writeFilters } from "./filters.ts";
import { ListTools } from "./list-tools.tsx";
import { RunPlots, useCounts } from "./run-plots.tsx";
import { RunTable } from "./run-table.tsx";
import { useRuns } from "./use-runs.ts";

/** All stored runs, newest first, with plots of them over time. */
export function RunsPage({ query }: { readonly query: URLSearchParams }) {
  const filters = useMemo(() => readFilters(query), [query.toString()]);
  const [isLive, setIsLive] = useState(true);
  const found = useRuns(filters, isLive);
  const counted = useCounts(filters, found.version);
  const change = (changed: Partial<RunFilters>): void =>
    replaceRoute({ page: "runs", query: writeFilters({ ...filters, ...changed }) });
  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        <button type="button" className="live-button" aria-pressed={isLive} onClick={() => setIsLive(!isLive)}>
          {isLive ? "Live" : "Paused"}
        </button>
      </div>
      <FilterBar filters={filters} runs={found.runs} onChange={change} />
      <RunPlots counted={counted} filters={filters} onSpan={(from, to) => change({ span: "", from, to })} />
      <ListTools filters={filters} />
      <RunTable found={found} refused={counted.reply?.refused ?? []} filters={filters} onChange={change} />
    </>
  );
}
