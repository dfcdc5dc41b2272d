import type { StreamReport } from "@antiphon/stream-grammar/index.ts";
import { useMemo, useState } from "react";
import type { Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { EffectsProvider, useEffects } from "../items/effects.ts";
import { asShownItem, foldEvents, type ShownItem } from "../items/fold-events.ts";
import { isToolCall } from "../items/item-title.ts";
import { ToolResultsProvider, useToolResults } from "../items/tool-results.ts";
import { navigate, replaceRoute, runRoute } from "../shell/route.ts";
import { useKey } from "../shell/shortcuts.tsx";
import { type Tab, TabPanel, Tabs } from "../shell/tabs.tsx";
import { ContextTab } from "./context-tab.tsx";
import { ExchangesTab } from "./exchanges-tab.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { lintLog } from "./lint-log.ts";
import { LinterTab } from "./linter-tab.tsx";
import { MissingRun } from "./missing-run.tsx";
import { OverviewTab } from "./overview-tab.tsx";
import { RequestTab } from "./request-tab.tsx";
import { RunFacts } from "./run-facts.tsx";
import { RunHeader } from "./run-header.tsx";
import { timesOf } from "./run-times.ts";
import { ToolsTab } from "./tools-tab.tsx";
import { type Run, useRun } from "./use-run.ts";
import { useSummary } from "./use-summary.ts";

/** One run: its figures, and a tab for each way to look at it. */
export function RunPage({ id, tab }: { readonly id: string; readonly tab: string }) {
  const run = useRun(id);
  const { reply: response, error } = run.response;
  if (response === null)
    return error === null ? (
      <p className="loading" role="status">
        Loading the run…
      </p>
    ) : (
      <MissingRun error={error} />
    );
  return <LoadedRun run={run} response={response} tab={tab} />;
}

function LoadedRun({ run, response, tab }: { readonly run: Run; readonly response: Response; readonly tab: string }) {
  const [isExporting, setIsExporting] = useState(false);
  const { log } = run;
  const client = useClient();
  const { reply: summary, isPending } = useSummary(response);
  const input = useMemo(() => (run.input.reply ?? []).flatMap((item) => asShownItem(item) ?? []), [run.input.reply]);
  const output = useMemo(() => finalOutput(run, response), [log, response]);
  const results = useToolResults(client, response.id, { output, isLive: log.isAttached });
  const effects = useEffects(client, response.id, { output, isLive: log.isAttached });
  const report = useMemo(() => (log.isAttached ? null : lintLog(log)), [log]);
  const times = useMemo(() => timesOf(log.events, response.usage?.output_tokens ?? null), [log, response]);
  const fork = (): void => navigate({ page: "playground", from: response.id, item: null });
  useKey(["f"], fork);
  const tabs = tabsOf(output, report);
  const current = tabs.some(({ id }) => id === tab) ? tab : "overview";
  return (
    <>
      <RunHeader
        response={response}
        summary={summary}
        isLive={log.isAttached}
        onFork={fork}
        onExport={() => setIsExporting(true)}
      />
      <RunFacts response={response} summary={summary} times={times} events={log.events.length} report={report} />
      <Tabs
        label="Views of the run"
        tabs={tabs}
        current={current}
        onChoose={(id) => replaceRoute(runRoute(response.id, id))}
      />
      <ToolResultsProvider value={results}>
        <EffectsProvider value={effects}>
          <TabPanel id={current}>
            <View
              name={current}
              run={run}
              response={response}
              input={input}
              output={output}
              report={report}
              face={summary?.face ?? null}
            />
          </TabPanel>
        </EffectsProvider>
      </ToolResultsProvider>
      {isExporting && (summary !== null || !isPending) ? (
        <ExportDialog
          response={response}
          input={input}
          log={log}
          isStreamed={summary?.kind !== "plain"}
          onClose={() => setIsExporting(false)}
        />
      ) : null}
    </>
  );
}

function tabsOf(output: readonly ShownItem[], report: StreamReport | null): readonly Tab[] {
  const faults = report === null ? 0 : report.faults.length + report.faultsLeftOut;
  return [
    { id: "overview", label: "Overview" },
    { id: "request", label: "Request" },
    { id: "exchanges", label: "Upstream" },
    { id: "tools", label: "Tools", sign: output.filter(isToolCall).length || undefined },
    { id: "context", label: "Context" },
    { id: "linter", label: "Linter", sign: report === null ? undefined : faults === 0 ? "✓" : faults },
  ];
}

interface ViewProps {
  readonly name: string;
  readonly run: Run;
  readonly response: Response;
  readonly input: readonly ShownItem[];
  readonly output: readonly ShownItem[];
  readonly report: StreamReport | null;
  readonly face: ResponsesApi.ResponseSummary["face"];
}

/** What the chosen tab shows. */
function View({ name, run, response, input, output, report, face }: ViewProps) {
  switch (name) {
    case "request":
      return <RequestTab response={response} input={input} face={face} />;
    case "exchanges":
      return <ExchangesTab response={response} input={input} face={face} />;
    case "tools":
      return <ToolsTab input={input} output={output} events={run.log.events} />;
    case "context":
      return <ContextTab response={response} />;
    case "linter":
      return <LinterTab report={report} log={run.log} />;
    default:
      return <OverviewTab run={run} response={response} input={input} output={output} />;
  }
}

/** The output of the stored response; of a run that goes on, what its events have given so far. */
function finalOutput({ log }: Run, { output }: Response): ShownItem[] {
  const stored = output.flatMap((item) => asShownItem(item) ?? []);
  return stored.length > 0 ? stored : foldEvents(log.events);
}
