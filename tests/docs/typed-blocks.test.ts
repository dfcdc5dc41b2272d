import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { type CodeBlock, codeBlocks } from "./code-blocks.ts";
import { ROOT } from "./reader.ts";

const COMPILE_MS_MAX = 120_000;
const run = promisify(execFile);

/** As a reader's project has it; the client's two packages are read from their sources. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: "esnext",
    lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"],
    module: "nodenext",
    types: ["node"],
    paths: Object.fromEntries(
      ["antiphon-client", "antiphon/client"].flatMap((name) => [
        [name, [join(ROOT, "packages/client/src/index.ts")]],
        [`${name}/chat`, [join(ROOT, "packages/client/src/chat/index.ts")]],
      ]),
    ),
  },
};

const blocks = ["README.md", ...globSync("{docs,packages/client,examples}/**/*.md", { cwd: ROOT })]
  .flatMap((page) => codeBlocks(page, readFileSync(join(ROOT, page), "utf8")))
  .filter(({ language }) => /^(ts|js)$/.test(language));

/** What the compiler says about the blocks. Each is named by its page and line. */
async function complaints(all: readonly Pick<CodeBlock, "code" | "language" | "place">[]): Promise<string> {
  const folder = temporaryFolder();
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  for (const { place, language, code } of all)
    await writeFile(join(folder, `${place.replaceAll("/", "-").replace(":", "-line-")}.${language}`), code);
  const compiled = run(join(ROOT, "node_modules/.bin/tsc"), ["-p", "."], { cwd: folder });
  return compiled.then(
    () => "",
    (error: unknown) => (error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)),
  );
}

test(
  "the TypeScript and JavaScript of README.md and docs/ compile with the packages that they name",
  async () => {
    expect(blocks.length).toBeGreaterThan(10);
    expect(await complaints(blocks)).toBe("");
  },
  COMPILE_MS_MAX,
);

test(
  "a block with a member that the SDK does not know is found",
  async () => {
    const code = 'import OpenAI from "openai";\nawait new OpenAI().responses.create({ model: "m", inputs: "Hi" });\n';
    expect(await complaints([{ place: "docs/a.md:7", language: "ts", code }])).toContain("docs-a.md-line-7.ts");
  },
  COMPILE_MS_MAX,
);
