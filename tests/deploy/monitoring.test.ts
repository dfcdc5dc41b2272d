import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { SETTINGS } from "../../src/config/settings.ts";
import type { Metric } from "../../src/telemetry/metric.ts";
import { METRICS } from "../../src/telemetry/metric-table.ts";
import { verifies } from "../verifies.ts";

const ROOT = join(import.meta.dirname, "../..");
const ALERTS = "deploy/prometheus/alerts.yaml";
const DASHBOARD = "deploy/grafana/antiphon.json";
const HAS_PROMTOOL = spawnSync("promtool", ["--version"]).status === 0;

const Alerts = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Antiphon[A-Z]\w+$/),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.object({ severity: z.enum(["page", "ticket"]) }),
          annotations: z.object({ summary: z.string().min(1) }),
        }),
      ),
    }),
  ),
});

const Dashboard = z.object({
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
  annotations: z.object({ list: z.array(z.object({ expr: z.string() })) }),
});

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const alerts = Alerts.parse(parse(read(ALERTS))).groups.flatMap(({ rules }) => rules);
const { panels, annotations } = Dashboard.parse(JSON.parse(read(DASHBOARD)));

const metrics = new Map(Object.values<Metric>(METRICS).map((metric) => [metric.name, metric]));
/** Labels that Prometheus adds, and that of a histogram's buckets. */
const ADDED_LABELS = ["job", "instance", "le"];
/** The metric of a target that Prometheus itself makes. */
const OF_PROMETHEUS: Metric = { name: "up", kind: "gauge", labels: [], text: "" };
/** A metric with its selector, such as `antiphon_runs_running{mode="background"}`. */
const USES = /\b(up|(?:antiphon|process|nodejs)_\w+)\b(?:\{([^}]*)\})?/g;

/** What is wrong with the metrics that an expression names; empty if nothing is. */
function faultsOf(expr: string): readonly string[] {
  const used = [...expr.matchAll(USES)].map(([, name = "", selector = ""]) => ({ name, selector }));
  const known = used.flatMap(({ name }) => metricNamed(name) ?? []);
  const grouped = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
  const mayHave = new Set([...ADDED_LABELS, ...known.flatMap(({ labels }) => labels)]);
  return [
    ...(used.length === 0 ? [`no metric in ${expr}`] : []),
    ...used.flatMap(({ name }) => (metricNamed(name) === null ? [`no metric ${name}`] : [])),
    ...used.flatMap(({ name, selector }) => selectorFaults(metricNamed(name), selector)),
    ...grouped.flatMap((label) => (mayHave.has(label) ? [] : [`no label ${label} in ${expr}`])),
  ];
}

function metricNamed(name: string): Metric | null {
  if (name === OF_PROMETHEUS.name) return OF_PROMETHEUS;
  const histogram = metrics.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  return metrics.get(name) ?? (histogram?.kind === "histogram" ? histogram : null);
}

/** The values of a label are words of the metric's description. */
function selectorFaults(metric: Metric | null, selector: string): readonly string[] {
  if (metric === null) return [];
  return [...selector.matchAll(/(\w+)\s*=~?\s*"([^"]*)"/g)].flatMap(([, label = "", value = ""]) => {
    if (ADDED_LABELS.includes(label)) return [];
    if (!metric.labels.includes(label)) return [`no label ${label} of ${metric.name}`];
    if (label === "status" || label === "code") return [];
    return value
      .split("|")
      .flatMap((one) => (metric.text.includes(one) ? [] : [`no ${label} ${one} of ${metric.name}`]));
  });
}

test("faults of expressions are found", () => {
  expect(faultsOf("rate(antiphon_nothing_total[5m])")).toEqual(["no metric antiphon_nothing_total"]);
  expect(faultsOf('antiphon_runs_running{reason="x"}')).toEqual(["no label reason of antiphon_runs_running"]);
  expect(faultsOf('antiphon_runs_running{mode="sideways"}')).toEqual(["no mode sideways of antiphon_runs_running"]);
  expect(faultsOf("sum by (colour) (antiphon_runs_queued)")).toHaveLength(1);
  expect(faultsOf("rate(antiphon_runs_queued_bucket[5m])")).toEqual(["no metric antiphon_runs_queued_bucket"]);
});

test("every metric, label and value that an alert names exists", () => {
  verifies("deploy.monitoring.names-what-exists");
  expect(alerts.flatMap(({ alert, expr }) => faultsOf(expr).map((fault) => `${alert}: ${fault}`))).toEqual([]);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

test("every metric, label and value that the dashboard names exists", () => {
  verifies("deploy.monitoring.names-what-exists");
  const targets = panels.flatMap(({ title, targets: shown = [] }) => shown.map((target) => ({ title, ...target })));
  expect(targets.length).toBeGreaterThan(30);
  const faults = targets.flatMap(({ title, expr }) => faultsOf(expr).map((fault) => `${title}: ${fault}`));
  expect([...faults, ...annotations.list.flatMap(({ expr }) => faultsOf(expr))]).toEqual([]);
  for (const { expr, legendFormat } of targets)
    for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      if (label !== "instance") expect(expr, legendFormat).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
});

test("no two panels of the dashboard lie on each other", () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const [index, { title, gridPos: one }] of panels.entries())
    for (const { title: other, gridPos: two } of panels.slice(index + 1)) {
      const isApart =
        one.x + one.w <= two.x || two.x + two.w <= one.x || one.y + one.h <= two.y || two.y + two.h <= one.y;
      expect(isApart, `${title} and ${other}`).toBe(true);
    }
});

test("the page on incidents has a row for each alert, whose pictures and settings exist", () => {
  verifies("deploy.monitoring.names-what-exists");
  const page = read("docs/incident.md");
  const rows = [...page.matchAll(/^\| `(Antiphon\w+)` \| (.*) \|$/gm)].map(([, alert = "", text = ""]) => ({
    alert,
    text,
  }));
  expect(rows.map(({ alert }) => alert)).toEqual(alerts.map(({ alert }) => alert));
  const titles = new Set(panels.map(({ title }) => title));
  const settings = new Set(Object.values(SETTINGS).map(({ name }): string => name));
  for (const { text } of rows) {
    for (const [, title = ""] of text.matchAll(/\*([^*]+)\*/g)) expect(titles).toContain(title);
    for (const [, setting = ""] of text.matchAll(/`([A-Z][A-Z_]+)`/g)) expect(settings).toContain(setting);
  }
});

test.skipIf(!HAS_PROMTOOL)("promtool takes the alerts", () => {
  expect(execFileSync("promtool", ["check", "rules", join(ROOT, ALERTS)], { encoding: "utf8" })).toContain("SUCCESS");
});
