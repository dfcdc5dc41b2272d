import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { formatFullMoment } from "../base/format.ts";

type Note = ResponsesApi.ResponseNote;

/** What was left out or imitated, and what happened while the response was made. */
export function Notes({ notes }: { readonly notes: readonly Note[] }) {
  const happened = notes.filter(({ at }) => at !== undefined);
  const differing = notes.filter(({ at }) => at === undefined);
  return (
    <>
      <section className="notes" aria-label="Omitted and emulated">
        <h2>Omitted and emulated</h2>
        {differing.length === 0 ? (
          <p className="hint">Nothing is known to have been left out or imitated.</p>
        ) : (
          <NoteList notes={differing} />
        )}
      </section>
      {happened.length === 0 ? null : (
        <section className="notes" aria-label="What happened">
          <h2>What happened meanwhile</h2>
          <NoteList notes={happened} />
        </section>
      )}
    </>
  );
}

function NoteList({ notes }: { readonly notes: readonly Note[] }) {
  return (
    <ul>
      {notes.map(({ kind, what, why, at, node }, index) => (
        <li key={index}>
          <span className="tag" data-status={kind}>
            {kind}
          </span>
          <span>
            <code>{what}</code> {why}
            {at === undefined ? null : (
              <span className="hint">
                {" "}
                <time dateTime={new Date(at * 1000).toISOString()}>{formatFullMoment(at)}</time>
                {node === undefined ? null : `, told by ${node}`}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
