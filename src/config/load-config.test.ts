import { hostname } from "node:os";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { ConfigError } from "./config-error.ts";
import { type Config, type Environment, loadConfig, shareConfig } from "./load-config.ts";
import { Secret } from "./secret.ts";
import { SETTINGS } from "./settings.ts";

function check(environment: Environment, expected: Partial<Config>, argv: readonly string[] = []): void {
  expect(loadConfig(environment, argv)).toMatchObject(expected);
}

function problemsOf(environment: Environment, argv: readonly string[] = []): readonly string[] {
  try {
    loadConfig(environment, argv);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("what is not set", () => {
  test("has its default", () => {
    check({}, { host: "127.0.0.1", port: 8080, sttPort: 8237, modelBaseUrl: null, apiKeys: [], dataDir: "./data" });
  });

  test("includes what is empty or blank", () => check({ PORT: "", HOST: "  " }, { port: 8080, host: "127.0.0.1" }));

  test("puts the database into the data folder, wherever that is", () => {
    check({}, { databaseFile: "data/antiphon.db" });
    check({ DATA_DIR: "/srv/antiphon" }, { databaseFile: "/srv/antiphon/antiphon.db" });
    check({ DATA_DIR: "/srv/antiphon", DATABASE_FILE: ":memory:" }, { databaseFile: ":memory:" });
  });

  test("checks replies against the contract everywhere but in production", () => {
    check({}, { validateReplies: true });
    check({ NODE_ENV: "production" }, { validateReplies: false });
    check({ NODE_ENV: "production", VALIDATE_REPLIES: "true" }, { validateReplies: true });
  });

  test("satisfies the bounds of its own setting", () => {
    for (const setting of Object.values(SETTINGS)) {
      if ((setting.kind !== "integer" && setting.kind !== "duration") || setting.default === null) continue;
      expect(setting.default, setting.name).toBeGreaterThanOrEqual(setting.min);
      expect(setting.default, setting.name).toBeLessThanOrEqual(setting.max);
    }
  });
});

describe("the name of a node", () => {
  test("is that of its machine unless set, and fits into labels and host names", () => {
    check({}, { nodeName: hostname() });
    check({ NODE_NAME: "antiphon-7.left_2" }, { nodeName: "antiphon-7.left_2" });
    const problem =
      "NODE_NAME is longer than 63 characters, or contains other characters than letters, digits, dots, hyphens and underscores.";
    expect(problemsOf({ NODE_NAME: 'a"b' })).toEqual([problem]);
    expect(problemsOf({ NODE_NAME: "a".repeat(64) })).toEqual([problem]);
  });
});

describe("several processes", () => {
  test("are one unless set, and at least one if they follow the cores of the machine", () => {
    check({}, { processes: 1 });
    check({ PROCESSES: "4" }, { processes: 4 });
    expect(loadConfig({ PROCESSES: "auto" }, []).processes).toBeGreaterThanOrEqual(1);
    expect(problemsOf({ PROCESSES: "many" })).toEqual([
      "PROCESSES is 'many', which is neither auto nor a whole number from 1 to 64.",
    ]);
  });

  test("cannot share a database in memory", () => {
    expect(problemsOf({ PROCESSES: "2", DATABASE_FILE: ":memory:" })).toEqual([
      "PROCESSES is 2, but DATABASE_FILE is :memory:, which processes cannot share.",
    ]);
  });

  test("each get their part of the limits, rounded up, and room for the largest body", () => {
    const config = loadConfig({ RUNS_MAX: "10", RUN_QUEUE_MAX: "0", BODY_BYTES_MAX: "100000000" }, []);
    expect(shareConfig(config, 4)).toMatchObject({ runsMax: 3, runQueueMax: 0, incomingBytesMax: 100_000_000 });
  });
});

describe("what is set", () => {
  test("is read by its kind", () => {
    check(
      { PORT: "0", FIND_LOCAL_DAEMON: "No", MODEL_BASE_URL: "https://models.example/v1", MODEL_PROFILE: "generic" },
      { port: 0, findLocalDaemon: false, modelBaseUrl: "https://models.example/v1", modelProfile: "generic" },
    );
  });

  test("may be a list of keys, with spaces around the commas", () => {
    expect(loadConfig({ API_KEYS: "one, two" }, []).apiKeys.map((key) => key.reveal())).toEqual(["one", "two"]);
  });

  test("may be a duration with its unit", () => {
    check({ DRAIN_MS: "2s", RESPONSES_TTL: "36h" }, { drainMs: 2_000, responsesTtlMs: 129_600_000 });
    check({ DRAIN_MS: "250ms", RESPONSES_TTL: "0" }, { drainMs: 250, responsesTtlMs: 0 });
    check({}, { responsesTtlMs: 2_592_000_000 });
  });

  test("comes from flags before it comes from the environment", () => {
    check({ PORT: "1000" }, { port: 2000 }, ["--port", "2000"]);
    check({ PORT: "1000" }, { port: 2000 }, ["--port=2000"]);
    check({}, { findLocalDaemon: true, validateReplies: false }, ["--find-local-daemon", "--validate-replies=false"]);
  });

  test("may be a boolean flag with its value behind it, or without one", () => {
    verifies("config.flags.boolean-values");
    check({}, { findLocalDaemon: false, port: 1 }, ["--find-local-daemon", "false", "--port", "1"]);
    check({}, { findLocalDaemon: true, websocketMode: false }, ["--find-local-daemon", "--websocket-mode", "off"]);
  });

  test("cannot be changed afterwards", () => {
    expect(Object.isFrozen(loadConfig({}, []))).toBe(true);
  });
});

describe("what cannot be read", () => {
  test("is told all at once", () => {
    expect(problemsOf({ PORT: "65536", LOG_LEVEL: "loud", FIND_LOCAL_DAEMON: "maybe", RUNS_MAX: "1e3" })).toEqual([
      "PORT is '65536', which is not a whole number from 0 to 65535.",
      "FIND_LOCAL_DAEMON is 'maybe', which is neither true nor false.",
      "RUNS_MAX is '1e3', which is not a whole number from 1 to 1000000.",
      "LOG_LEVEL is 'loud', which is none of trace, debug, info, warn, error, fatal, silent.",
    ]);
  });

  test("is a bare number where it might be taken for days", () => {
    expect(problemsOf({ RESPONSES_TTL: "30", DRAIN_MS: "2 s" })).toEqual([
      "DRAIN_MS is '2 s', which is not a whole number of milliseconds from 0 to 600000.",
      "RESPONSES_TTL is '30', which is neither 0 nor a whole number with its unit: ms, s, m, h or d.",
    ]);
  });

  test("is told together with flags that are none", () => {
    expect(problemsOf({ DRAIN_MS: "-1" }, ["--prot", "1", "--model-api-key=hush", "--host", "--port"])).toEqual([
      "--prot is not a setting. Did you mean --port?",
      "--model-api-key is not a flag: MODEL_API_KEY is a secret, and other users can read command lines. Set it in the environment or in .env.",
      "--host has no value.",
      "DRAIN_MS is '-1', which is not a whole number of milliseconds from 0 to 600000.",
    ]);
  });

  test("is told with the boolean flag that it stands behind", () => {
    verifies("config.flags.boolean-values");
    expect(problemsOf({}, ["--find-local-daemon", "maybe", "--port", "1", "2"])).toEqual([
      "Argument 5 is not a flag.",
      "FIND_LOCAL_DAEMON (--find-local-daemon) is 'maybe', which is neither true nor false.",
    ]);
  });

  test("is not repeated where it may hold a secret", () => {
    const problems = problemsOf({
      MODEL_API_KEY: "hush hush",
      API_KEYS: "hush,,hush",
      MODEL_BASE_URL: "hush:hush@host",
    });
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain("hush");
  });
});

test("a secret shows itself to those who ask for it, and to nothing else", () => {
  const { modelApiKey } = loadConfig({ MODEL_API_KEY: "hush" }, []);
  const holder = { modelApiKey };
  expect(modelApiKey).toBeInstanceOf(Secret);
  expect(modelApiKey?.reveal()).toBe("hush");
  for (const shown of [JSON.stringify(holder), inspect(holder), String(modelApiKey)]) {
    expect(shown).toContain("[secret]");
    expect(shown).not.toContain("hush");
  }
});
