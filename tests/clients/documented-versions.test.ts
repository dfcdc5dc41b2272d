import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { CODEX_FOLDER } from "./codex-exec.ts";
import { installedVersion } from "./installed-version.ts";

test("docs/clients.md names the installed versions", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/clients.md"), "utf8");
  for (const name of [
    "openai",
    "ai",
    "@ai-sdk/openai",
    "@openai/agents",
    "@langchain/openai",
    "@anthropic-ai/sdk",
    "@ai-sdk/anthropic",
    "@ai-sdk/openai-compatible",
  ])
    expect(page).toContain(` ${installedVersion(name)}`);
  expect(page).toContain(` ${installedVersion("@openai/codex", CODEX_FOLDER)} |`);
  const python = readFileSync(resolve(import.meta.dirname, "python/requirements.txt"), "utf8");
  const aider = readFileSync(resolve(import.meta.dirname, "python/aider-requirements.txt"), "utf8");
  expect(page).toContain(`| \`aider\` (\`aider-chat\`) | ${/^aider-chat==(.+)$/m.exec(aider)?.[1]} |`);
  const realtime = readFileSync(resolve(import.meta.dirname, "python/realtime-requirements.txt"), "utf8");
  for (const name of ["livekit-plugins-openai", "pipecat-ai"])
    expect(page).toContain(`| \`${name}\` | ${new RegExp(`^${name}==(.+)$`, "m").exec(realtime)?.[1]} |`);
  for (const name of ["openai", "openai-agents", "anthropic", "pydantic-ai-slim"])
    expect(page).toContain(`| \`${name}\` for Python | ${new RegExp(`^${name}==(.+)$`, "m").exec(python)?.[1]} |`);
});
