import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runModelsCommand } from "../../src/commands/models-command.ts";
import { readModelsFile } from "../../src/config/models-file.ts";
import { serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { says } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { resets } from "./several-servers.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/models.md"), "utf8");
const [short = "", long = ""] = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, text = ""]) => text);

function write(text: string): string {
  const file = join(temporaryFolder(), "models.yaml");
  writeFileSync(file, text);
  return file;
}

test("the five lines of the documentation serve one name by two servers", async () => {
  verifies("models.file.short-form");
  const [local, hosted] = [await serveChat(resets), await serveChat(says("From the hosted one"))];
  const file = write(
    short.replace("http://127.0.0.1:11434", local.origin).replace("https://api.example.com", hosted.origin),
  );
  expect(short.trim().split("\n")).toHaveLength(5);
  process.env["HOSTED_KEY"] = "sk-hosted";
  onTestFinished(() => void delete process.env["HOSTED_KEY"]);
  const server = await startTestServer({ env: { MODELS_FILE: file } });
  const reply = await server.post("/v1/responses", { model: "chat", input: "Hi" });
  expect(await reply.text()).toContain("From the hosted one");
  const turn = hosted.calls.find(({ body }) => body !== "");
  expect([turn?.headers.authorization, JSON.parse(turn?.body ?? "").model]).toEqual(["Bearer sk-hosted", "large"]);
});

test("the longer file of the documentation can be used, and its command says what names lead to", () => {
  verifies("models.file.command");
  const file = write(long);
  writeFileSync(join(file, "../hosted.key"), "sk-hosted\n");
  const environment = { TEAM: "blue", MODELS_FILE: file };
  expect(readModelsFile(file, environment).models).toHaveLength(7);
  const printed: string[] = [];
  const run = (...argv: string[]): string => {
    printed.length = 0;
    runModelsCommand(argv, environment, { print: (text) => printed.push(text) });
    return printed.join("\n");
  };
  expect(run()).toContain("research  hosted/large, then local/qwen3  (for acme, globex/web)");
  expect(run()).toContain("Other names lead to fast.");
  expect(run("claude-sonnet-9")).toContain("claude-*  hosted/large  (hidden)");
  const json = run("--json");
  expect(json).toContain('"has_key": true');
  expect(json).not.toContain("sk-hosted");
  expect(json).not.toContain("blue");
  expect(JSON.parse(run("--schema"))).toEqual(
    JSON.parse(readFileSync(join(import.meta.dirname, "../../docs/models.schema.json"), "utf8")),
  );
  expect(() => run("--colour")).toThrow("Usage: antiphon models");
});
