import { useCallback, useMemo, useState } from "react";
import { clientWith, forgetKey, keepKey, SessionProvider, storedKey } from "./api/session.ts";
import { BatchesPage } from "./background/batches-page.tsx";
import { WebhooksPage } from "./background/webhooks-page.tsx";
import { ComparePage } from "./compare/compare-page.tsx";
import { KeysPage } from "./organization/keys-page.tsx";
import { UsagePage } from "./organization/usage-page.tsx";
import { PlaygroundPage } from "./playground/playground-page.tsx";
import { RunPage } from "./run/run-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { CrashGuard } from "./shell/crash-guard.tsx";
import { type Route, useRoute } from "./shell/route.ts";
import { ShortcutsHelp, usePageShortcuts } from "./shell/shortcuts.tsx";
import { SignIn } from "./shell/sign-in.tsx";
import { TopBar } from "./shell/top-bar.tsx";

/** The whole page: a key is asked for first, then the URL decides what is shown. */
export function App() {
  const [key, setKey] = useState(storedKey);
  const route = useRoute();
  const [isHelping, setIsHelping] = useState(false);
  const help = useCallback(() => setIsHelping(true), []);
  const client = useMemo(() => (key === null ? null : clientWith(key)), [key]);
  usePageShortcuts(help);

  if (client === null)
    return (
      <SignIn
        onKey={(given) => {
          keepKey(given);
          setKey(given);
        }}
      />
    );
  return (
    <SessionProvider value={client}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <TopBar
        route={route}
        onHelp={help}
        onSignOut={() => {
          forgetKey();
          setKey(null);
        }}
      />
      <main id="main" tabIndex={-1} data-page={route.page}>
        <CrashGuard key={route.page}>
          <Page route={route} />
        </CrashGuard>
      </main>
      {isHelping ? <ShortcutsHelp onClose={() => setIsHelping(false)} /> : null}
    </SessionProvider>
  );
}

function Page({ route }: { readonly route: Route }) {
  switch (route.page) {
    case "runs":
      return <RunsPage query={route.query} />;
    case "run":
      return <RunPage key={route.id} id={route.id} tab={route.tab} />;
    case "compare":
      return <ComparePage key={`${route.left} ${route.right}`} left={route.left} right={route.right} />;
    case "usage":
      return <UsagePage days={route.days} by={route.by} />;
    case "keys":
      return <KeysPage />;
    case "batches":
      return <BatchesPage />;
    case "webhooks":
      return <WebhooksPage endpoint={route.endpoint} />;
    case "playground":
      return <PlaygroundPage key={`${route.from} ${route.item}`} from={route.from} item={route.item} />;
    default:
      return route;
  }
}
