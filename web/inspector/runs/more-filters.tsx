import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { countFilters, KINDS, type RunFilters } from "./filters.ts";
import { TypedField } from "./typed-field.tsx";

export interface FiltersProps {
  readonly filters: RunFilters;
  readonly onChange: (changed: Partial<RunFilters>) => void;
}

type TextFilter = "metadata" | "conversation" | "key";

const TEXT_FILTERS: readonly (readonly [name: TextFilter, label: string, placeholder: string])[] = [
  ["metadata", "Metadata", "name=value"],
  ["conversation", "Conversation", "conv_…"],
  ["key", "Key", "id of an API key"],
];

/** The filters that people need less often. */
export function MoreFilters({ filters, onChange }: FiltersProps) {
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
      </div>
    </details>
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
