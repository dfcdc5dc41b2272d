import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";
import { PROVIDER_TITLES, type ProviderKind } from "../provider-titles.ts";
import { type Check, countsOf, type Report } from "./checks.ts";
import { renderReport } from "./render-report.ts";

const SUITES = join(import.meta.dirname, "..");
export const REPORT_DIR = join(SUITES, "../build/contract-report");
const ERROR_LINES_MAX = 20;

/** Prints a line for each file and each failed check, and publishes `report.json` and `index.html`. */
export class ContractReporter implements Reporter {
  readonly #startedAt = new Date();
  readonly #checks: Check[] = [];

  onTestModuleEnd(module: TestModule): void {
    const checks = [...module.children.allTests()].map(checkOf);
    const broken = module.errors().map((error) => brokenModule(module, error.message));
    const all = [...checks, ...broken];
    this.#checks.push(...all);
    const { held, failed, skipped } = countsOf(all);
    const seconds = (module.diagnostic().duration / 1000).toFixed(1).padStart(6);
    console.error(
      `${failed > 0 ? "FAILED" : "ok    "}${seconds} s ${String(held).padStart(4)} held${failed > 0 ? `, ${failed} failed` : ""}${skipped > 0 ? `, ${skipped} skipped` : ""}  ${relative(SUITES, module.moduleId)}`,
    );
    for (const { group, name, reasons } of all.filter(({ result }) => result === "failed"))
      console.error(
        `  ${group === "" ? "" : `${group}: `}${name}\n    ${reasons.join("\n").split("\n").slice(0, ERROR_LINES_MAX).join("\n    ")}`,
      );
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly { readonly message?: string }[]): void {
    const faults = unhandled.map(({ message = "an unknown error" }) => outside(message));
    for (const { reasons } of faults) console.error(`FAILED outside of every check: ${reasons.join("\n")}`);
    const report: Report = {
      startedAt: this.#startedAt.toISOString(),
      durationMs: Date.now() - this.#startedAt.getTime(),
      checks: [...this.#checks, ...faults],
    };
    mkdirSync(REPORT_DIR, { recursive: true });
    writeFileSync(join(REPORT_DIR, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
    writeFileSync(join(REPORT_DIR, "index.html"), renderReport(report));
  }
}

function checkOf(test: TestCase): Check {
  const blocks = blocksOf(test);
  const provider = providerOf(blocks);
  const result = test.result();
  return {
    suite: suiteOf(test.module),
    provider,
    group: blocks.filter((title) => provider === null || title !== `at ${PROVIDER_TITLES[provider]}`).join(": "),
    name: test.name,
    ...(result.state === "passed"
      ? { result: "held", reasons: [] }
      : result.state === "failed"
        ? { result: "failed", reasons: result.errors.map(({ message }) => message) }
        : {
            result: "skipped",
            reasons: [(result.state === "skipped" ? result.note : undefined) ?? blocks.at(0) ?? ""],
          }),
    durationMs: test.diagnostic()?.duration ?? 0,
  };
}

function blocksOf(test: TestCase): string[] {
  const titles: string[] = [];
  for (let parent = test.parent; parent.type === "suite"; parent = parent.parent)
    titles.unshift(parent.name.replace(/:$/, ""));
  return titles;
}

function providerOf(blocks: readonly string[]): ProviderKind | null {
  for (const kind of ["ours", "reference", "other"] as const)
    if (blocks.includes(`at ${PROVIDER_TITLES[kind]}`)) return kind;
  return null;
}

function suiteOf(module: TestModule): string {
  const [folder = "", file] = relative(SUITES, module.moduleId).split("/");
  return file === undefined ? "pacts" : folder;
}

function brokenModule(module: TestModule, message: string): Check {
  return {
    suite: suiteOf(module),
    provider: null,
    group: "",
    name: relative(SUITES, module.moduleId),
    result: "failed",
    reasons: [message],
    durationMs: 0,
  };
}

function outside(message: string): Check {
  return {
    suite: "pacts",
    provider: null,
    group: "",
    name: "outside of every check",
    result: "failed",
    reasons: [message],
    durationMs: 0,
  };
}
