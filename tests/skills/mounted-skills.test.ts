import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { type BehindScript, calls, saysText, serveScript } from "../tools/behind-script.ts";
import { HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { verifies } from "../verifies.ts";
import { errorOf, inlineSkill, manifest, skillFiles, zipOf } from "./skill-files.fixture.ts";

function commands(...list: readonly string[]) {
  return calls(["shell", JSON.stringify({ commands: list })]);
}

/** What the commands of a response printed. */
async function printedBy(reply: Response): Promise<readonly string[]> {
  const { output } = await readResponse(reply);
  return output.flatMap((item) => (item.type === "shell_call_output" ? item.output : [])).map(({ stdout }) => stdout);
}

function descriptionsIn({ asked }: BehindScript): string {
  return JSON.stringify(asked.at(-1)?.tools);
}

function shellWith(skills: readonly object[]) {
  return { type: "shell", environment: { type: "container_auto", skills } };
}

describe("a container", () => {
  let server: TestServer;
  let client: OpenAI;
  beforeAll(async () => {
    server = await startTestServer();
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  });
  afterAll(() => server.close());

  async function pathsIn(container: string): Promise<readonly string[]> {
    const files = await Array.fromAsync(client.containers.files.list(container));
    return files.map(({ path }) => path).toSorted();
  }

  test("gets the files of its skills", async () => {
    verifies("skills.containers.mounted");
    const { id } = await client.skills.create({ files: await skillFiles("adding") });
    const container = await client.containers.create({
      name: "a",
      skills: [{ type: "skill_reference", skill_id: id }, await inlineSkill("sent", { "deep/er/notes.txt": "n" })],
    });
    expect(await pathsIn(container.id)).toEqual([
      "/mnt/data/skills/adding/SKILL.md",
      "/mnt/data/skills/adding/scripts/add.sh",
      "/mnt/data/skills/sent/SKILL.md",
      "/mnt/data/skills/sent/deep/er/notes.txt",
    ]);
  });

  test("is not left where a skill is unknown or is none", async () => {
    verifies("skills.containers.unknown-is-404");
    const { id } = await client.skills.create({ files: await skillFiles("adding") });
    const reference = { type: "skill_reference", skill_id: id } as const;
    const inline = await inlineSkill("adding", {});
    const broken = { ...inline, source: { ...inline.source, data: "bm8gemlw" } };
    const { containers } = client;
    const before = (await Array.fromAsync(containers.list())).length;
    const refused = (skills: OpenAI.ContainerCreateParams["skills"]) =>
      errorOf(containers.create({ name: "b", ...(skills === undefined ? {} : { skills }) }));
    expect(await refused([{ type: "skill_reference", skill_id: "skill_none" }])).toMatchObject({
      status: 404,
      message: "Skill with id 'skill_none' not found.",
      param: "skills[0]",
    });
    expect(await refused([inline, { ...reference, version: "7" }])).toMatchObject({
      status: 404,
      message: `No version '7' found of skill with id '${id}'.`,
      param: "skills[1]",
    });
    expect(await refused([broken])).toMatchObject({ status: 400, message: expect.stringContaining("zip archive") });
    expect(await refused([{ ...inline, name: "../a" }])).toMatchObject({ status: 400, param: "skills[0]" });
    expect(await refused([reference, inline])).toMatchObject({ status: 400, message: expect.stringContaining("Two") });
    expect((await Array.fromAsync(containers.list())).length).toBe(before);
  });
});

describe.skipIf(!HAS_BUBBLEWRAP)("a shell in a sandbox", () => {
  async function serve(...turns: Parameters<typeof serveScript>[0]): Promise<BehindScript> {
    return await serveScript(turns, { CODE_ENGINE: "bubblewrap" });
  }

  test("runs the script of a skill, of which the model is told", async () => {
    verifies("skills.tools.shown-to-the-model");
    const script = await serve(
      commands("cat skills/adding/SKILL.md", "sh /mnt/data/skills/adding/scripts/add.sh 144 377"),
      saysText("It is 521."),
    );
    const { id } = await script.client.skills.create({ files: await skillFiles("adding") });
    const reply = await script.create({ tools: [shellWith([{ type: "skill_reference", skill_id: id }])] });
    expect(await printedBy(reply)).toEqual([manifest("adding"), "521\n"]);
    expect(descriptionsIn(script)).toContain("- adding (/mnt/data/skills/adding): About adding.");
  });

  test("gets the version that is asked for, and another content in place of the one before", async () => {
    verifies("skills.containers.mounted");
    const list = commands(
      "cd skills/adding; find . -type f | sort",
      "cat skills/adding/mark 2> /dev/null || touch skills/adding/mark",
    );
    const done = saysText("Done.");
    const script = await serve(list, done, list, done, list, done);
    const { skills } = script.client;
    const { id } = await skills.create({ files: await skillFiles("adding") });
    const second = await zipOf({ "SKILL.md": manifest("adding"), second: "" });
    await skills.versions.create(id, { files: await toFile(second, "skill.zip") });
    const ask = async (version: string | null, previous: string | null) => {
      const tools = [shellWith([{ type: "skill_reference", skill_id: id, ...(version === null ? {} : { version }) }])];
      const reply = await script.create({ tools, ...(previous === null ? {} : { previous_response_id: previous }) });
      const response = await readResponse(reply);
      const printed = response.output.flatMap((item) => (item.type === "shell_call_output" ? item.output : []));
      return { id: response.id, files: printed[0]?.stdout.trim().split("\n") };
    };
    const first = await ask(null, null);
    expect(first.files).toEqual(["./SKILL.md", "./scripts/add.sh"]);
    const again = await ask("1", first.id);
    expect(again.files).toEqual(["./SKILL.md", "./mark", "./scripts/add.sh"]);
    expect((await ask("latest", again.id)).files).toEqual(["./SKILL.md", "./second"]);
  });

  test("takes a skill that is sent along, and a container that has one", async () => {
    verifies("skills.tools.shown-to-the-model");
    const script = await serve(
      commands("cat skills/sent/notes.txt"),
      saysText("Done."),
      commands("cat skills/sent/notes.txt"),
      saysText("Done."),
    );
    const skill = await inlineSkill("sent", { "notes.txt": "heron" });
    expect(await printedBy(await script.create({ tools: [shellWith([skill])] }))).toEqual(["heron"]);
    expect(descriptionsIn(script)).toContain("- sent (/mnt/data/skills/sent): Sent as sent.");
    const { id } = await script.client.containers.create({ name: "a", skills: [skill] });
    const environment = { type: "container_reference", container_id: id };
    expect(await printedBy(await script.create({ tools: [{ type: "shell", environment }] }))).toEqual(["heron"]);
    expect(descriptionsIn(script)).toContain("- sent (/mnt/data/skills/sent): About sent.");
  });

  test("is refused where its skill is unknown or is none", async () => {
    verifies("skills.containers.unknown-is-404");
    const script = await serve(saysText("Done."));
    const unknown = await script.create({ tools: [shellWith([{ type: "skill_reference", skill_id: "skill_none" }])] });
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { error: { message: "Skill with id 'skill_none' not found.", param: "tools" } },
    ]);
    const inline = await inlineSkill("sent", {});
    const broken = { ...inline, source: { ...inline.source, data: "bm8gemlw" } };
    expect((await script.create({ tools: [shellWith([broken])] })).status).toBe(400);
    expect(script.asked).toEqual([]);
  });
});
