import { useEffect } from "react";
import { Dialog } from "./dialog.tsx";
import {
  BATCHES_ROUTE,
  KEYS_ROUTE,
  navigate,
  PLAYGROUND_ROUTE,
  type Route,
  RUNS_ROUTE,
  USAGE_ROUTE,
  WEBHOOKS_ROUTE,
} from "./route.ts";

const SHORTCUTS: readonly (readonly [keys: string, what: string])[] = [
  ["g then r", "the runs"],
  ["g then p", "the playground"],
  ["g then b, g then w", "batches, webhooks"],
  ["g then u, g then k", "usage, keys"],
  ["/", "search the runs"],
  ["j, k", "the next run of the list, the one before"],
  ["Enter", "open the run; send a message"],
  ["Space", "on a run: play it, or pause"],
  ["← →", "on a run: one event back, one on"],
  ["↑ ↓, Page, Home, End", "move in the list of events"],
  ["f", "on a run: fork it"],
  ["Ctrl or ⌘ + Enter", "in the playground: send from any field"],
  ["Esc", "stop an answer, close a window"],
  ["?", "this help"],
];

export function ShortcutsHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** How long after `g` the second letter may come. */
const SECOND_LETTER_MS = 1_500;

const PAGE_OF_LETTER: ReadonlyMap<string, Route> = new Map([
  ["r", RUNS_ROUTE],
  ["p", PLAYGROUND_ROUTE],
  ["b", BATCHES_ROUTE],
  ["w", WEBHOOKS_ROUTE],
  ["u", USAGE_ROUTE],
  ["k", KEYS_ROUTE],
]);

function goTo(route: Route | undefined): void {
  if (route !== undefined) navigate(route);
}

/** Listens for the shortcuts that work on the whole page. */
export function usePageShortcuts(onHelp: () => void): void {
  useEffect(() => {
    let goPressedAt = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent): void => {
      if (isTyping(event)) return;
      const isSecond = performance.now() - goPressedAt < SECOND_LETTER_MS;
      if (event.key === "?") onHelp();
      else if (event.key === "g") goPressedAt = performance.now();
      else if (isSecond) goTo(PAGE_OF_LETTER.get(event.key));
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [onHelp]);
}

/** Calls back for a key that is pressed anywhere but in a field. */
export function useKey(keys: readonly string[], act: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!isTyping(event) && keys.includes(event.key)) act(event);
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector("dialog[open]") !== null) return true;
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
