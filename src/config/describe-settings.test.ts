import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { envExample, helpText, settingsTable } from "./describe-settings.ts";
import { loadConfig } from "./load-config.ts";
import { SETTINGS } from "./settings.ts";

test.each(Object.values(SETTINGS))("$name is in the help text, the example file and the table", ({ name, text }) => {
  for (const documentation of [helpText(), envExample(), settingsTable()]) {
    expect(documentation).toContain(name);
    expect(documentation).toContain(text);
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
