import { useId } from "react";
import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { Choice } from "./choice.tsx";
import type { Draft } from "./draft.ts";
import { Switch } from "./switch.tsx";
import { ToolEditor } from "./tool-editor.tsx";

interface SettingsPanelProps {
  readonly draft: Draft;
  readonly onChange: (changed: Partial<Draft>) => void;
}

const EFFORTS = ["", "none", "minimal", "low", "medium", "high", "xhigh"];
const SUMMARIES = ["", "auto", "concise", "detailed"];
const FORMATS: readonly Draft["format"][] = ["text", "json_object", "json_schema"];

/** The settings of the next request. */
export function SettingsPanel({ draft, onChange }: SettingsPanelProps) {
  return (
    <form className="settings" aria-label="Settings" onSubmit={(event) => event.preventDefault()}>
      <ModelField model={draft.model} onChange={(model) => onChange({ model })} />
      <label className="field">
        <span>Other models, to compare with</span>
        <input
          value={draft.others}
          placeholder="up to three, with commas"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange({ others: target.value })}
        />
      </label>
      <label className="field">
        <span>Instructions</span>
        <textarea
          rows={3}
          value={draft.instructions}
          onChange={({ target }) => onChange({ instructions: target.value })}
        />
      </label>
      <ToolEditor tools={draft.tools} onChange={(tools) => onChange({ tools })} />
      <AnswerSettings draft={draft} onChange={onChange} />
      <SamplingSettings draft={draft} onChange={onChange} />
      <RequestSettings draft={draft} onChange={onChange} />
    </form>
  );
}

function ModelField({ model, onChange }: { readonly model: string; readonly onChange: (model: string) => void }) {
  const client = useClient();
  const listId = useId();
  const { reply: models } = useCall((signal) => client.listModels({ signal }), [client]);
  return (
    <label className="field">
      <span>Model</span>
      <input
        list={listId}
        value={model}
        placeholder={models?.data[0]?.id ?? "the name of a model"}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={listId}>
        {models?.data.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
    </label>
  );
}

function AnswerSettings({ draft, onChange }: SettingsPanelProps) {
  return (
    <details>
      <summary>Answer</summary>
      <Choice
        label="Format"
        value={draft.format}
        options={FORMATS}
        onChange={(chosen) => onChange({ format: FORMATS.find((format) => format === chosen) ?? "text" })}
      />
      {draft.format === "json_schema" ? (
        <label className="field">
          <span>JSON schema</span>
          <textarea
            className="mono"
            rows={10}
            spellCheck={false}
            value={draft.schema}
            onChange={({ target }) => onChange({ schema: target.value })}
          />
        </label>
      ) : null}
      <label className="field">
        <span>Most output tokens</span>
        <input
          type="number"
          min={1}
          value={draft.maxOutputTokens}
          onChange={({ target }) => onChange({ maxOutputTokens: target.value })}
        />
      </label>
      <Switch label="Speak the answer" isOn={draft.isSpoken} onChange={(isSpoken) => onChange({ isSpoken })} />
      {draft.isSpoken ? (
        <label className="field">
          <span>Voice</span>
          <input
            value={draft.voice}
            placeholder="the server’s choice"
            onChange={({ target }) => onChange({ voice: target.value })}
          />
        </label>
      ) : null}
    </details>
  );
}

function SamplingSettings({ draft, onChange }: SettingsPanelProps) {
  return (
    <details>
      <summary>Reasoning and sampling</summary>
      <Choice label="Effort" value={draft.effort} options={EFFORTS} onChange={(effort) => onChange({ effort })} />
      <Choice label="Summary" value={draft.summary} options={SUMMARIES} onChange={(summary) => onChange({ summary })} />
      <label className="field">
        <span>Temperature</span>
        <input
          type="number"
          min={0}
          max={2}
          step={0.1}
          value={draft.temperature}
          onChange={({ target }) => onChange({ temperature: target.value })}
        />
      </label>
      <label className="field">
        <span>Tool choice</span>
        <input
          value={draft.toolChoice}
          placeholder="auto"
          spellCheck={false}
          onChange={({ target }) => onChange({ toolChoice: target.value })}
        />
      </label>
    </details>
  );
}

function RequestSettings({ draft, onChange }: SettingsPanelProps) {
  return (
    <details>
      <summary>Request</summary>
      <Switch label="Stream" isOn={draft.isStreamed} onChange={(isStreamed) => onChange({ isStreamed })} />
      <Switch
        label="In the background"
        isOn={draft.isBackground}
        onChange={(isBackground) => onChange({ isBackground })}
      />
      <Switch label="Store" isOn={draft.isStored} onChange={(isStored) => onChange({ isStored })} />
      <label className="field">
        <span>Further members, as JSON</span>
        <textarea
          className="mono"
          rows={4}
          spellCheck={false}
          placeholder={'{ "metadata": { "topic": "demo" } }'}
          value={draft.more}
          onChange={({ target }) => onChange({ more: target.value })}
        />
      </label>
    </details>
  );
}
