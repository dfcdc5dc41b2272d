import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/kit/temporary-folder.ts";
import { verifies } from "../../../tests/verifies.ts";
import { loadConfig } from "../load-config.ts";
import { FILE_NAMES, nearMisses } from "./variable-names.ts";

test("a name in .env that is not a setting is told with the other mistakes, and with the nearest right one", () => {
  verifies("config.env-file.wrong-names-are-named");
  const environment = { PORT: "many", [FILE_NAMES]: ["PORT", "MODEL_BASEURL", "model_base_url", "COLOUR", "API_KEY"] };
  expect(() => loadConfig(environment, ["--prot", "1"])).toThrow(
    [
      "The configuration cannot be used:",
      "  --prot is not a setting. Did you mean --port?",
      "  PORT is 'many', which is not a whole number from 0 to 65535.",
      "  MODEL_BASEURL in .env is not a setting. Did you mean MODEL_BASE_URL?",
      "  model_base_url in .env is not a setting. Did you mean MODEL_BASE_URL?",
      "  COLOUR in .env is not a setting. --help lists them.",
      "  API_KEY in .env is not a setting. Did you mean API_KEYS?",
    ].join("\n"),
  );
});

test("names of other programs may stand in .env, and those that MCP_SERVERS_FILE refers to", () => {
  const folder = temporaryFolder();
  const file = join(folder, "mcp.yaml");
  writeFileSync(file, 'servers: { tickets: { url: http://t, headers: { Authorization: "Bearer ${TICKETS_TOKEN}" } } }');
  const names = ["NODE_ENV", "https_proxy", "ANTIPHON_API_KEY", "COMPOSE_PROJECT_NAME", "TICKETS_TOKEN"];
  expect(loadConfig({ MCP_SERVERS_FILE: file, [FILE_NAMES]: names }, []).mcpServersFile).toBe(file);
  expect(() => loadConfig({ [FILE_NAMES]: names }, [])).toThrow(/:\n {2}TICKETS_TOKEN in .env is not a setting[^\n]*$/);
});

test.each([
  ["MODEL_BASEURL", "MODEL_BASE_URL"],
  ["model_base_url", "MODEL_BASE_URL"],
  ["API_KEY", "API_KEYS"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["NODE_NAMES", "NODE_NAME"],
])("the variable %s is a near miss", (variable, setting) => {
  verifies("config.environment.near-misses-are-named");
  expect(nearMisses({ [variable]: "1" })).toEqual([{ variable, setting }]);
});

test("variables of others are no near misses, nor are settings, nor what .env sets", () => {
  const others = "HOME HOSTNAME USER PATH PWD SHLVL TERM NODE_ENV NODE_PATH XDG_DATA_DIRS NODE_HOME LOGNAME PORT".split(
    " ",
  );
  expect(nearMisses(Object.fromEntries(others.map((name) => [name, "1"])))).toEqual([]);
  expect(nearMisses({ MODEL_BASEURL: "1", [FILE_NAMES]: ["MODEL_BASEURL"] })).toEqual([]);
});
