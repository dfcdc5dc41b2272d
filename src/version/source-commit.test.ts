import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../tests/kit/temporary-folder.ts";
import { sourceCommit } from "./source-commit.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A folder with these files in its `.git`. */
async function clone(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, ".git", name, ".."), { recursive: true });
    await writeFile(join(folder, ".git", name), text);
  }
  return folder;
}

test.each([
  ["a branch", { HEAD: "ref: refs/heads/main\n", "refs/heads/main": `${COMMIT}\n` }],
  ["a packed branch", { HEAD: "ref: refs/heads/main\n", "packed-refs": `# pack-refs\n${COMMIT} refs/heads/main\n` }],
  ["no branch", { HEAD: `${COMMIT}\n` }],
])("the commit of a clone on %s is known", async (_name, files) => {
  expect(sourceCommit(await clone(files))).toBe(COMMIT);
});

test("without a clone, or in a damaged one, there is no commit", async () => {
  expect(sourceCommit(await clone({}))).toBeNull();
  expect(sourceCommit(await clone({ HEAD: "ref: refs/heads/main\n" }))).toBeNull();
  expect(sourceCommit(await clone({ HEAD: "ref: ../../etc/passwd\n" }))).toBeNull();
});
