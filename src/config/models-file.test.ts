import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../tests/kit/temporary-folder.ts";
import { verifies } from "../../tests/verifies.ts";
import { ConfigError } from "./config-error.ts";
import { modelsFileSchema, readModelsFile } from "./models-file.ts";

function write(text: string): string {
  const file = join(temporaryFolder(), "models.yaml");
  writeFileSync(file, text);
  return file;
}

function problemsOf(text: string): readonly string[] {
  const file = write(text);
  try {
    readModelsFile(file, {});
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => problem.replace(`MODELS_FILE ${file}`, "").trim());
  }
  return [];
}

test("five lines are a whole file", () => {
  verifies("models.file.short-form");
  const file = write(`servers:
  local: { url: "http://127.0.0.1:11434/v1" }
  hosted: { url: "https://api.example.com/v1", api_key_env: HOSTED_KEY }
models:
  chat: [local/qwen3, hosted/large]
`);
  const { servers, models, defaultModel } = readModelsFile(file, { HOSTED_KEY: "sk-hosted" });
  expect(servers.map(({ name, url, apiKey }) => [name, url, apiKey?.reveal() ?? null])).toEqual([
    ["local", "http://127.0.0.1:11434/v1", null],
    ["hosted", "https://api.example.com/v1", "sk-hosted"],
  ]);
  expect(models).toMatchObject([
    {
      name: "chat",
      spread: false,
      listed: true,
      route: [
        { server: "local", model: "qwen3", weight: 1 },
        { server: "hosted", model: "large", weight: 1 },
      ],
    },
  ]);
  expect(defaultModel).toBeNull();
});

describe("a mistake is named with its place", () => {
  verifies("models.file.mistakes-have-places");
  const servers = `servers:\n  local: { url: "http://127.0.0.1/v1" }\n`;
  test.each<[string, string, string]>([
    ["no YAML", "servers: [", "line 1, column 11 "],
    [
      "an unknown member of a server",
      `servers:\n  local:\n    url: http://127.0.0.1/v1\n    colour: red\nmodels: {}`,
      "line 4, column 5: servers.local.colour is unknown",
    ],
    [
      "no URL",
      "servers:\n  local: { url: here }\nmodels: {}",
      "line 2, column 12: servers.local.url should be an http",
    ],
    ["a missing URL", "servers:\n  local: {}\nmodels: {}", "line 2, column 3: servers.local.url is missing"],
    [
      "an unknown member of a model",
      `${servers}models:\n  fast:\n    route: local/a\n    temprature: 1`,
      "line 6, column 5: models.fast.temprature is unknown",
    ],
    [
      "a route without a server",
      `${servers}models:\n  fast:\n    route: [local/a, b]`,
      "line 5, column 22: models.fast.route[1] should be a server and its model",
    ],
    [
      "a server that is not there",
      `${servers}models: { fast: other/a }`,
      ": models.fast leads to 'other', which is no",
    ],
    ["two patterns in one", `${servers}models: { "a*b*": local/a }`, ": models.a*b* has more than one *"],
    ["an unknown default", `${servers}models: {}\ndefault: fast`, ": default is 'fast', which is no model"],
    [
      "a missing variable",
      `servers:\n  local: { url: "http://a/v1", api_key_env: NO_SUCH_KEY }\nmodels: {}`,
      ": servers.local.api_key_env uses the variable NO_SUCH_KEY, which is not set",
    ],
  ])("%s", (_title, text, problem) => {
    expect(problemsOf(text)[0]).toContain(problem);
  });
});

test("the published schema knows all members", () => {
  const schema = JSON.stringify(modelsFileSchema());
  for (const member of ["api_key_env", "requests_max", "spread", "owners", "default"])
    expect(schema).toContain(`"${member}"`);
});
