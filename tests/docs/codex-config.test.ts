import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CODEX_FOLDER, CodexScratch } from "../clients/codex-exec.ts";
import { startTestServer } from "../kit/test-server.ts";
import { codeBlocks } from "./code-blocks.ts";
import { ROOT } from "./reader.ts";

const TEST_TIMEOUT_MS = 60_000;
const SCENARIO = "models: [my-model]\nfallback: planner\nscenarios: []";

const configurations = ["README.md", "docs/clients.md"]
  .flatMap((page) => codeBlocks(page, readFileSync(join(ROOT, page), "utf8")))
  .filter(({ language }) => language === "toml");

test.skipIf(!existsSync(join(CODEX_FOLDER, "node_modules"))).each(configurations)(
  "Codex answers with the config.toml of $place",
  async ({ code }) => {
    const server = await startTestServer({ scenario: SCENARIO });
    const scratch = await CodexScratch.open(server, { whole: code.replaceAll("http://127.0.0.1:8080", server.url) });
    onTestFinished(() => scratch.close());
    const run = await scratch.exec("Say hello");
    expect(run.lastMessage, run.stderr).toBe("hello");
  },
  TEST_TIMEOUT_MS,
);
