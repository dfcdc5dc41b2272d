import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { envExample, helpText, settingsTable } from "./describe-settings.ts";
import { loadConfig } from "./load-config.ts";
import { SETTINGS } from "./settings.ts";

test.each(Object.values(SETTINGS))("$name is in the help text, the example file and the table", ({ name, text }) => {
  for (const documentation of [helpText(), envExample(), settingsTable()]) {
    expect(documentation).toContain(name);
    expect(documentation).toContain(text);
  }
});

/** This file passes a few system variables to other programs, and none of ours. */
const PASSING_ON = ["packages/programs/src/inherited-environment.ts"];

test("no variable is read that is not documented, and none elsewhere", async () => {
  verifies("config.table.one-typed-table");
  const read = new Set<string>();
  const recording = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_nothing, name) => {
        if (typeof name === "string") read.add(name);
        return undefined;
      },
    },
  );
  loadConfig(recording, []);
  const names: ReadonlySet<string> = new Set(Object.values(SETTINGS).map(({ name }) => name));
  expect([...names].filter((name) => !read.has(name))).toEqual([]);
  const others = [...read].filter((name) => !names.has(name));
  expect(others.toSorted()).toEqual([
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NODE_ENV",
    "NO_COLOR",
    "XDG_CACHE_HOME",
  ]);
  for (const name of others) expect(settingsTable()).toContain(name);

  const source = join(import.meta.dirname, "../..");
  const exclude = ["**/*.test.ts", "**/*.fixture.ts"];
  const files = await Array.fromAsync(glob("{src,packages/*/src}/**/*.ts", { cwd: source, exclude }));
  expect(files.length).toBeGreaterThan(300);
  const readers = files.filter((file) =>
    /process\.env\b|\benv\b.*from "node:process"/.test(readFileSync(join(source, file), "utf8")),
  );
  expect(readers.toSorted()).toEqual([...PASSING_ON, "src/config/environment/read-environment.ts"]);
});

test("every setting has a kind, a meaning and a default", () => {
  verifies("config.table.one-typed-table");
  for (const { name, kind, text, default: value } of Object.values(SETTINGS)) {
    expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/);
    expect(kind, name).toMatch(/^[a-z]+$/);
    expect(text.length, name).toBeGreaterThan(20);
    expect(value, name).toBeDefined();
  }
});

test("the example file changes nothing, even with every line uncommented", () => {
  expect(parseEnv(envExample())).toEqual({});
  const uncommented = parseEnv(envExample().replaceAll(/^#(?=[A-Z])/gm, ""));
  expect(Object.keys(uncommented)).toHaveLength(Object.keys(SETTINGS).length);
  expect(loadConfig(uncommented, [])).toEqual(loadConfig({}, []));
});

test("secrets have no flag, for everyone on the machine can read a command line", () => {
  expect(helpText()).toContain("--model-base-url, MODEL_BASE_URL");
  expect(helpText()).not.toContain("--model-api-key");
  expect(helpText()).not.toContain("--api-keys");
});
