import { useRef } from "react";
import { asWords, formatMoment } from "../base/format.ts";
import { Icon } from "../shell/icons.tsx";
import { useKey } from "../shell/shortcuts.tsx";
import { countFilters, readFilters, SPAN_NAMES, STATUSES } from "./filters.ts";
import { type FiltersProps, MoreFilters, type MoreFiltersProps } from "./more-filters.tsx";
import { TypedField } from "./typed-field.tsx";

/** Narrows the list of runs. */
export function FilterBar({ filters, runs, onChange }: MoreFiltersProps) {
  const search = useRef<HTMLInputElement>(null);
  useKey(["/"], (event) => {
    event.preventDefault();
    search.current?.focus();
  });
  const isUnfiltered = countFilters(filters) === 0 && filters.text === "" && filters.from === null;
  return (
    <search className="filters">
      <div className="search">
        <Icon name="search" />
        <TypedField
          field={search}
          label="Search in input and output"
          placeholder="Search in input and output"
          value={filters.text}
          onValue={(text) => onChange({ text })}
        />
      </div>
      <SpanFilter filters={filters} onChange={onChange} />
      <StatusFilter filters={filters} onChange={onChange} />
      <MoreFilters filters={filters} runs={runs} onChange={onChange} />
      {isUnfiltered ? null : (
        <button type="button" className="quiet" onClick={() => onChange(readFilters(new URLSearchParams()))}>
          Clear
        </button>
      )}
    </search>
  );
}

function SpanFilter({ filters: { span, from, to }, onChange }: FiltersProps) {
  return (
    <label className="filter">
      <span className="unseen">Time</span>
      <select value={span} onChange={({ target }) => onChange({ span: target.value, from: null, to: null })}>
        {from === null ? null : (
          <option value="">
            {formatMoment(from)} to {to === null ? "now" : formatMoment(to)}
          </option>
        )}
        {Object.entries(SPAN_NAMES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <option value="all">All time</option>
      </select>
    </label>
  );
}

function StatusFilter({ filters: { statuses }, onChange }: FiltersProps) {
  const toggle = (status: (typeof STATUSES)[number]): void =>
    onChange({
      statuses: statuses.includes(status) ? statuses.filter((chosen) => chosen !== status) : [...statuses, status],
    });
  return (
    <fieldset className="chips">
      <legend className="unseen">Status</legend>
      {STATUSES.map((status) => (
        <button
          key={status}
          type="button"
          className="chip"
          data-status={status}
          aria-pressed={statuses.includes(status)}
          onClick={() => toggle(status)}
        >
          {asWords(status)}
        </button>
      ))}
    </fieldset>
  );
}
