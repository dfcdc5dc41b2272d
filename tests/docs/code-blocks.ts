import { basename } from "node:path";

/** A fenced block of a Markdown page. */
export interface CodeBlock {
  /** The page and the line of its fence, such as `docs/tools.md:30`. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
  readonly purpose: Purpose;
}

/** What the test does with a block. */
export type Purpose =
  /** What it prints, if the page says so, with `…` for anything in its line. */
  | { readonly kind: "run"; readonly prints: string | null }
  /** It is written to the file that its first line names. */
  | { readonly kind: "file"; readonly name: string }
  /** Another test runs it. */
  | { readonly kind: "run-elsewhere"; readonly test: string }
  | { readonly kind: "not-run"; readonly reason: string }
  /** It is no code, such as a configuration file. */
  | { readonly kind: "shown" };

const RUN_LANGUAGES: ReadonlySet<string> = new Set(["sh", "ts", "js", "python"]);
const FENCE = /^ *```([\w-]*)\s*$/;
const NOT_RUN = /^<!-- not run: (.+) -->$/;
const RUN_ELSEWHERE = /^<!-- run by (\S+) -->$/;
const FILE_NAME = /^(?:#|\/\/) ([\w.-]+\.[a-z]+)$/;

/** All fenced blocks of a page, in their order. Text right after a block that runs is what that block prints. */
export function codeBlocks(page: string, markdown: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | null = null;
  let above = ""; // The last line with text outside of blocks, since the block before.
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = FENCE.exec(line);
    if (open === null) {
      if (fence !== null) open = { language: fence[1] ?? "", line: index + 1, lines: [] };
      else if (line.trim() !== "") above = line.trim();
    } else if (fence === null) open.lines.push(line);
    else {
      const block = { language: open.language, code: `${open.lines.join("\n")}\n`, place: `${page}:${open.line}` };
      const before = blocks.at(-1);
      if (block.language === "text" && above === "" && before?.purpose.kind === "run")
        blocks[blocks.length - 1] = { ...before, purpose: { kind: "run", prints: block.code } };
      else blocks.push({ ...block, purpose: purposeOf(block, above) });
      [open, above] = [null, ""];
    }
  }
  return blocks;
}

function purposeOf({ language, code }: Pick<CodeBlock, "language" | "code">, above: string): Purpose {
  const [, reason] = NOT_RUN.exec(above) ?? [];
  if (reason !== undefined) return { kind: "not-run", reason };
  const [, test] = RUN_ELSEWHERE.exec(above) ?? [];
  if (test !== undefined) return { kind: "run-elsewhere", test };
  const [, name] = FILE_NAME.exec(code.split("\n", 1)[0] ?? "") ?? [];
  if (name !== undefined) return { kind: "file", name: basename(name) };
  return RUN_LANGUAGES.has(language) ? { kind: "run", prints: null } : { kind: "shown" };
}

/** Matches output that holds these lines, one after the other. */
export function outputPattern(expected: string): RegExp {
  const lines = expected.trim().split("\n");
  const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(lines.map((line) => line.split("…").map(literal).join(".*")).join("\\s*\\n"));
}
