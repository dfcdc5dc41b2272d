import { expect, test } from "vitest";
import { runRunsCommand } from "../../src/commands/runs-command.ts";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

test("runs are listed, shown and followed in a terminal", async () => {
  verifies("inspection.command.runs");
  const { server, create } = await serveBehind(says("Hello \u001b[31mAda"), { KEEP_EXCHANGES: "stored" });
  const { id }: { id: string } = JSON.parse(await (await create({ input: "Greet Ada" })).text());
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const run = async (...argv: readonly string[]) => {
    const printed: string[] = [];
    const noted: string[] = [];
    const outputs = { print: (text: string) => void printed.push(text), note: (text: string) => void noted.push(text) };
    const code = await runRunsCommand(argv, environment, outputs, new AbortController().signal);
    return { code, text: printed.join("\n"), noted: noted.join("\n") };
  };
  const listed = await run("list", "--status", "completed", "--query", "greet");
  expect(listed.code).toBe(0);
  expect(listed.text).toMatch(new RegExp(`completed +plain .*${id}  m .*"Greet Ada" → "Hello .*Ada"`));
  expect(listed.text).not.toContain("\u001b");
  expect((await run("list", "--model", "other")).text).toBe("");
  const json = await run("list", "--json");
  expect(JSON.parse(json.text)).toMatchObject({ id, object: "response.summary" });
  await expect.poll(async () => (await run("show", id, "--exchanges")).text).toContain("/v1/chat/completions");
  const shown = await run("show", id, "--events");
  expect(shown.text).toContain("Ada");
  expect(shown.text).toMatch(/0 +\d+ ms {2}response\.created/);
  await create({ input: "And Bob", previous_response_id: id });
  expect((await run("list", "--previous", id)).text).toMatch(/^[^\n]*"And Bob" → [^\n]*$/);
  expect((await run("list", "--conversation", "conv_none")).text).toBe("");
  expect((await run("tail", id)).text).toContain("response.completed");
  expect(await run("show", "resp_unknown")).toMatchObject({ code: 2, noted: expect.stringContaining("not found") });
  expect(await run("list", "--status", "odd")).toMatchObject({ code: 2, text: "" });
});

test("tail tells of new runs until it is stopped", async () => {
  verifies("inspection.command.runs");
  const { server, create } = await serveBehind(says("Hello"));
  const stopping = new AbortController();
  const printed: string[] = [];
  const outputs = { print: (text: string) => void printed.push(text), note: () => {} };
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  await create({ input: "before" });
  const ended = runRunsCommand(["tail"], environment, outputs, stopping.signal);
  await expect
    .poll(
      async () => {
        await create({ input: "after" });
        return printed.join("\n");
      },
      { interval: 300, timeout: 10_000 },
    )
    .toContain("after");
  stopping.abort();
  expect(await ended).toBe(0);
  expect(printed.join("\n")).not.toContain("before");
});
