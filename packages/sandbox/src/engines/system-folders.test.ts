import { expect, test } from "vitest";
import { findSystemFolders, installationsOf } from "./system-folders.ts";

function check(programs: readonly string[], folders: readonly string[]): void {
  expect(installationsOf(programs)).toEqual(folders);
}

test("a Python with a folder of its own brings that, and a virtual environment its Python's too", () => {
  check(["/usr/local/python3.13/bin/python3"], ["/usr/local/python3.13"]);
  check(["/opt/venv/bin/python", "/usr/local/python/3.13/bin/python3.13"], ["/opt/venv", "/usr/local/python/3.13"]);
});

test("a Python among the system's programs brings nothing, and neither does one in a home", () => {
  check(["/usr/bin/python3", "/usr/bin/python3.13"], []);
  check(["/usr/local/bin/python3", "/usr/local/lib/python/bin/python3", "/opt/python3"], []);
  check(["/srv/bin/python3", "/srv/me/venv/bin/python3", "/python3"], []);
});

test("programs in the sandbox can read the folder of the chosen Python, without what is secret in it", async () => {
  const { readable, hiddenPaths } = await findSystemFolders(["/opt/python/data"], "/opt/python/bin/python3");
  expect(readable).toContain("/opt/python");
  expect(hiddenPaths).toEqual(["/opt/python/data"]);
});
