import { useState } from "react";
import { isMembers, jsonOrUndefined } from "../base/members.ts";
import { replaceRoute } from "../shell/route.ts";
import { type RunFilters, writeFilters } from "./filters.ts";

/** The entry of the browser's storage. It holds names and filters, and no key. */
const VIEWS_ENTRY = "antiphon.views";
const VIEWS_MAX = 50;
const NAME_CHARACTERS_MAX = 60;

interface View {
  readonly name: string;
  /** That of the page's URL. */
  readonly query: string;
}

/** Filters under names of one's own. They stay in this browser. */
export function SavedViews({ filters }: { readonly filters: RunFilters }) {
  const [views, setViews] = useState(readViews);
  const [isNaming, setIsNaming] = useState(false);
  const query = writeFilters(filters).toString();
  const current = views.find((view) => view.query === query);
  const keep = (changed: readonly View[]): void => {
    localStorage.setItem(VIEWS_ENTRY, JSON.stringify(changed));
    setViews(changed);
  };
  const save = (name: string): void => {
    keep([...views.filter((view) => view.name !== name), { name, query }].slice(-VIEWS_MAX));
    setIsNaming(false);
  };
  if (isNaming) return <ViewName onName={save} onCancel={() => setIsNaming(false)} />;
  return (
    <div className="saved-views">
      {views.length === 0 ? null : <ViewChoice views={views} current={current} />}
      {current === undefined ? (
        <button type="button" className="quiet" onClick={() => setIsNaming(true)}>
          Save this view
        </button>
      ) : (
        <button type="button" className="quiet" onClick={() => keep(views.filter((view) => view !== current))}>
          Remove this view
        </button>
      )}
    </div>
  );
}

interface ViewNameProps {
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}

function ViewName({ onName, onCancel }: ViewNameProps) {
  const [name, setName] = useState("");
  const trimmed = name.trim();
  return (
    <form
      className="saved-views"
      onSubmit={(event) => {
        event.preventDefault();
        if (trimmed !== "") onName(trimmed);
      }}
    >
      <input
        aria-label="Name of the view"
        maxLength={NAME_CHARACTERS_MAX}
        autoFocus
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" disabled={trimmed === ""}>
        Save
      </button>
      <button type="button" className="quiet" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}

function ViewChoice({ views, current }: { readonly views: readonly View[]; readonly current: View | undefined }) {
  const choose = (name: string): void => {
    const chosen = views.find((view) => view.name === name);
    if (chosen !== undefined) replaceRoute({ page: "runs", query: new URLSearchParams(chosen.query) });
  };
  return (
    <select aria-label="Saved views" value={current?.name ?? ""} onChange={({ target }) => choose(target.value)}>
      <option value="" disabled>
        Saved views
      </option>
      {views.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function readViews(): readonly View[] {
  const stored: unknown = jsonOrUndefined(localStorage.getItem(VIEWS_ENTRY) ?? "");
  if (!Array.isArray(stored)) return [];
  return stored.flatMap((view: unknown): View[] => {
    if (!isMembers(view)) return [];
    const { name, query } = view;
    return typeof name === "string" && typeof query === "string" ? [{ name, query }] : [];
  });
}
