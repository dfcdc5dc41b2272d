import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MisusedCommand } from "../../src/commands/misused-command.ts";
import { runSearchCommand } from "../../src/commands/search/search-command.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { search, upload } from "./store-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function write(folder: string, path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

interface Ran {
  readonly code: number;
  readonly printed: string;
  readonly noted: string;
}

async function run(argv: readonly string[], isTTY = false): Promise<Ran> {
  const printed: string[] = [];
  const noted: string[] = [];
  const progress = { isTTY, write: (text: string) => noted.push(text) };
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const outputs = { print: (text: string) => printed.push(text), note: (text: string) => noted.push(text), progress };
  const code = await runSearchCommand(argv, environment, outputs, new AbortController().signal);
  return { code, printed: printed.join("\n"), noted: noted.join("") };
}

async function found(storeId: string, question: string): Promise<readonly string[]> {
  return (await search(server, storeId, question)).flatMap(({ content }) => content.map(({ text }) => text));
}

async function fileCount(path: string): Promise<number> {
  const reply = await server.fetch(path);
  const { data }: { readonly data: readonly unknown[] } = await reply.json();
  return data.length;
}

test("a folder is put into a store that is kept in step with it", async () => {
  verifies("vector-stores.search-add.keeps-in-step");
  const folder = temporaryFolder();
  write(folder, "a.txt", "Herons wait.");
  write(folder, "guide/b.md", "# Ducks\n\nThey swim.");
  write(folder, "guide/same.txt", "Geese fly.");
  for (const path of [".hidden/c.txt", "node_modules/d.txt", ".e.txt"]) write(folder, path, "Hidden herons.");
  write(folder, "empty.txt", "");
  symlinkSync(join(folder, "a.txt"), join(folder, "link.txt"));
  const first = await run(["add", folder, "--store", "birds"]);
  expect(first).toMatchObject({ code: 0, noted: "3 added, 0 changed, 0 deleted, 0 unchanged\n" });
  const storeId = first.printed;
  expect(await found(storeId, "herons ducks geese")).toHaveLength(3);
  expect(await found(storeId, "guide/b.md")).toContain("# Ducks\n\nThey swim.");
  expect(await run(["add", folder, "--store", "birds"])).toMatchObject({
    printed: storeId,
    noted: "0 added, 0 changed, 0 deleted, 3 unchanged\n",
  });
  const foreign = await upload(server, "foreign.txt", "Owls sleep.");
  await server.post(`/v1/vector_stores/${storeId}/files`, { file_id: foreign });
  write(folder, "a.txt", "Herons strike.");
  rmSync(join(folder, "guide/b.md"));
  write(folder, "new.txt", "Swans glide.");
  utimesSync(join(folder, "guide/same.txt"), 1_000, 1_000);
  expect((await run(["add", folder, "--store", storeId])).noted).toBe("1 added, 1 changed, 1 deleted, 1 unchanged\n");
  expect(await found(storeId, "herons")).toEqual(["Herons strike."]);
  expect(await found(storeId, "ducks swim")).toEqual([]);
  await expect.poll(async () => await found(storeId, "owls")).toEqual(["Owls sleep."]);
  expect(await fileCount(`/v1/vector_stores/${storeId}/files`)).toBe(4);
  expect(await fileCount("/v1/files?purpose=assistants")).toBe(4);
});

test("files that the server cannot read are named, and the others are added", async () => {
  verifies("vector-stores.search-add.names-unread");
  const folder = temporaryFolder();
  write(folder, "a.txt", "Herons wait.");
  write(folder, "b.pdf", "No PDF.");
  const { code, noted } = await run(["add", folder], true);
  expect(code).toBe(1);
  expect(noted).toContain("Uploading  [############------------]   50 %  1 of 2 files");
  expect(noted).toContain("Indexing   [########################]  100 %  2 of 2 files");
  expect(noted).toContain("Not searchable: b.pdf: The file is named or declared as a PDF, but is not one.\n");
});

test("a watched folder is followed until the command is interrupted", async () => {
  verifies("vector-stores.search-add.keeps-in-step");
  const folder = temporaryFolder();
  write(folder, "a.txt", "Herons wait.");
  const stop = new AbortController();
  const printed: string[] = [];
  const noted: string[] = [];
  const outputs = {
    print: (text: string) => printed.push(text),
    note: (text: string) => noted.push(text),
    progress: { write: (text: string) => noted.push(text) },
  };
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const watching = runSearchCommand(["add", folder, "--watch"], environment, outputs, stop.signal);
  await expect.poll(() => noted, { timeout: 30_000 }).toHaveLength(1);
  write(folder, "b.txt", "Ducks swim.");
  const storeId = printed.join();
  await expect.poll(async () => await found(storeId, "ducks"), { timeout: 30_000 }).toEqual(["Ducks swim."]);
  rmSync(join(folder, "a.txt"));
  await expect.poll(async () => await found(storeId, "herons"), { timeout: 30_000 }).toEqual([]);
  stop.abort();
  expect(await watching).toBe(0);
});

test("what is typed wrongly, and servers that refuse, are told in a sentence", async () => {
  verifies("vector-stores.search-add.names-unread");
  const folder = temporaryFolder();
  for (const argv of [[], ["fly"], ["add"], ["add", folder, folder], ["add", join(folder, "none")], ["add", "--odd"]])
    await expect(run(argv)).rejects.toThrow(MisusedCommand);
  expect((await run(["add", "--help"])).printed).toContain("Usage: antiphon search add FOLDER");
  expect(await run(["add", folder, "--store", "vs_none"])).toMatchObject({
    code: 2,
    noted: "There is no vector store vs_none.\n",
  });
  const refused = await run(["add", folder, "--url", "http://127.0.0.1:9"]);
  expect(refused).toMatchObject({ code: 2, noted: expect.stringContaining("Is the server running?") });
});
