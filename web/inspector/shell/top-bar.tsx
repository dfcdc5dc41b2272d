import { useState } from "react";
import { Brand } from "./brand.tsx";
import { Icon } from "./icons.tsx";
import { Link } from "./link.tsx";
import {
  BATCHES_ROUTE,
  KEYS_ROUTE,
  PLAYGROUND_ROUTE,
  type Route,
  RUNS_ROUTE,
  USAGE_ROUTE,
  WEBHOOKS_ROUTE,
} from "./route.ts";
import { chooseTheme, storedTheme, THEMES } from "./theme.ts";

const PAGES = [
  { to: RUNS_ROUTE, label: "Runs" },
  { to: PLAYGROUND_ROUTE, label: "Playground" },
  { to: BATCHES_ROUTE, label: "Batches" },
  { to: WEBHOOKS_ROUTE, label: "Webhooks" },
  { to: USAGE_ROUTE, label: "Usage" },
  { to: KEYS_ROUTE, label: "Keys" },
];

interface TopBarProps {
  readonly route: Route;
  readonly onHelp: () => void;
  readonly onSignOut: () => void;
}

export function TopBar({ route, onHelp, onSignOut }: TopBarProps) {
  return (
    <header className="top">
      <Link to={RUNS_ROUTE} className="brand-link" label="Antiphon, all runs">
        <Brand />
      </Link>
      <nav aria-label="Inspector">
        {PAGES.map(({ to, label }) => (
          <Link key={to.page} to={to} isCurrent={route.page === to.page}>
            {label}
          </Link>
        ))}
        <a href="/docs">API</a>
      </nav>
      <div className="top-tools">
        <ThemeButton />
        <button
          type="button"
          className="quiet icon-button"
          onClick={onHelp}
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
        >
          <Icon name="keyboard" />
        </button>
        <button
          type="button"
          className="quiet icon-button"
          onClick={onSignOut}
          aria-label="Forget the key"
          title="Forget the key"
        >
          <Icon name="key" />
        </button>
      </div>
    </header>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <button
      type="button"
      className="quiet icon-button"
      aria-label={`Theme: ${theme}. Change to ${next}`}
      title={`Theme: ${theme}`}
      onClick={() => {
        chooseTheme(next);
        setTheme(next);
      }}
    >
      <Icon name="theme" />
    </button>
  );
}
