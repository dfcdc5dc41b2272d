import { buffer } from "node:stream/consumers";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fromBufferPromise } from "yauzl";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf, manifest, skillFiles, zipOf } from "./skill-files.fixture.ts";

const KEYS = { ours: "sk-ours-0123456789", theirs: "sk-theirs-0123456789" };

let server: TestServer;
let client: OpenAI;
let theirs: OpenAI;
beforeAll(async () => {
  server = await startTestServer({ env: { API_KEYS: `${KEYS.ours}=org/one,${KEYS.theirs}=org/two` } });
  const baseURL = `${server.url}/v1`;
  client = new OpenAI({ baseURL, apiKey: KEYS.ours, maxRetries: 0 });
  theirs = new OpenAI({ baseURL, apiKey: KEYS.theirs, maxRetries: 0 });
});
afterAll(() => server.close());

async function newSkill(name: string, as = client): Promise<string> {
  return (await as.skills.create({ files: await skillFiles(name) })).id;
}

async function addVersion(id: string, name: string, isDefault?: boolean) {
  const files = await toFile(await zipOf({ "SKILL.md": manifest(name) }), "skill.zip");
  return await client.skills.versions.create(id, { files, ...(isDefault === undefined ? {} : { default: isDefault }) });
}

/** The files of an archive by name. */
async function unzip(bytes: Buffer): Promise<Readonly<Record<string, string>>> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, autoClose: false });
  const files: Record<string, string> = {};
  for await (const entry of zip.eachEntry())
    files[entry.fileName] = (await buffer(await zip.openReadStreamPromise(entry))).toString();
  return files;
}

async function post(path: string, body: BodyInit): Promise<{ readonly status: number; readonly error: unknown }> {
  const reply = await fetch(`${server.url}/v1/skills${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.ours}` },
    body,
  });
  return { status: reply.status, error: (await reply.json()).error };
}

test("files and an archive make skills with the members of the reference", async () => {
  verifies("skills.create.object-of-the-reference");
  const skill = await client.skills.create({ files: await skillFiles("invoices") });
  expect(skill).toEqual({
    id: expect.stringMatching(/^skill_[0-9a-f]{48}$/),
    object: "skill",
    created_at: expect.any(Number),
    default_version: "1",
    description: "About invoices.",
    latest_version: "1",
    name: "invoices",
  });
  expect(await client.skills.retrieve(skill.id)).toEqual(skill);
  const version = await client.skills.versions.retrieve("1", { skill_id: skill.id });
  expect(version).toEqual({
    id: expect.stringMatching(/^skillver_[0-9a-f]{48}$/),
    object: "skill.version",
    created_at: expect.any(Number),
    description: "About invoices.",
    name: "invoices",
    skill_id: skill.id,
    version: "1",
  });
  const zipped = await client.skills.create({
    files: await toFile(await zipOf({ "csv/skill.md": manifest("csv") }), "csv.zip", { type: "application/zip" }),
  });
  expect(zipped).toMatchObject({ name: "csv", description: "About csv." });
});

test("the content is a zip archive of the files, and that which was uploaded", async () => {
  verifies("skills.content.zip");
  const id = await newSkill("invoices");
  const reply = await client.skills.content.retrieve(id);
  expect(reply.headers.get("content-type")).toBe("application/zip");
  expect(reply.headers.get("content-disposition")).toContain('attachment; filename="invoices.zip"');
  expect(await unzip(Buffer.from(await reply.arrayBuffer()))).toEqual({
    "invoices/SKILL.md": manifest("invoices"),
    "invoices/scripts/add.sh": "echo $(($1 + $2))\n",
  });
  const archive = await zipOf({ "SKILL.md": manifest("packed") });
  const { version } = await client.skills.versions.create(id, { files: await toFile(archive, "skill.zip") });
  const content = await client.skills.versions.content.retrieve(version, { skill_id: id });
  expect(Buffer.from(await content.arrayBuffer())).toEqual(archive);
  const unchanged = await client.skills.content.retrieve(id);
  expect(Object.keys(await unzip(Buffer.from(await unchanged.arrayBuffer())))).toHaveLength(2);
});

test("versions are added, listed, made the default and deleted", async () => {
  verifies("skills.versions.pointers");
  verifies("skills.versions.delete-rules");
  const id = await newSkill("first");
  expect(await addVersion(id, "second")).toMatchObject({ version: "2", name: "second", skill_id: id });
  expect(await client.skills.retrieve(id)).toMatchObject({ default_version: "1", latest_version: "2", name: "first" });
  expect(await addVersion(id, "third", true)).toMatchObject({ version: "3" });
  expect(await client.skills.retrieve(id)).toMatchObject({ default_version: "3", latest_version: "3", name: "third" });
  const versions = await Array.fromAsync(client.skills.versions.list(id, { limit: 1, order: "asc" }));
  expect(versions.map(({ version }) => version)).toEqual(["1", "2", "3"]);
  expect(await client.skills.update(id, { default_version: "2" })).toMatchObject({ default_version: "2" });
  expect(await errorOf(client.skills.update(id, { default_version: "4" }))).toMatchObject({ status: 404 });
  expect(await errorOf(client.skills.versions.delete("2", { skill_id: id }))).toMatchObject({
    status: 400,
    message: expect.stringContaining("default version"),
  });
  const deleted = await client.skills.versions.delete("3", { skill_id: id });
  expect(deleted).toEqual({ id: versions[2]?.id, object: "skill.version.deleted", deleted: true, version: "3" });
  await client.skills.versions.delete("1", { skill_id: id });
  await client.skills.versions.delete("2", { skill_id: id });
  expect(await errorOf(client.skills.retrieve(id))).toMatchObject({
    status: 404,
    message: `Skill with id '${id}' not found.`,
  });
});

test("skills are listed in pages, and deleted with their versions", async () => {
  const ids = [await newSkill("a", theirs), await newSkill("b", theirs), await newSkill("c", theirs)];
  const skills = await Array.fromAsync(theirs.skills.list({ limit: 2 }));
  expect(skills.map((skill) => skill.id)).toEqual(ids.toReversed());
  const [id = ""] = ids;
  expect(await theirs.skills.delete(id)).toEqual({ id, object: "skill.deleted", deleted: true });
  expect(await errorOf(theirs.skills.versions.retrieve("1", { skill_id: id }))).toMatchObject({ status: 404 });
  expect(await errorOf(theirs.skills.delete(id))).toMatchObject({ status: 404 });
});

test("skills of another owner are unknown in every operation", async () => {
  verifies("skills.owner.foreign-is-unknown");
  const id = await newSkill("ours");
  const { skills } = theirs;
  const files = await skillFiles("theirs");
  const calls: readonly (() => Promise<unknown>)[] = [
    () => skills.retrieve(id),
    () => skills.update(id, { default_version: "1" }),
    () => skills.delete(id),
    () => skills.content.retrieve(id),
    () => skills.versions.create(id, { files }),
    () => skills.versions.list(id),
    () => skills.versions.retrieve("1", { skill_id: id }),
    () => skills.versions.delete("1", { skill_id: id }),
    () => skills.versions.content.retrieve("1", { skill_id: id }),
  ];
  for (const call of calls)
    expect(await errorOf(call())).toMatchObject({ status: 404, message: expect.stringContaining(id) });
  expect((await client.skills.retrieve(id)).latest_version).toBe("1");
});

test("what makes no skill is refused with the reason", async () => {
  verifies("skills.create.front-matter");
  verifies("skills.create.unsafe-archives");
  const refused = async (name: string, content: string | Buffer) => {
    const error = await errorOf(client.skills.create({ files: [await toFile(Buffer.from(content), name)] }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request_error", param: "files" });
    return error.message;
  };
  expect(await refused("SKILL.md", "# Invoices")).toContain("no front matter");
  expect(await refused("notes.txt", "notes")).toContain("exactly one file named SKILL.md, but this one has 0");
  expect(await refused("skill.zip", (await zipOf({ "SKILL.md": manifest("a") })).subarray(0, -8))).toContain("archive");
  const outside = new FormData();
  outside.append("files", new File([manifest("a")], "../SKILL.md"));
  expect(await post("", outside)).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining("../SKILL.md") },
  });
  expect(await refused("SKILL.md", "---\nname: a b\ndescription: c\n---\n")).toContain("'name'");
});

test("forms are checked", async () => {
  verifies("skills.limits.refused");
  const formOf = (parts: Readonly<Record<string, string | File>>): FormData => {
    const form = new FormData();
    for (const [name, part] of Object.entries(parts)) form.append(name, part);
    return form;
  };
  const file = new File([manifest("a")], "SKILL.md");
  const id = await newSkill("a");
  const cases: readonly [string, FormData, string, string | null][] = [
    ["", formOf({ files: "text" }), "invalid_type", "files"],
    ["", formOf({ other: "text" }), "missing_required_parameter", "files"],
    ["", formOf({ files: file, default: "true" }), "unknown_parameter", "default"],
    ["", formOf({ files: file, "files[]": file }), "mutually_exclusive_parameters", null],
    [`/${id}/versions`, formOf({ files: file, default: "yes" }), "invalid_value", "default"],
    [`/${id}/versions`, formOf({ files: file, color: "red" }), "unknown_parameter", "color"],
    [
      "",
      formOf({ files: new File([manifest("a")], `${"a".repeat(1020)}/SKILL.md`) }),
      "string_above_max_length",
      "files",
    ],
  ];
  for (const [path, form, code, param] of cases)
    expect(await post(path, form)).toMatchObject({ status: 400, error: { code, param } });
  const many = new FormData();
  for (let number = 0; number < 501; number += 1) many.append("files[]", new File(["x"], `a/${number}`));
  expect((await post("", many)).status).toBe(400);
});

test("a skill has five hundred files", async () => {
  const others = Array.from({ length: 499 }, async (_, number) => toFile(Buffer.from("x"), `many/${number}.txt`));
  const files = [await toFile(Buffer.from(manifest("many")), "many/SKILL.md"), ...(await Promise.all(others))];
  const { id } = await client.skills.create({ files });
  const content = await client.skills.content.retrieve(id);
  expect(Object.keys(await unzip(Buffer.from(await content.arrayBuffer())))).toHaveLength(500);
});
