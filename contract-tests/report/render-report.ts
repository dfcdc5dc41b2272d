import { PROVIDER_TITLES } from "../provider-titles.ts";
import { type Check, countsOf, type Report } from "./checks.ts";

const PROVIDERS = ["ours", "reference", "other"] as const;

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
td.held { color: light-dark(#176b2c, #7fd493); } td.failed { color: light-dark(#a3131c, #ff9a9a); font-weight: 600; } td.skipped { color: light-dark(#5c5c5c, #b0b0b0); }
summary { cursor: pointer; padding: 0.3rem 0; } pre { white-space: pre-wrap; margin: 0.2rem 0; font-size: 0.85em; }
`;

/** Returns an HTML page without scripts: a table of checks for each suite, with a column for each provider. */
export function renderReport(report: Report): string {
  const suites = [...Map.groupBy(report.checks, ({ suite }) => suite)].map(([suite, checks]) =>
    renderSuite(suite, checks),
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Contract tests</title>
<style>${STYLE}</style>
<h1>Contract tests</h1>
<p>${escaped(report.startedAt)}, ${(report.durationMs / 1000).toFixed(0)} s. ${renderCounts(report.checks)}</p>
${renderSummary(report.checks)}
${suites.join("\n")}
</html>
`;
}

function renderSummary(checks: readonly Check[]): string {
  const rows = [...PROVIDERS, null].flatMap((provider) => {
    const own = checks.filter((check) => check.provider === provider);
    if (own.length === 0) return [];
    const title = provider === null ? "no provider: documents, consumers, recordings" : PROVIDER_TITLES[provider];
    return [`<tr><th scope="row">${title}</th><td>${renderCounts(own)}</td><td>${renderReasons(own)}</td></tr>`];
  });
  return `<table><thead><tr><th>At</th><th>Checks</th><th>Skipped, since</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function renderReasons(checks: readonly Check[]): string {
  const skipped = Map.groupBy(
    checks.filter(({ result }) => result === "skipped"),
    ({ reasons }) => reasons.join(" "),
  );
  return [...skipped].map(([reason, of]) => `${of.length}: ${escaped(reason)}`).join("<br>");
}

function renderSuite(suite: string, checks: readonly Check[]): string {
  const groups = [...Map.groupBy(checks, ({ group }) => group)].map(([group, of]) => renderGroup(group, of));
  return `<h2>${escaped(suite)}</h2>\n${groups.join("\n")}`;
}

function renderGroup(group: string, checks: readonly Check[]): string {
  const providers = PROVIDERS.filter((provider) => checks.some((check) => check.provider === provider));
  const columns = providers.length === 0 ? [null] : providers;
  const heads = columns.map((provider) => `<th>${provider === null ? "" : PROVIDER_TITLES[provider]}</th>`).join("");
  const rows = [...Map.groupBy(checks, ({ name }) => name)].map(([name, of]) => {
    const cells = columns.map((provider) => renderCell(of.filter((check) => check.provider === provider)));
    return `<tr><th scope="row">${escaped(name)}</th>${cells.join("")}</tr>`;
  });
  const isOpen = checks.some(({ result }) => result === "failed") ? " open" : "";
  return `<details${isOpen}><summary>${escaped(group === "" ? "checks" : group)}: ${renderCounts(checks)}</summary>
<table><thead><tr><th></th>${heads}</tr></thead><tbody>${rows.join("")}</tbody></table></details>`;
}

/** Renders the checks of one name at one provider. The worst result counts. */
function renderCell(checks: readonly Check[]): string {
  const result = (["failed", "skipped", "held"] as const).find((one) => checks.some((check) => check.result === one));
  if (result === undefined) return "<td></td>";
  const reasons = checks.filter((check) => check.result === "failed").flatMap((check) => check.reasons);
  return `<td class="${result}">${result}${reasons.map((reason) => `<pre>${escaped(reason)}</pre>`).join("")}</td>`;
}

function renderCounts(checks: readonly Check[]): string {
  const { held, failed, skipped } = countsOf(checks);
  return `${held} held, ${failed} failed, ${skipped} skipped`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
