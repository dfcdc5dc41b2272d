import { useState } from "react";
import type { Antiphon, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import { downloadFile } from "../shell/download.ts";
import { askedFilters, type RunFilters } from "./filters.ts";
import { csvOf, jsonLinesOf } from "./list-files.ts";
import { orderRuns } from "./order-runs.ts";
import { SavedViews } from "./saved-views.tsx";

const PAGE_SIZE = 100;
/** More do not fit well into the memory of a page. */
const RUNS_MAX = 10_000;

/** What can be done with the whole list: saving its view, and its runs as a file. */
export function ListTools({ filters }: { readonly filters: RunFilters }) {
  const client = useClient();
  const [says, setSays] = useState("");
  const [isReading, setIsReading] = useState(false);
  const save = async (form: "csv" | "jsonl"): Promise<void> => {
    setIsReading(true);
    setSays("");
    try {
      const { runs, isWhole } = await readAll(client, filters);
      const ordered = orderRuns(runs, filters);
      if (form === "csv") downloadFile("runs.csv", csvOf(ordered), "text/csv");
      else downloadFile("runs.jsonl", jsonLinesOf(ordered), "application/jsonl");
      setSays(isWhole ? "" : `The file has the newest ${RUNS_MAX} runs.`);
    } catch (error) {
      setSays(sentenceOf(error));
    } finally {
      setIsReading(false);
    }
  };
  return (
    <div className="list-tools">
      <SavedViews filters={filters} />
      <span className="list-files">
        <button type="button" className="quiet" disabled={isReading} onClick={() => void save("csv")}>
          Save as CSV
        </button>
        <button type="button" className="quiet" disabled={isReading} onClick={() => void save("jsonl")}>
          Save as JSONL
        </button>
      </span>
      <p className="hint" role="status">
        {says}
      </p>
    </div>
  );
}

/** All runs that fit the filters, newest first. */
async function readAll(client: Antiphon, filters: RunFilters) {
  const runs: ResponsesApi.ResponseSummary[] = [];
  const asked = {
    ...askedFilters(filters, Math.floor(Date.now() / 1000)),
    ...(filters.text === "" ? {} : { query: filters.text }),
    limit: PAGE_SIZE,
  };
  let after: string | null = null;
  for (;;) {
    const page: ResponsesApi.ResponseSummaryList = await client.listResponses({
      ...asked,
      ...(after === null ? {} : { after }),
    });
    runs.push(...page.data);
    if (!page.has_more || page.last_id === null) return { runs, isWhole: true };
    if (runs.length >= RUNS_MAX) return { runs: runs.slice(0, RUNS_MAX), isWhole: false };
    after = page.last_id;
  }
}
