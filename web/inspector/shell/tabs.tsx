import type { KeyboardEvent, ReactNode } from "react";

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** A short sign beside the label, such as a count. */
  readonly sign?: ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly onChoose: (id: string) => void;
}

/** Tabs, of which arrow keys choose one. The panel has the id `panel` and the tab `tab-…` as its label. */
export function Tabs({ label, tabs, current, onChoose }: TabsProps) {
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = tabs.findIndex(({ id }) => id === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ id, label: name, sign }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          aria-selected={id === current}
          aria-controls={id === current ? `panel-${id}` : undefined}
          tabIndex={id === current ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {name}
          {sign === undefined ? null : <span className="tab-sign">{sign}</span>}
        </button>
      ))}
    </div>
  );
}

/** What belongs to a tab. */
export function TabPanel({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="panel" role="tabpanel" id={`panel-${id}`} aria-labelledby={`tab-${id}`} tabIndex={-1}>
      {children}
    </div>
  );
}
