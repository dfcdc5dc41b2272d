import { Fragment, type ReactNode } from "react";
import { jsonOrUndefined } from "../base/members.ts";

/** JSON with its keys, texts and numbers in colours. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <JsonText text={JSON.stringify(value, shorten, 2) ?? "null"} label={label} />;
}

/** Text that is shown as it is; JSON is coloured. */
export function JsonText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <pre className="json" role="group" tabIndex={0} aria-label={label}>
      {text.length > COLOURED_CHARACTERS_MAX || jsonOrUndefined(text) === undefined ? text : coloured(text)}
    </pre>
  );
}

/** Longer texts are shown without colours, each of which costs an element. */
const COLOURED_CHARACTERS_MAX = 60_000;
const TEXT_CHARACTERS_MAX = 20_000;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

/** Pictures and recordings are of no use as text. */
function shorten(_name: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= TEXT_CHARACTERS_MAX) return value;
  return `${value.slice(0, 200)}… (${value.length} characters)`;
}

function coloured(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, string, colon, word] = match;
    parts.push(text.slice(at, match.index));
    const kind = string === undefined ? (word === undefined ? "number" : "word") : colon === undefined ? "text" : "key";
    parts.push(
      <span key={match.index} data-json={kind}>
        {whole}
      </span>,
    );
    at = match.index + whole.length;
  }
  parts.push(text.slice(at));
  return <Fragment>{parts}</Fragment>;
}
