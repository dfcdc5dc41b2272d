import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { countFilters, KINDS, type RunFilters } from "./filters.ts";
import { TypedField } from "./typed-field.tsx";

export interface FiltersProps {
  readonly filters: RunFilters;
  readonly onChange: (changed: Partial<RunFilters>) => void;
}

export interface MoreFiltersProps extends FiltersProps {
  /** Those that were read so far, whose tools and errors can be chosen. */
  readonly runs: readonly ResponsesApi.ResponseSummary[];
}

type TextFilter = "metadata" | "conversation" | "key";

const TEXT_FILTERS: readonly (readonly [name: TextFilter, label: string, placeholder: string])[] = [
  ["metadata", "Metadata", "name=value"],
  ["conversation", "Conversation", "conv_…"],
  ["key", "Key", "id of an API key"],
];

/** The filters that people need less often. */
export function MoreFilters({ filters, runs, onChange }: MoreFiltersProps) {
  const tools = new Set(runs.flatMap((run) => run.tools));
  const errors = new Set(runs.flatMap(({ error }) => error?.code ?? []));
  const count = countFilters(filters) - filters.statuses.length;
  return (
    <details className="more-filters">
      <summary>More filters{count > 0 ? ` (${count})` : ""}</summary>
      <div className="more-fields">
        <ModelFilter model={filters.model} onModel={(model) => onChange({ model })} />
        <label className="field">
          <span>Kind</span>
          <select
            value={filters.kind ?? ""}
            onChange={({ target }) => onChange({ kind: KINDS.find((kind) => kind === target.value) ?? null })}
          >
            <option value="">All kinds</option>
            {KINDS.map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        </label>
        {TEXT_FILTERS.map(([name, label, placeholder]) => (
          <label key={name} className="field">
            <span>{label}</span>
            <TypedField
              label={label}
              placeholder={placeholder}
              value={filters[name]}
              onValue={(value) => onChange({ [name]: value })}
            />
          </label>
        ))}
        <ReadFilter label="Tool" value={filters.tool} found={tools} onValue={(tool) => onChange({ tool })} />
        <ReadFilter label="Error" value={filters.error} found={errors} onValue={(error) => onChange({ error })} />
      </div>
    </details>
  );
}

interface ReadFilterProps {
  readonly label: string;
  readonly value: string;
  readonly found: ReadonlySet<string>;
  readonly onValue: (value: string) => void;
}

/** Chooses among what the runs of the list have. */
function ReadFilter({ label, value, found, onValue }: ReadFilterProps) {
  const values = [...new Set([...found, ...(value === "" ? [] : [value])])].toSorted();
  return (
    <label className="field">
      <span>{label}, of the runs in the list</span>
      <select value={value} onChange={({ target }) => onValue(target.value)}>
        <option value="">All</option>
        {values.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

function ModelFilter({ model, onModel }: { readonly model: string; readonly onModel: (model: string) => void }) {
  const client = useClient();
  const { reply: models } = useCall((signal) => client.listModels({ signal }), [client]);
  return (
    <label className="field">
      <span>Model</span>
      <TypedField label="Model" value={model} list="filter-models" onValue={onModel} />
      <datalist id="filter-models">
        {models?.data.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </label>
  );
}
