import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { makeUnknownEffect } from "../inspection/unknown-effect.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { namedFile, uploadFile } from "../kit/upload.ts";
import { manifest, zipOf } from "../skills/skill-files.fixture.ts";
import { makeToldEndpoint } from "../webhooks/told-endpoint.ts";
import { REACHES_RECEIVERS } from "../webhooks/webhook-server.ts";
import { PYTHON, ROOT } from "./reader.ts";

const ADDRESS = "http://127.0.0.1:8080";
const QUESTION = { model: "antiphon-built-in", input: "Write 50 words" };
const SAMPLES_MS_MAX = 300_000;
const Id = z.object({ id: z.string() });
const Items = z.object({ data: z.array(Id) });
const Sample = z.object({ label: z.string(), source: z.string() });
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const HasSamples = z.object({ operationId: z.string(), "x-codeSamples": z.array(Sample) });

const SCENARIO = `scenarios:
  - when: { input_contains: Write slowly }
    events: [{ text: The sea }, { delay_ms: 60000 }, { text: is wide. }]`;

let server: TestServer;
let folder = "";
let skillArchive = new Uint8Array();
beforeAll(async () => {
  server = await startTestServer({ env: REACHES_RECEIVERS, scenario: SCENARIO });
  folder = await mkdtemp(join(tmpdir(), "antiphon-samples-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  skillArchive = new Uint8Array(await zipOf({ "invoices/SKILL.md": manifest("invoices") }));
  await writeFile(join(folder, "invoices.zip"), skillArchive);
  await writeFile(join(folder, "notes.txt"), "The tide rises twice a day.");
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The samples of the page at /docs in one language, by the operation that they show. */
async function samplesIn(language: string): Promise<readonly { readonly name: string; readonly source: string }[]> {
  const page = await (await fetch(`${server.url}/docs`)).text();
  const [, json = ""] = /<script type="application\/json" id="responses-api">(.*?)<\/script>/s.exec(page) ?? [];
  const operations = Object.values(Document.parse(JSON.parse(json)).paths).flatMap((item) => Object.values(item));
  return operations.flatMap((operation) => {
    const { success, data } = HasSamples.safeParse(operation);
    const sample = success ? data["x-codeSamples"].find(({ label }) => label === language) : undefined;
    return sample === undefined || !success || REFUSED.has(data.operationId)
      ? []
      : [{ name: data.operationId, source: sample.source }];
  });
}

/** The project of the samples. */
const PROJECT = "default/default";
/** Operations that this server always refuses. */
const REFUSED: ReadonlySet<string> = new Set(["deleteModel"]);

/** Something of each kind that a sample names, by the id in the sample. Samples may delete it. */
async function makeThings(source: string): Promise<Readonly<Record<string, string>>> {
  const make = async (id: string, path: string, body: unknown): Promise<string> =>
    source.includes(id) ? Id.parse(await (await server.post(path, body)).json()).id : id;
  const file = Id.parse(
    await (await uploadFile(server, namedFile("The tide rises twice a day.", "tides.txt"))).json(),
  ).id;
  const store = await make("vs_123", "/v1/vector_stores", { name: "Notes" });
  const conversation = await make("conv_123", "/v1/conversations", {
    items: [{ type: "message", role: "user", content: "Hello." }],
  });
  const items = source.includes("msg_123") ? await server.fetch(`/v1/conversations/${conversation}/items`) : null;
  const container = await make("cntr_123", "/v1/containers", { name: "Analysis" });
  const isOfOperators = source.includes("/admin_api_keys/");
  const answer = await make("resp_123", "/v1/responses", { ...questionOf(source), background: true });
  const told = source.includes("whe_123") ? await makeToldEndpoint(server) : NO_ENDPOINT;
  const keys = `/v1/organization/${isOfOperators ? "admin_api_keys" : "keys"}`;
  return {
    key_123: await make("key_123", keys, isOfOperators ? { name: "ops" } : { name: "web", projects: [PROJECT] }),
    resp_123: answer,
    mcp_123: source.includes("mcp_123") ? await makeUnknownEffect(server.dataDir, answer) : "",
    conv_123: conversation,
    msg_123: Items.parse((await items?.json()) ?? { data: [] }).data[0]?.id ?? "",
    "file-123": file,
    vs_123: store,
    vsfb_123: await make("vs_123", `/v1/vector_stores/${store}/file_batches`, { file_ids: [file] }),
    skill_123: source.includes("skill_123") ? await makeSkill() : "",
    whe_123: told.webhook_endpoint_id,
    evt_123: told.event_id,
    cntr_123: container,
    batch_123: source.includes("batch_123") ? await makeBatch() : "",
    file_of_batch: source.includes("file-123") ? await makeBatchFile() : "",
    file_of_container: await make("cntr_123", `/v1/containers/${container}/files`, { file_id: file }),
  };
}

/** Responses that are changed while they run take long. */
function questionOf(source: string): object {
  return /\/(pause|resume|steer)\b/.test(source) ? { ...QUESTION, input: "Write slowly" } : QUESTION;
}

const NO_ENDPOINT = { webhook_endpoint_id: "", event_id: "" };

async function makeBatchFile(): Promise<string> {
  const request = { model: "antiphon-built-in", input: "Hi" };
  const line = JSON.stringify({ custom_id: "1", method: "POST", url: "/v1/responses", body: request });
  const reply = await uploadFile(server, namedFile(line, "lines.jsonl"), "batch");
  return Id.parse(await reply.json()).id;
}

async function makeBatch(): Promise<string> {
  const batch = { input_file_id: await makeBatchFile(), endpoint: "/v1/responses", completion_window: "24h" };
  return Id.parse(await (await server.post("/v1/batches", batch)).json()).id;
}

/** A skill of two versions. */
async function makeSkill(): Promise<string> {
  const send = async (path: string): Promise<string> => {
    const body = new FormData();
    body.append("files", new Blob([skillArchive]), "invoices.zip");
    return Id.parse(await (await server.fetch(path, { method: "POST", body })).json()).id;
  };
  const skill = await send("/v1/skills");
  await send(`/v1/skills/${skill}/versions`);
  return skill;
}

/** Writes a sample with real ids for this server to a file, and resolves to its name. */
async function writeSample(name: string, source: string, ending: string): Promise<string> {
  const things = await makeThings(source);
  const isOfContainer = /^(get|delete|download)ContainerFile$/.test(name);
  const fileName = name === "createBatch" ? "file_of_batch" : isOfContainer ? "file_of_container" : "file-123";
  const ids = { ...things, "file-123": things[fileName] ?? "" };
  const here = Object.entries(ids).reduce((all, [id, real]) => all.replaceAll(id, real), source);
  const file = `${name}.${ending}`;
  await writeFile(join(folder, file), here.replaceAll(ADDRESS, server.url).replace(/^curl /, CURL));
  return file;
}

const CURL = "curl -sS -o /dev/null -w '%{http_code}\\n' ";
/** Programs that run samples one after the other, in one process where its start takes long. */
const DRIVERS = {
  curl: ["bash", "-c", `for file; do echo "$file $(bash "$file")"; done`, "bash"],
  TypeScript: [
    process.execPath,
    "-e",
    "for (const file of process.argv.slice(1)) await import(`${process.cwd()}/${file}`)",
  ],
  Python: [PYTHON, "-c", "import sys\nfor file in sys.argv[1:]: exec(open(file).read(), {})"],
};

test.each<{ language: keyof typeof DRIVERS; ending: string; least: number }>([
  { language: "curl", ending: "sh", least: 50 },
  { language: "TypeScript", ending: "ts", least: 45 },
  { language: "Python", ending: "py", least: 45 },
])(
  "each sample of /docs in $language works",
  async ({ language, ending, least }) => {
    if (language === "Python" && !existsSync(PYTHON)) return console.warn("Samples in Python are not run: no SDK.");
    const samples = await samplesIn(language);
    expect(samples.length).toBeGreaterThanOrEqual(least);
    const files: string[] = [];
    for (const { name, source } of samples) files.push(await writeSample(name, source, ending));
    const [program = "", ...parameters] = DRIVERS[language];
    const child = spawn(program, [...parameters, ...files], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ANTIPHON_API_KEY: server.apiKey },
    });
    const [said, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    expect(child.exitCode, said + complaints).toBe(0);
    // Operations that are not built yet, and the sound of a response that has none.
    if (language === "curl")
      expect(said.split("\n").filter((line) => !/ (200|202|501)$|^$|^getResponseAudio.sh 404$/.test(line))).toEqual([]);
  },
  SAMPLES_MS_MAX,
);
