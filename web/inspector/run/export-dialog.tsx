import { useState } from "react";
import type { Response } from "../../../packages/client/src/index.ts";
import { curlCommand } from "../exports/curl.ts";
import { pythonCode } from "../exports/python.ts";
import { requestOf } from "../exports/request-of.ts";
import { scenarioFile } from "../exports/scenario.ts";
import { typescriptCode } from "../exports/typescript.ts";
import type { ShownItem } from "../items/fold-events.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Dialog } from "../shell/dialog.tsx";
import { downloadFile } from "../shell/download.ts";
import { TabPanel, Tabs } from "../shell/tabs.tsx";
import { linterInput } from "./lint-log.ts";
import type { RunLog } from "./run-log.ts";

interface ExportDialogProps {
  readonly response: Response;
  readonly input: readonly ShownItem[];
  readonly log: RunLog;
  /** Whether the run was asked for as a stream. */
  readonly isStreamed: boolean;
  readonly onClose: () => void;
}

const FORMS = [
  { id: "curl", label: "curl", file: "request.sh", says: "Sends the same request from a shell." },
  {
    id: "typescript",
    label: "TypeScript",
    file: "request.ts",
    says: "Sends the same request with the openai package of npm.",
  },
  {
    id: "python",
    label: "Python",
    file: "request.py",
    says: "Sends the same request with the openai package of PyPI.",
  },
  {
    id: "scenario",
    label: "Scenario",
    file: "scenario.yaml",
    says: "Makes the built-in engine answer as this run did: start a server with SCENARIO_FILE.",
  },
  {
    id: "lint",
    label: "Linter input",
    file: "events.jsonl",
    says: "The events, one a line, for antiphon lint-stream.",
  },
] as const;

/** A run as code, as a scenario, or as a file for the linter. */
export function ExportDialog({ response, input, log, isStreamed, onClose }: ExportDialogProps) {
  const [chosen, setChosen] = useState<string>("curl");
  const form = FORMS.find(({ id }) => id === chosen) ?? FORMS[0];
  const text = exportText(form.id, { response, input, log, isStreamed });
  return (
    <Dialog title="Export this run" onClose={onClose}>
      <Tabs label="Forms" tabs={FORMS} current={form.id} onChoose={setChosen} />
      <TabPanel id={form.id}>
        <div className="section-head">
          <p className="hint">{form.says}</p>
          <span>
            <CopyButton text={text} label="Copy" />
            <button type="button" onClick={() => downloadFile(form.file, text)}>
              Download {form.file}
            </button>
          </span>
        </div>
        {text.includes("<redacted>") ? (
          <p className="hint">The server does not show secrets. Fill in what stands as &lt;redacted&gt;.</p>
        ) : null}
        <pre className="code export" role="region" tabIndex={0} aria-label={form.label}>
          {text}
        </pre>
      </TabPanel>
    </Dialog>
  );
}

function exportText(
  form: (typeof FORMS)[number]["id"],
  { response, input, log, isStreamed }: Omit<ExportDialogProps, "onClose">,
): string {
  const request = requestOf(response, input);
  switch (form) {
    case "curl":
      return curlCommand(request, { baseUrl: location.origin, isStreamed });
    case "typescript":
      return typescriptCode(request, { baseUrl: location.origin, isStreamed });
    case "python":
      return pythonCode(request, { baseUrl: location.origin, isStreamed });
    case "scenario":
      return scenarioFile(response, input);
    case "lint":
      return linterInput(log);
    default:
      return form;
  }
}
