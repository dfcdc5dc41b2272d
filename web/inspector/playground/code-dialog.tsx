import { useState } from "react";
import type { Members } from "../base/members.ts";
import { curlCommand } from "../exports/curl.ts";
import { pythonCode } from "../exports/python.ts";
import { typescriptCode } from "../exports/typescript.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Dialog } from "../shell/dialog.tsx";
import { TabPanel, Tabs } from "../shell/tabs.tsx";

const LANGUAGES = [
  { id: "curl", label: "curl", write: curlCommand },
  { id: "typescript", label: "TypeScript", write: typescriptCode },
  { id: "python", label: "Python", write: pythonCode },
] as const;

interface CodeDialogProps {
  /** The body of the request, without `stream`. */
  readonly request: Members;
  readonly isStreamed: boolean;
  readonly onClose: () => void;
}

/** The request that the playground would send, as a command and as programs. The key comes from the environment. */
export function CodeDialog({ request, isStreamed, onClose }: CodeDialogProps) {
  const [chosen, setChosen] = useState<string>("curl");
  const language = LANGUAGES.find(({ id }) => id === chosen) ?? LANGUAGES[0];
  const text = language.write(request, { baseUrl: location.origin, isStreamed });
  return (
    <Dialog title="Code of this request" onClose={onClose}>
      <Tabs label="Languages" tabs={LANGUAGES} current={language.id} onChoose={setChosen} />
      <TabPanel id={language.id}>
        <div className="section-head">
          <p className="hint">Takes the key from ANTIPHON_API_KEY.</p>
          <CopyButton text={text} label="Copy" />
        </div>
        <pre className="code export" role="region" tabIndex={0} aria-label={language.label}>
          {text}
        </pre>
      </TabPanel>
    </Dialog>
  );
}
