import { useMemo, useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { formatCount, formatFullMoment, formatMoment, formatMs, formatPrice, UNKNOWN } from "../base/format.ts";
import { toolTitle } from "../run/run-times.ts";
import { Link } from "../shell/link.tsx";
import { navigate, runRoute } from "../shell/route.ts";
import { useKey } from "../shell/shortcuts.tsx";
import { StatusPill } from "../shell/status-pill.tsx";
import type { FiltersProps } from "./more-filters.tsx";
import { NoRuns } from "./no-runs.tsx";
import { orderRuns, type SortBy, totalsOf } from "./order-runs.ts";
import { RefusedRow, shownRefusals } from "./refused-row.tsx";
import type { Runs } from "./use-runs.ts";

interface RunTableProps extends FiltersProps {
  readonly found: Runs;
  /** The newest requests that were refused. They stand among the runs, and have no page. */
  readonly refused: readonly ResponsesApi.RefusedRequest[];
}

/** The runs as a table; on a phone as a list of cards. `j` and `k` choose a run, and two can be marked and compared. */
export function RunTable({ found, refused, filters, onChange }: RunTableProps) {
  const { hasMore, isPending, error, more } = found;
  const runs = useMemo(() => orderRuns(found.runs, filters), [found.runs, filters]);
  const oldest = hasMore ? (found.runs.at(-1)?.created_at ?? 0) : 0;
  const refusals = shownRefusals(refused, filters).filter(({ created_at: at }) => at >= oldest);
  const [marked, setMarked] = useState<readonly string[]>([]);
  useKey(["j", "k"], ({ key }) => moveFocus(key === "j" ? 1 : -1));
  const mark = (id: string): void =>
    setMarked(marked.includes(id) ? marked.filter((other) => other !== id) : [...marked, id].slice(-2));
  const hasPrices = runs.some(({ price }) => price !== null);
  return (
    <section className="card run-list" aria-label="Runs">
      <CompareBar marked={marked} onUnmark={() => setMarked([])} />
      {runs.length + refusals.length === 0 ? null : (
        <table className="runs">
          <TableHead hasPrices={hasPrices} sort={filters.sort} onSort={(sort) => onChange({ sort })} />
          <tbody>
            {rowsOf(runs, refusals, filters.sort).map((row) =>
              row.type === "refused" ? (
                <RefusedRow
                  key={row.key}
                  request={row.request}
                  columns={hasPrices ? FIGURES.length - 1 : FIGURES.length - 2}
                />
              ) : (
                <RunRow
                  key={row.run.id}
                  run={row.run}
                  hasPrices={hasPrices}
                  isMarked={marked.includes(row.run.id)}
                  onMark={() => mark(row.run.id)}
                />
              ),
            )}
          </tbody>
          {runs.length === 0 ? null : <TotalsFoot runs={runs} hasPrices={hasPrices} />}
        </table>
      )}
      {hasMore && filters.sort !== "started" ? (
        <p className="hint list-hint">Sorted are the runs of this list. Earlier runs join them below.</p>
      ) : null}
      {error === null ? null : (
        <p className="trouble" role="alert">
          {error}
        </p>
      )}
      {runs.length > 0 || error !== null ? null : <EmptyList found={found} filters={filters} onChange={onChange} />}
      {hasMore ? (
        <button type="button" className="more" disabled={isPending} onClick={more}>
          {isPending ? "Loading…" : runs.length === 0 ? "Keep searching" : "Earlier runs"}
        </button>
      ) : null}
    </section>
  );
}

function EmptyList({ found: { hasMore, isPending }, filters, onChange }: FiltersProps & { readonly found: Runs }) {
  if (isPending)
    return (
      <p className="loading" role="status">
        Loading…
      </p>
    );
  if (hasMore) return <p className="empty">Nothing found yet: the server looks at a part of the runs at a time.</p>;
  return <NoRuns filters={filters} onChange={onChange} />;
}

function CompareBar({ marked, onUnmark }: { readonly marked: readonly string[]; readonly onUnmark: () => void }) {
  const [left, right] = marked;
  if (left === undefined) return null;
  return (
    <p className="compare-bar" role="status">
      {right === undefined ? "Mark another run to compare it with this one." : "Two runs are marked."}
      {right === undefined ? null : (
        <button type="button" className="main" onClick={() => navigate({ page: "compare", left, right })}>
          Compare
        </button>
      )}
      <button type="button" className="quiet" onClick={onUnmark}>
        Unmark
      </button>
    </p>
  );
}

const FIGURES: readonly (readonly [name: string, sort: SortBy])[] = [
  ["First token", "first"],
  ["Duration", "duration"],
  ["Tokens", "tokens"],
  ["Price", "price"],
  ["Started", "started"],
];

type Row =
  | { readonly type: "run"; readonly run: ResponsesApi.ResponseSummary }
  | { readonly type: "refused"; readonly key: string; readonly request: ResponsesApi.RefusedRequest };

/** Refused requests stand by their time, and below the runs in every other order. */
function rowsOf(
  runs: readonly ResponsesApi.ResponseSummary[],
  refusals: readonly ResponsesApi.RefusedRequest[],
  sort: SortBy,
): readonly Row[] {
  const ofRuns = runs.map((run): Row => ({ type: "run", run }));
  const ofRefusals = refusals.map((request, index): Row => ({ type: "refused", key: `refused-${index}`, request }));
  if (sort !== "started") return [...ofRuns, ...ofRefusals];
  const at = (row: Row): number => (row.type === "run" ? row.run.created_at : row.request.created_at);
  return [...ofRuns, ...ofRefusals].toSorted((one, other) => at(other) - at(one));
}

interface TableHeadProps {
  readonly hasPrices: boolean;
  readonly sort: SortBy;
  readonly onSort: (sort: SortBy) => void;
}

function TableHead({ hasPrices, sort, onSort }: TableHeadProps) {
  return (
    <thead>
      <tr>
        <th scope="col">
          <span className="unseen">Compare</span>
        </th>
        <th scope="col">Run</th>
        <th scope="col">Status</th>
        <th scope="col">Model</th>
        {FIGURES.filter(([, by]) => hasPrices || by !== "price").map(([name, by]) => (
          <th key={by} scope="col" className="number" aria-sort={sort === by ? "descending" : "none"}>
            <button type="button" className="quiet sort" onClick={() => onSort(by)}>
              {name}
              {sort === by ? " ↓" : ""}
            </button>
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The sums of the runs in the list. */
function TotalsFoot({
  runs,
  hasPrices,
}: {
  readonly runs: readonly ResponsesApi.ResponseSummary[];
  readonly hasPrices: boolean;
}) {
  const totals = totalsOf(runs);
  const prices = [...totals.prices].map(([currency, amount]) => formatPrice(amount, currency)).join(", ");
  return (
    <tfoot>
      <tr>
        <td />
        <th scope="row" colSpan={5}>
          {totals.runs === 1 ? "1 run" : `${formatCount(totals.runs)} runs`} in this list
        </th>
        <td className="number">
          {formatCount(totals.inputTokens)} → {formatCount(totals.outputTokens)}
        </td>
        {hasPrices ? <td className="number">{prices}</td> : null}
        <td />
      </tr>
    </tfoot>
  );
}

interface RunRowProps {
  readonly run: ResponsesApi.ResponseSummary;
  readonly hasPrices: boolean;
  readonly isMarked: boolean;
  readonly onMark: () => void;
}

function RunRow({ run, hasPrices, isMarked, onMark }: RunRowProps) {
  const { usage, timing, price } = run;
  return (
    <tr data-run={run.id}>
      <td className="mark">
        <input type="checkbox" aria-label={`Compare ${run.id}`} checked={isMarked} onChange={onMark} />
      </td>
      <td className="preview">
        <span className="preview-line">
          <Link to={runRoute(run.id)} className="run-link preview-in">
            {run.input_preview === "" ? run.id : run.input_preview}
          </Link>
          <RunTags run={run} />
        </span>
        <span className="preview-out">{run.error?.message ?? withoutMarks(run.output_preview)}</span>
      </td>
      <td>
        <StatusPill status={run.status} />
      </td>
      <td className="model">
        {run.model}
        <span className="kind">{kindOf(run)}</span>
      </td>
      <td className="number">{formatMs(timing.first_text_ms)}</td>
      <td className="number">{formatMs(timing.duration_ms)}</td>
      <td className="number">
        {usage === null ? UNKNOWN : `${formatCount(usage.input_tokens)} → ${formatCount(usage.output_tokens)}`}
      </td>
      {hasPrices ? (
        <td className="number">{price === null ? UNKNOWN : formatPrice(price.amount, price.currency)}</td>
      ) : null}
      <td className="number">
        <time dateTime={new Date(run.created_at * 1000).toISOString()} title={formatFullMoment(run.created_at)}>
          {formatMoment(run.created_at)}
        </time>
      </td>
    </tr>
  );
}

function RunTags({ run }: { readonly run: ResponsesApi.ResponseSummary }) {
  return (
    <span className="preview-tags">
      {run.tools.map((tool) => (
        <span key={tool} className="tag" data-tool="">
          {toolTitle(tool)}
        </span>
      ))}
      {run.previous_response_id === null ? null : <span className="tag">continues</span>}
      {run.conversation === null ? null : <span className="tag">conversation</span>}
    </span>
  );
}

/** How a run was asked for, and by which door if not by the Responses API. */
function kindOf({ kind, face }: ResponsesApi.ResponseSummary): string {
  return face === null ? kind : `${kind}, ${face}`;
}

/** A preview is one line of plain text. */
function withoutMarks(preview: string): string {
  return preview.replaceAll(/\*\*|`/g, "");
}

function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".run-link")];
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
}
