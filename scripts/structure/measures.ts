import { type ContextSize, contextSizes } from "../context-sizes.ts";
import { findKnots } from "../find-knots.ts";
import { type Module, readModule, type SourceFile } from "../import-graph.ts";
import { PAIR_OF_NAMES } from "../tidy-rules.ts";
import { functionNameFaults } from "../tree-rules.ts";
import { countParticiples } from "./declared-names.ts";

/** One line of the table. */
export interface Measure {
  readonly title: string;
  /** The value, and what it belongs to where that helps. */
  readonly value: string;
}

const TEST = /[.](test|fixture)[.]tsx?$|^(tests|contract-tests)\//;
const PRODUCT = /^(src|packages)\/.*[.]tsx?$/;
const PORTS = /(^|\/)ports(\/[\w-]+)?[.]ts$/;

/** Measures the hand-written TypeScript of a checkout. `pacts`: the texts of the committed pacts. */
export function measureStructure(files: readonly SourceFile[], pacts: readonly string[]): readonly Measure[] {
  const product = files.filter(({ path }) => PRODUCT.test(path) && !TEST.test(path));
  const tests = files.filter(({ path }) => TEST.test(path));
  const modules = product.map(readModule);
  const knots = findKnots(modules, ["src", "packages"]);
  const context = largestContext(product);
  const ports = largestPorts(product, modules);
  return [
    {
      title: "knots of folders (folders in each)",
      value: `${knots.length}${knots.length === 0 ? "" : ` (${knots.map(({ folders }) => folders.length).join(", ")})`}`,
    },
    { title: "members of the largest context", value: `${context.members} (${context.name})` },
    {
      title: "importers of the largest file of ports",
      value: `${ports.importers} (${ports.path}, ${ports.lines} lines)`,
    },
    { title: "lines of src and packages, without tests", value: thousands(linesOf(product)) },
    { title: "lines of tests", value: thousands(linesOf(tests)) },
    { title: "lines of pacts", value: thousands(pacts.reduce((sum, text) => sum + lineCount(text), 0)) },
    { title: "names that are a bare participle", value: `${countParticiples(product).percent.toFixed(1)} %` },
    { title: "statements that give several names values", value: String(countLines(product, PAIR_OF_NAMES)) },
    {
      title: "function names in more than three files",
      value: String(functionNameFaults(product.map(({ path, code }) => ({ path, text: code }))).length),
    },
  ];
}

function lineCount(text: string): number {
  return text.split("\n").length - 1;
}

function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { code }) => sum + lineCount(code), 0);
}

function thousands(count: number): string {
  return count.toLocaleString("en");
}

function countLines(files: readonly SourceFile[], pattern: RegExp): number {
  return files.flatMap(({ code }) => code.split("\n")).filter((line) => pattern.test(line)).length;
}

function largestContext(files: readonly SourceFile[]): Pick<ContextSize, "name" | "members"> {
  const largest = contextSizes(files).toSorted((one, other) => other.members - one.members);
  return largest[0] ?? { name: "none", members: 0 };
}

interface Ports {
  readonly path: string;
  readonly lines: number;
  readonly importers: number;
}

function largestPorts(files: readonly SourceFile[], modules: readonly Module[]): Ports {
  const all = files
    .filter(({ path }) => PORTS.test(path))
    .map(({ path, code }) => ({
      path,
      lines: lineCount(code),
      importers: modules.filter(({ imports }) => imports.some(({ to }) => to === path)).length,
    }));
  return all.toSorted((one, other) => other.importers - one.importers)[0] ?? { path: "none", lines: 0, importers: 0 };
}
