import { join } from "node:path";
import { expect, test } from "vitest";
import { runRunsCommand } from "../../src/commands/runs-command.ts";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { COUNTS, chunks, says, serveBehind } from "../responses/behind-upstream.ts";
import { readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

test("runs are listed, shown and followed in a terminal", async () => {
  verifies("inspection.command.runs");
  const { server, create } = await serveBehind(says("Hello \u001b[31mAda"), { KEEP_EXCHANGES: "stored" });
  const { id }: { id: string } = JSON.parse(await (await create({ input: "Greet Ada" })).text());
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const run = async (...argv: readonly string[]) => await runOn(null, environment, argv);
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

test("the key of a server on this machine is found, and is sent to no other", async () => {
  verifies("inspection.command.finds-key");
  const folder = temporaryFolder();
  const { server, create } = await serveBehind(says("Hello"), { DATA_DIR: folder });
  const { id }: { id: string } = JSON.parse(await (await create({ input: "Greet Ada" })).text());
  const here = { PORT: new URL(server.url).port, DATA_DIR: folder };
  expect(await runOn(null, here, ["list"])).toMatchObject({ code: 0, text: expect.stringContaining(id) });
  const configured = { ANTIPHON_URL: `${server.url}/v1`, API_KEYS: `${server.apiKey}=acme/web,other` };
  expect((await runOn(null, configured, ["list"])).code).toBe(0);
  const elsewhere = await runOn(null, { ...here, DATA_DIR: join(folder, "none") }, ["list"]);
  expect(elsewhere).toMatchObject({ code: 2, noted: expect.stringContaining("ANTIPHON_API_KEY or --key-file FILE") });
  const sent: (string | undefined)[] = [];
  const other = await serveHttp((request, response) => {
    sent.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  const address = `http://0.0.0.0:${other.port}`; // The same machine under a name that may be another's.
  expect((await runOn(null, { ...here, ANTIPHON_URL: address }, ["list"])).code).toBe(2);
  expect(sent).toEqual([undefined]);
});

test("a run fits a terminal in three lines, with colour unless NO_COLOR is set", async () => {
  verifies("inspection.command.runs");
  const { server, create } = await serveBehind(says("Good \u001b[31mmorning, Ada. ".repeat(20)));
  const { id }: { id: string } = JSON.parse(await (await create({ input: "Greet Ada at length, please" })).text());
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const plain = await runOn(80, { ...environment, NO_COLOR: "1" }, ["list"]);
  const [facts, shownId, preview, ...more] = plain.text.split("\n");
  expect(facts).toMatch(/^\d\d-\d\d \d\d:\d\d:\d\d {2}completed +plain +\d+ ms {2}m/);
  expect(shownId?.trim()).toBe(id);
  expect(preview?.trim()).toMatch(/^Greet Ada at length, please → Good \uFFFD\[31mmorning.*…$/);
  expect(preview).toHaveLength(80);
  expect(more).toEqual([]);
  expect((await runOn(80, environment, ["list"])).text).toContain("\u001b[32mcompleted");
});

test("the failure of a run is told as its end, and events of one type as one line", async () => {
  verifies("inspection.command.runs");
  const { server, create } = await serveBehind((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(textChunk("I"), textChunk(" was"), textChunk(" about"), { error: { message: "It broke." } }));
  });
  const { id } = (await readStream(await create({ stream: true }))).final;
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const told = await runOn(null, environment, ["tail", id]);
  expect(told).toMatchObject({ code: 0, noted: "", text: expect.stringMatching(/\nfailed: .+$/) });
  expect((await runOn(null, environment, ["show", id, "--events"])).text).toMatch(/output_text\.delta × \d\n/);
});

test("a run that waited for its model says when, where and why", async () => {
  verifies("state.notes.of-what-happened");
  const saysDone = chunks(textChunk("Done."), lastChunk("stop"), COUNTS);
  let asked = 0;
  const { server, create } = await serveBehind(
    (response, call) => {
      asked += 1;
      return asked > 1 ? saysDone(response, call) : response.writeHead(500).end();
    },
    { NODE_NAME: "harbour" },
  );
  const { id } = (await readStream(await create({ background: true, stream: true }))).final;
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const shown = await runOn(null, environment, ["show", id, "--exchanges"]);
  expect(shown.text).toMatch(/\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}waited model: .* after \d\.\d s\. \(harbour\)$/);
  const json = await runOn(null, environment, ["show", id, "--exchanges", "--json"]);
  expect(JSON.parse(json.text.split("\n").at(-1) ?? "")).toMatchObject({ kind: "waited", node: "harbour" });
});

async function runOn(columns: number | null, environment: Readonly<Record<string, string>>, argv: readonly string[]) {
  const printed: string[] = [];
  const noted: string[] = [];
  const outputs = { print: (text: string) => void printed.push(text), note: (text: string) => void noted.push(text) };
  const code = await runRunsCommand(argv, environment, { ...outputs, columns }, new AbortController().signal);
  return { code, text: printed.join("\n"), noted: noted.join("\n") };
}

test("tail tells of new runs until it is stopped", async () => {
  verifies("inspection.command.runs");
  const { server, create } = await serveBehind(says("Hello"));
  const stopping = new AbortController();
  const printed: string[] = [];
  const outputs = { print: (text: string) => void printed.push(text), note: () => {}, columns: null };
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
