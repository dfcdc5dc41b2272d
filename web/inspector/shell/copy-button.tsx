import { useState } from "react";
import { Icon } from "./icons.tsx";

/** How long the button says that it copied. */
const SAY_MS = 1_500;

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setIsCopied(true);
      setTimeout(setIsCopied, SAY_MS, false);
    });
  };
  return (
    <button type="button" className="quiet icon-button" onClick={copy} aria-label={label} title={label}>
      <Icon name={isCopied ? "check" : "copy"} />
      <span className="unseen" role="status">
        {isCopied ? "Copied" : ""}
      </span>
    </button>
  );
}
