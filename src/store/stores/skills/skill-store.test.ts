import type { SkillBundle, SkillChange, Skills } from "@antiphon/domain/skills/skills.ts";
import { StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { openTestStore, testStores } from "../../store.fixture.ts";
import { OTHERS, OURS } from "../../stored-shapes.fixture.ts";

const PAGE = { limit: 100, order: "asc", after: null } as const;
const ANY_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

function bundle(name = "invoices", archive: Uint8Array = ANY_BYTES): SkillBundle {
  return { name, description: `About ${name}.`, archive };
}

function resultOf<Result>(change: SkillChange<Result>): Result {
  if (change.type === "refused") throw new Error(`refused: ${change.refusal.reason}`);
  return change.result;
}

async function newSkill(skills: Skills, name?: string): Promise<string> {
  return resultOf(await skills.createSkill(OURS, bundle(name))).id;
}

async function addVersions(skills: Skills, id: string, count: number): Promise<void> {
  for (let added = 0; added < count; added += 1)
    resultOf(await skills.addVersion(OURS, id, { ...bundle(`v${added + 2}`), isDefault: false }));
}

testStores("an archive is read as it was stored", async () => {
  const { skills } = await openTestStore();
  const id = await newSkill(skills);
  const version = await skills.findVersion(OURS, id, null);
  expect(new Uint8Array((await skills.readArchive(OURS, version?.id ?? "")) ?? [])).toEqual(ANY_BYTES);
});

testStores("versions count up, and the pointers follow", async () => {
  verifies("skills.versions.pointers");
  const { skills } = await openTestStore();
  const id = await newSkill(skills);
  await addVersions(skills, id, 2);
  expect(await skills.findSkill(OURS, id)).toMatchObject({
    default_version: "1",
    latest_version: "3",
    name: "invoices",
  });
  expect((await skills.findVersion(OURS, id, "latest"))?.version).toBe("3");
  expect((await skills.findVersion(OURS, id, null))?.version).toBe("1");
  for (const unknown of ["4", "0", "01", "one", "", "9".repeat(40)])
    expect(await skills.findVersion(OURS, id, unknown)).toBeNull();
  expect(resultOf(await skills.changeDefault(OURS, id, "2"))).toMatchObject({ default_version: "2", name: "v2" });
  const newest = resultOf(await skills.addVersion(OURS, id, { ...bundle("v4"), isDefault: true }));
  expect(newest.version).toBe("4");
  expect(await skills.findSkill(OURS, id)).toMatchObject({ default_version: "4", latest_version: "4", name: "v4" });
});

testStores("the default version stays as long as there are others, and the last takes the skill along", async () => {
  verifies("skills.versions.delete-rules");
  const { skills } = await openTestStore();
  const id = await newSkill(skills);
  await addVersions(skills, id, 2);
  expect(await skills.deleteVersion(OURS, id, "1")).toEqual({
    type: "refused",
    refusal: { reason: "default_version" },
  });
  expect(resultOf(await skills.deleteVersion(OURS, id, "3")).version).toBe("3");
  expect((await skills.findSkill(OURS, id))?.latest_version).toBe("2");
  expect(resultOf(await skills.addVersion(OURS, id, { ...bundle(), isDefault: true })).version).toBe("4");
  for (const version of ["1", "2", "4"]) resultOf(await skills.deleteVersion(OURS, id, version));
  expect(await skills.findSkill(OURS, id)).toBeNull();
  expect(await skills.deleteVersion(OURS, id, "4")).toEqual({ type: "refused", refusal: { reason: "unknown_skill" } });
});

testStores("versions that are added at once get numbers of their own", async () => {
  const { skills } = await openTestStore();
  const id = await newSkill(skills);
  const additions = Array.from({ length: 8 }, () => skills.addVersion(OURS, id, { ...bundle(), isDefault: false }));
  const numbers = (await Promise.all(additions)).map((change) => Number(resultOf(change).version));
  expect(numbers.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

testStores("skills and versions are listed in pages", async () => {
  const { skills } = await openTestStore();
  const ids = [await newSkill(skills, "a"), await newSkill(skills, "b"), await newSkill(skills, "c")];
  const first = await skills.listSkills(OURS, { ...PAGE, limit: 2 });
  expect([first?.hasMore, first?.entries.map(({ id }) => id)]).toEqual([true, ids.slice(0, 2)]);
  const rest = await skills.listSkills(OURS, { ...PAGE, after: ids[1] ?? "" });
  expect([rest?.hasMore, rest?.entries.map(({ name }) => name)]).toEqual([false, ["c"]]);
  const [id = ""] = ids;
  await addVersions(skills, id, 2);
  const newest = await skills.listVersions(OURS, id, { limit: 2, order: "desc", after: null });
  expect([newest?.hasMore, newest?.entries.map(({ version }) => version)]).toEqual([true, ["3", "2"]]);
  const after = newest?.entries.at(-1)?.id ?? "";
  const oldest = await skills.listVersions(OURS, id, { limit: 2, order: "desc", after });
  expect(oldest?.entries.map(({ version }) => version)).toEqual(["1"]);
  expect(await skills.listSkills(OURS, { ...PAGE, after: "skill_x" })).toBeNull();
  expect(await skills.listVersions(OURS, id, { ...PAGE, after: "skillver_x" })).toBeNull();
});

testStores.each(OTHERS)("another owner ($organization, $project) finds nothing of a skill", async (theirs) => {
  verifies("skills.owner.foreign-is-unknown");
  const { skills } = await openTestStore();
  const id = await newSkill(skills);
  const versionId = (await skills.findVersion(OURS, id, null))?.id ?? "";
  const unknown = { type: "refused", refusal: { reason: "unknown_skill" } };
  expect(await skills.findSkill(theirs, id)).toBeNull();
  expect(await skills.findVersion(theirs, id, null)).toBeNull();
  expect(await skills.readArchive(theirs, versionId)).toBeNull();
  expect(await skills.listSkills(theirs, PAGE)).toEqual({ entries: [], hasMore: false });
  expect(await skills.listVersions(theirs, id, PAGE)).toEqual({ entries: [], hasMore: false });
  expect(await skills.addVersion(theirs, id, { ...bundle(), isDefault: true })).toEqual(unknown);
  expect(await skills.changeDefault(theirs, id, "1")).toEqual(unknown);
  expect(await skills.deleteVersion(theirs, id, "1")).toEqual(unknown);
  expect(await skills.deleteSkill(theirs, id)).toBe(false);
  expect(await skills.findSkill(OURS, id)).not.toBeNull();
});

testStores("a skill has a maximum of versions, and an owner of bytes", async () => {
  verifies("skills.limits.refused");
  const { skills } = await openTestStore();
  const id = await newSkill(skills);
  await addVersions(skills, id, 99);
  expect(await skills.addVersion(OURS, id, { ...bundle(), isDefault: true })).toEqual({
    type: "refused",
    refusal: { reason: "too_many_versions", versionsMax: 100 },
  });
  const { skills: scarce } = await openTestStore({ ownerBytesMax: 1_000 });
  const kept = resultOf(await scarce.createSkill(OURS, bundle("a", new Uint8Array(900)))).id;
  await expect(scarce.createSkill(OURS, bundle("b", new Uint8Array(101)))).rejects.toThrow(StorageQuotaExceeded);
  await expect(scarce.addVersion(OURS, kept, { ...bundle("b", new Uint8Array(101)), isDefault: true })).rejects.toThrow(
    StorageQuotaExceeded,
  );
  await scarce.deleteSkill(OURS, kept);
  expect(resultOf(await scarce.createSkill(OURS, bundle("b", new Uint8Array(901)))).name).toBe("b");
});
