import { MatchersV3 } from "@pact-foundation/pact";
import { toFile } from "openai";
import { describe, expect, test } from "vitest";
import { zipOf } from "../../tests/skills/skill-files.fixture.ts";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { formOf } from "./form.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { boolean, fromProviderState, string } = MatchersV3;

const SKILL_ID = "skill_0123456789abcdef0067000000012345";
const VERSION_ID = "skillver_0123456789abcdef0067000000012345";
const UNKNOWN_SKILL = "skill_ffffffffffffffff0067000000ffffff";
const MANIFEST = "---\nname: adding\ndescription: Adds two numbers.\n---\n";

const skills = "/v1/skills";
const skillPath = pathOf("");
const contentPath = pathOf("/content");
const versionsPath = pathOf("/versions");
const versionPath = pathOf("/versions/2");
const versionContentPath = pathOf("/versions/2/content");
const form = formOf({}, { name: "files[]", filename: "SKILL.md", text: MANIFEST });

function pathOf(rest: string) {
  const path = `${skills}/\${skill_id}${rest}`;
  return fromProviderState(path, path.replace("${skill_id}", SKILL_ID));
}

const SKILL = {
  id: SKILL_ID,
  object: "skill",
  created_at: 1_795_000_000,
  default_version: "1",
  description: "Adds two numbers.",
  latest_version: "1",
  name: "adding",
} as const;
const VERSION = {
  id: VERSION_ID,
  object: "skill.version",
  created_at: 1_795_000_000,
  description: "Adds two numbers.",
  name: "adding",
  skill_id: SKILL_ID,
  version: "2",
} as const;

/** The versions depend on the calls before. */
function skillShape(skill: Record<keyof typeof SKILL, unknown>) {
  return { ...Object(shapeOf(skill)), default_version: string("1"), latest_version: string("1") };
}

function versionShape(version: typeof VERSION) {
  return { ...Object(shapeOf(version)), version: string("2") };
}

function listShape(one: { readonly id: string }, shape: unknown) {
  return {
    object: "list",
    data: [shape],
    first_id: string(one.id),
    has_more: boolean(true),
    last_id: string(one.id),
  };
}

const given = ["a skill with two versions"] as const;
const manifestFile = () => toFile(Buffer.from(MANIFEST), "SKILL.md", { type: "text/plain" });
const ownFile = { bytes: new Uint8Array(Buffer.from(MANIFEST)), filename: "SKILL.md", mimeType: "text/plain" };

describe("a client that keeps skills", () => {
  test("makes one of files", async () => {
    verifies("skills.create.object-of-the-reference");
    await checkAnswer(
      { request: "to make a skill", method: "POST", path: skills, text: form, reply: { json: skillShape(SKILL) } },
      SKILL,
      {
        official: async (client) => await client.skills.create({ files: [await manifestFile()] }),
        own: (client) => client.createSkill({ files: [ownFile] }),
      },
    );
  });

  test("lists them", async () => {
    const query = { limit: 1, order: "desc" as const };
    await checkAnswer(
      {
        given: [...given, ...given],
        request: "for skills",
        method: "GET",
        path: skills,
        query: { limit: "1", order: "desc" },
        reply: { json: listShape(SKILL, skillShape(SKILL)) },
      },
      { data: [SKILL] },
      { official: (client) => client.skills.list(query), own: (client) => client.listSkills(query) },
    );
  });

  test("reads one", async () => {
    await checkAnswer(
      { given, request: "for a skill", method: "GET", path: skillPath, reply: { json: skillShape(SKILL) } },
      SKILL,
      { official: (client) => client.skills.retrieve(SKILL_ID), own: (client) => client.getSkill(SKILL_ID) },
    );
  });

  test("makes another version the default", async () => {
    verifies("skills.versions.pointers");
    const body = { default_version: "2" };
    const answer = { ...SKILL, default_version: "2", latest_version: "2" };
    await checkAnswer(
      {
        given,
        request: "to change the default version of a skill",
        method: "POST",
        path: skillPath,
        body,
        reply: { json: { ...Object(shapeOf(answer)), default_version: "2", latest_version: "2" } },
      },
      answer,
      {
        official: (client) => client.skills.update(SKILL_ID, body),
        own: (client) => client.updateSkill(SKILL_ID, body),
      },
    );
  });

  test("removes one", async () => {
    const deleted = { id: SKILL_ID, object: "skill.deleted", deleted: true } as const;
    await checkAnswer(
      { given, request: "to remove a skill", method: "DELETE", path: skillPath, reply: { json: shapeOf(deleted) } },
      deleted,
      { official: (client) => client.skills.delete(SKILL_ID), own: (client) => client.deleteSkill(SKILL_ID) },
    );
  });

  test.each([
    ["a skill", contentPath],
    ["a version of a skill", versionContentPath],
  ])("gets the files of %s as an archive", async (what, path) => {
    verifies("skills.content.zip");
    const isVersion = path === versionContentPath;
    const archiveBytes = await zipOf({ "adding/SKILL.md": MANIFEST });
    await checkInteraction(
      {
        given,
        request: `for the content of ${what}`,
        method: "GET",
        path,
        reply: { bytes: archiveBytes, type: "application/zip", detectedType: "application/zip" },
      },
      {
        official: async (client) => {
          const { content, versions } = client.skills;
          const archive = isVersion
            ? await versions.content.retrieve("2", { skill_id: SKILL_ID })
            : await content.retrieve(SKILL_ID);
          expect(await archive.text()).toMatch(/^PK/);
        },
        own: async (client) => {
          const archive = isVersion
            ? await client.downloadSkillVersion(SKILL_ID, "2")
            : await client.downloadSkill(SKILL_ID);
          expect(Buffer.from(archive).toString("latin1")).toMatch(/^PK/);
        },
      },
    );
  });
});

describe("a client that keeps versions of a skill", () => {
  test("adds one", async () => {
    verifies("skills.versions.pointers");
    await checkAnswer(
      {
        given,
        request: "to make a version of a skill",
        method: "POST",
        path: versionsPath,
        text: form,
        reply: { json: versionShape(VERSION) },
      },
      VERSION,
      {
        official: async (client) => await client.skills.versions.create(SKILL_ID, { files: [await manifestFile()] }),
        own: (client) => client.createSkillVersion(SKILL_ID, { files: [ownFile] }),
      },
    );
  });

  test("lists them", async () => {
    const query = { limit: 1, order: "desc" as const };
    await checkAnswer(
      {
        given,
        request: "for the versions of a skill",
        method: "GET",
        path: versionsPath,
        query: { limit: "1", order: "desc" },
        reply: { json: listShape(VERSION, versionShape(VERSION)) },
      },
      { data: [VERSION] },
      {
        official: (client) => client.skills.versions.list(SKILL_ID, query),
        own: (client) => client.listSkillVersions(SKILL_ID, query),
      },
    );
  });

  test("reads one", async () => {
    await checkAnswer(
      {
        given,
        request: "for a version of a skill",
        method: "GET",
        path: versionPath,
        reply: { json: versionShape(VERSION) },
      },
      VERSION,
      {
        official: (client) => client.skills.versions.retrieve("2", { skill_id: SKILL_ID }),
        own: (client) => client.getSkillVersion(SKILL_ID, "2"),
      },
    );
  });

  test("removes one", async () => {
    verifies("skills.versions.delete-rules");
    const deleted = { id: VERSION_ID, object: "skill.version.deleted", deleted: true, version: "2" } as const;
    await checkAnswer(
      {
        given,
        request: "to remove a version of a skill",
        method: "DELETE",
        path: versionPath,
        reply: { json: shapeOf(deleted) },
      },
      deleted,
      {
        official: (client) => client.skills.versions.delete("2", { skill_id: SKILL_ID }),
        own: (client) => client.deleteSkillVersion(SKILL_ID, "2"),
      },
    );
  });
});

test("a client that looks for an unknown skill gets 404", async () => {
  verifies("skills.owner.foreign-is-unknown");
  await checkRefusal(
    { request: "for an unknown skill", method: "GET", path: `${skills}/${UNKNOWN_SKILL}` },
    { status: 404, param: null, message: string(`Skill with id '${UNKNOWN_SKILL}' not found.`) },
    { official: (client) => client.skills.retrieve(UNKNOWN_SKILL), own: (client) => client.getSkill(UNKNOWN_SKILL) },
  );
});
