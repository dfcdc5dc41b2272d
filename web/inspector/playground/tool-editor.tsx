import { isMembers, jsonOrUndefined, textAt } from "../base/members.ts";
import { Icon } from "../shell/icons.tsx";
import type { DraftTool } from "./draft.ts";
import { TOOL_TEMPLATES } from "./tool-templates.ts";

interface ToolEditorProps {
  readonly tools: readonly DraftTool[];
  readonly onChange: (tools: readonly DraftTool[]) => void;
}

const ROWS_MAX = 16;

/** The tools of a request, each as its JSON. A new one begins with an example of its kind. */
export function ToolEditor({ tools, onChange }: ToolEditorProps) {
  const add = (name: string): void => {
    const template = TOOL_TEMPLATES.find((known) => known.name === name);
    const key = Math.max(-1, ...tools.map((tool) => tool.key)) + 1;
    if (template !== undefined) onChange([...tools, { key, json: JSON.stringify(template.tool, null, 2) }]);
  };
  return (
    <fieldset className="tools">
      <legend>Tools</legend>
      {tools.map((tool) => (
        <ToolCard
          key={tool.key}
          tool={tool}
          onChange={(json) => onChange(tools.map((other) => (other.key === tool.key ? { ...other, json } : other)))}
          onRemove={() => onChange(tools.filter((other) => other.key !== tool.key))}
        />
      ))}
      <label className="field">
        <span className="unseen">Add a tool</span>
        <select value="" onChange={({ target }) => add(target.value)}>
          <option value="">Add a tool…</option>
          {TOOL_TEMPLATES.map(({ name, says }) => (
            <option key={name} value={name}>
              {name}: {says}
            </option>
          ))}
        </select>
      </label>
    </fieldset>
  );
}

interface ToolCardProps {
  readonly tool: DraftTool;
  readonly onChange: (json: string) => void;
  readonly onRemove: () => void;
}

function ToolCard({ tool: { json }, onChange, onRemove }: ToolCardProps) {
  const value = jsonOrUndefined(json);
  const name = [textAt(value, "type"), textAt(value, "name") || textAt(value, "server_label")]
    .filter(Boolean)
    .join(" ");
  return (
    <details className="tool-card">
      <summary>
        <Icon name="tool" /> {isMembers(value) ? name : "No JSON object"}
      </summary>
      <textarea
        className="mono"
        aria-label={`Tool ${name}`}
        aria-invalid={!isMembers(value)}
        spellCheck={false}
        rows={Math.min(ROWS_MAX, json.split("\n").length)}
        value={json}
        onChange={({ target }) => onChange(target.value)}
      />
      {json.includes("<redacted>") ? (
        <p className="hint">The server does not show secrets. Fill them in again.</p>
      ) : null}
      <button type="button" className="quiet" onClick={onRemove}>
        <Icon name="trash" /> Remove
      </button>
    </details>
  );
}
