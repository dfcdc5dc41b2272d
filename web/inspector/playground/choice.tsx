interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** The empty one leaves the choice to the server. */
  readonly options: readonly string[];
  readonly onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option === "" ? "the server’s choice" : option.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}
