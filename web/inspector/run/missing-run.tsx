import { Link } from "../shell/link.tsx";
import { RUNS_ROUTE } from "../shell/route.ts";

/** Stands in the place of a run that cannot be read, such as one with an unknown id. */
export function MissingRun({ error }: { readonly error: string }) {
  return (
    <div className="empty">
      <h1>This run cannot be shown</h1>
      <p role="alert">{error}</p>
      <p className="hint">
        It may be deleted or expired, belong to another key, or have been made with <code>store: false</code>.
      </p>
      <Link to={RUNS_ROUTE} className="button main">
        All runs
      </Link>
    </div>
  );
}
