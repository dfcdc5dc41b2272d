import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/kit/temporary-folder.ts";
import { makeFolder } from "./make-folder.ts";

test("a folder is made with those above it, for its owner alone, and once", () => {
  const folder = join(temporaryFolder(), "one/two");
  makeFolder(folder);
  makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a file and a link to nothing are no folders", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(folder, "nowhere"), join(folder, "link"));
  expect(() => makeFolder(join(folder, "file"))).toThrow(
    `Cannot use ${join(folder, "file")}: it is a file, not a folder.`,
  );
  expect(() => makeFolder(join(folder, "link"))).toThrow(
    `Cannot use ${join(folder, "link")}: it is a link to nothing.`,
  );
});

test.skipIf(process.platform !== "linux")("a folder below /proc is refused, and nothing hangs", () => {
  expect(() => makeFolder("/proc/antiphon/data")).toThrow("Cannot use /proc/antiphon: no folder can be made in /proc.");
});
