import type { ReactNode } from "react";
import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { Link } from "../shell/link.tsx";
import { PLAYGROUND_ROUTE } from "../shell/route.ts";
import { countFilters, readFilters } from "./filters.ts";
import type { FiltersProps } from "./more-filters.tsx";

/** Stands in the place of an empty list: why it is empty, and what to do. */
export function NoRuns({ filters, onChange }: FiltersProps) {
  const client = useClient();
  const { reply } = useCall(
    async (signal) => (await client.listResponses({ limit: 1 }, { signal })).data.length,
    [client],
  );
  const isFiltered = countFilters(filters) > 0 || filters.text !== "";
  if (reply === null) return null;
  if (reply === 0)
    return (
      <Empty says="No runs yet.">
        <p className="hint">
          Each request that this server answers becomes a run here. Runs with <code>store: false</code> leave nothing
          behind.
        </p>
        <Link to={PLAYGROUND_ROUTE} className="button main">
          Open the playground
        </Link>
      </Empty>
    );
  return isFiltered ? (
    <Empty says="No stored runs fit these filters.">
      <button type="button" className="main" onClick={() => onChange(readFilters(new URLSearchParams()))}>
        Clear the filters
      </button>
    </Empty>
  ) : (
    <Empty says="No runs were stored in this time.">
      <button type="button" className="main" onClick={() => onChange({ span: "all", from: null, to: null })}>
        Show all time
      </button>
    </Empty>
  );
}

function Empty({ says, children }: { readonly says: string; readonly children: ReactNode }) {
  return (
    <div className="empty">
      <p>{says}</p>
      {children}
    </div>
  );
}
