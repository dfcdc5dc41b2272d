import { expect, test } from "vitest";
import { findSystemFolders, installationsOf, partsElsewhere } from "./system-folders.ts";

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

test("of a Python elsewhere come its programs and libraries, and not the rest of its folder", () => {
  const parts = (folder: string): string[] => ["bin", "lib", "lib64", "pyvenv.cfg"].map((part) => `${folder}/${part}`);
  expect(partsElsewhere(["/srv/me/venv/bin/python3", "/srv/pythons/3.13/bin/python3.13"])).toEqual([
    ...parts("/srv/me/venv"),
    ...parts("/srv/pythons/3.13"),
  ]);
  expect(partsElsewhere(["/srv/me/venv/bin/python3", "/usr/bin/python3.13"])).toEqual(parts("/srv/me/venv"));
  for (const program of [
    "/usr/bin/python3",
    "/usr/local/bin/python3",
    "/opt/venv/bin/python3",
    "/bin/python3",
    "/srv/me/python3",
  ])
    expect(partsElsewhere([program])).toEqual([]);
});

test("programs in the sandbox can read the folder of the chosen Python, without what is secret in it", async () => {
  const { readable, hiddenPaths } = await findSystemFolders(["/opt/python/data"], "/opt/python/bin/python3");
  expect(readable).toContain("/opt/python");
  expect(hiddenPaths).toEqual(["/opt/python/data"]);
});
