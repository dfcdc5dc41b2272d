import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../tests/kit/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "..");
const COMPILER_OPTIONS = { strict: true, noEmit: true, target: "esnext", module: "nodenext" };

const FIVE_PARAMETERS = "export function sum(a: number, b: number, c: number, d: number, e: number): number {\n";
const SIGNAL = 'export type Signal = "red" | "amber" | "green";\n';

const SAMPLES: Readonly<Record<string, string>> = {
  "five-parameters.ts": `${FIVE_PARAMETERS}  return a + b + c + d + e;\n}\n`,
  "four-parameters.ts": `${FIVE_PARAMETERS.replace(", e: number", "")}  return a + b + c + d;\n}\n`,
  "missing-case.ts": `${SIGNAL}${switchOver('    case "red":\n      return 1;\n    default:\n      return 0;\n')}`,
  "every-case.ts": `${SIGNAL}${switchOver(
    ["red", "amber", "green"].map((name, index) => `    case "${name}":\n      return ${index};\n`).join(""),
  )}`,
};

function switchOver(cases: string): string {
  return `export function numberOf(signal: Signal): number {\n  switch (signal) {\n${cases}  }\n}\n`;
}

test("oxlint refuses a fifth parameter and a switch that leaves a variant out", () => {
  const folder = temporaryFolder();
  for (const [name, code] of Object.entries(SAMPLES)) writeFileSync(join(folder, name), code);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  const oxlint = join(ROOT, "node_modules/.bin/oxlint");
  const parameters = ["--type-aware", "--format=unix", "-c", join(ROOT, ".oxlintrc.json"), "."];
  const { stdout } = spawnSync(oxlint, parameters, { cwd: folder, encoding: "utf8" });
  const found = stdout.split("\n").flatMap((line) => {
    const [, file, rule] = /([\w-]+[.]ts):\d+.*[[/(]([\w-]+)[)\]]+$/.exec(line) ?? [];
    return file === undefined || rule === undefined ? [] : [`${file} ${rule}`];
  });
  expect(found.toSorted(), stdout).toEqual([
    "five-parameters.ts max-params",
    "missing-case.ts switch-exhaustiveness-check",
  ]);
});
