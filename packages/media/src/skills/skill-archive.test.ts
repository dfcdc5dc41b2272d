import { buffer } from "node:stream/consumers";
import { InvalidSkill, SKILL_LIMITS } from "@antiphon/domain/skills/skills.ts";
import { expect, test } from "vitest";
import { ZipFile } from "yazl";
import { verifies } from "../../../../tests/verifies.ts";
import { readFrontMatter } from "./front-matter.ts";
import { checkSkill, SkillArchive } from "./skill-archive.ts";
import { packSkill } from "./zipped-skills.ts";

const MANIFEST = "---\nname: invoices\ndescription: Adds up invoices.\n---\n\nRead them.\n";

type Content = string | { readonly text: string; readonly mode: number };

async function zipOf(files: Readonly<Record<string, Content>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) {
    if (typeof content === "string") zip.addBuffer(Buffer.from(content), path);
    else zip.addBuffer(Buffer.from(content.text), path, { mode: content.mode });
  }
  zip.end();
  return await buffer(zip.outputStream);
}

/** Other bytes of the same number, wherever the text stands. */
function replaceBytes(bytes: Buffer, from: string | Uint8Array, to: string | Uint8Array): Buffer {
  expect(Buffer.byteLength(from)).toBe(Buffer.byteLength(to));
  const changed = Buffer.from(bytes);
  for (let at = changed.indexOf(from); at !== -1; at = changed.indexOf(from, at + 1)) changed.set(Buffer.from(to), at);
  return changed;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

async function faultOf(archive: Uint8Array, limits: Partial<Record<keyof typeof SKILL_LIMITS, number>> = {}) {
  const fault = await checkSkill(archive, { ...SKILL_LIMITS, ...limits }).catch((error: unknown) => error);
  if (!(fault instanceof InvalidSkill)) throw new Error("the archive was not refused", { cause: fault });
  return fault.message;
}

function uploadOf(path: string, content: string | Buffer) {
  const bytes = Buffer.from(content);
  return {
    path,
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}

test.each(["", "invoices/"])("a skill in the folder '%s' is read", async (folder) => {
  const archive = await zipOf({
    [`${folder}SKILL.md`]: MANIFEST,
    [`${folder}scripts/add.py`]: "print(1)",
    [`__MACOSX/${folder}._SKILL.md`]: "left over",
    [`${folder}.DS_Store`]: "left over",
  });
  expect(await checkSkill(archive)).toEqual({ name: "invoices", description: "Adds up invoices.", archive });
  const skill = await SkillArchive.open(archive);
  expect(skill.files).toEqual([
    { path: "SKILL.md", bytes: MANIFEST.length },
    { path: "scripts/add.py", bytes: 8 },
  ]);
  expect(Buffer.concat(await Array.fromAsync(skill.read("scripts/add.py"))).toString()).toBe("print(1)");
});

test("files are packed with their folders, and an archive stays as it is", async () => {
  const packed = await packSkill([uploadOf("./a\\skill.md", MANIFEST), uploadOf("a/b/c.txt", "c")]);
  const skill = await SkillArchive.open(packed);
  expect([skill.manifest, skill.files.map(({ path }) => path)]).toEqual(["skill.md", ["skill.md", "b/c.txt"]]);
  expect(await packSkill([uploadOf("a.zip", Buffer.from(packed))])).toEqual(packed);
  await expect(packSkill([uploadOf("../SKILL.md", MANIFEST)])).rejects.toThrow("'../SKILL.md'");
});

test("names that leave the folder are refused by name", async () => {
  verifies("skills.create.unsafe-archives");
  const archive = await zipOf({ "aa/SKILL.md": MANIFEST, "aa/x.sh": "x" });
  expect(await faultOf(replaceBytes(archive, "aa/x.sh", "../x.sh"))).toContain("../x.sh");
  expect(await faultOf(replaceBytes(archive, "aa/x.sh", "/a/x.sh"))).toContain("/a/x.sh");
  expect(await faultOf(replaceBytes(archive, "aa/x.sh", "C:/x.sh"))).toContain("C:/x.sh");
  expect(await faultOf(replaceBytes(archive, "aa/x.sh", "aa//.sh"))).toContain("aa//.sh");
  expect(await faultOf(replaceBytes(archive, "aa/x.sh", "aa/\n.sh"))).toContain("aa/\n.sh");
  expect(await faultOf(replaceBytes(archive, "aa/x.sh", "bb/x.sh"))).toContain("'bb/x.sh' is not in the folder");
});

test("links, devices and encrypted files are refused by name", async () => {
  verifies("skills.create.unsafe-archives");
  const withMode = (mode: number) => zipOf({ "SKILL.md": MANIFEST, passwd: { text: "/etc/passwd", mode } });
  expect(await faultOf(await withMode(0o120777))).toContain("'passwd' is a link or a special file");
  expect(await faultOf(await withMode(0o020666))).toContain("'passwd' is a link or a special file");
  const plain = await withMode(0o100644);
  const name = plain.lastIndexOf("passwd");
  plain.writeUInt16LE(plain.readUInt16LE(name - 46 + 8) | 1, name - 46 + 8);
  expect(await faultOf(plain)).toContain("'passwd' is encrypted");
});

test("archives that unpack to more than they say, or than is allowed, are refused", async () => {
  verifies("skills.create.unsafe-archives");
  const bomb = await zipOf({ "SKILL.md": MANIFEST, zeros: "0".repeat(300_000) });
  expect(bomb.length).toBeLessThan(2_000);
  expect(await faultOf(bomb, { fileBytesMax: 200_000 })).toContain("'zeros' is too large");
  expect(await faultOf(bomb, { unpackedBytesMax: 200_000 })).toContain("at most 200000 bytes, unpacked");
  expect(await faultOf(bomb, { archiveBytesMax: 100 })).toContain("at most 100 bytes");
  expect(await faultOf(bomb, { filesMax: 1 })).toContain("at most 1 files");
  const lying = replaceBytes(bomb, uint32(300_000), uint32(3));
  expect(await faultOf(lying, { fileBytesMax: 200_000 })).toContain("'zeros' cannot be unpacked");
});

test.each([
  ["no manifest", { "a/read.md": "x" }, "but this one has 0"],
  ["two manifests", { "SKILL.md": MANIFEST, "b/skill.md": MANIFEST }, "but this one has 2"],
  ["a deep manifest", { "a/b/SKILL.md": MANIFEST }, "is in a subfolder"],
  ["a file that is a folder", { "SKILL.md": MANIFEST, a: "1", "a/b": "2" }, "'a' is a file and a folder"],
  ["no front matter", { "SKILL.md": "# Invoices" }, "no front matter"],
] as const)("%s is refused", async (_what, files, message) => {
  verifies("skills.create.front-matter");
  expect(await faultOf(await zipOf(files))).toContain(message);
});

test("bytes that are no archive are refused", async () => {
  expect(await faultOf(Buffer.from("PK no archive"))).toContain("The zip archive cannot be read");
});

test.each([
  [
    "---\r\nname: a-b_2\r\ndescription: >-\r\n  Two\r\n  lines.\r\n---\r\n",
    { name: "a-b_2", description: "Two lines." },
  ],
  ["\uFEFF---\nname: a\ndescription: b\nlicense: MIT\n---", { name: "a", description: "b" }],
])("front matter %j is read", (text, head) => {
  expect(readFrontMatter(text)).toEqual(head);
});

test.each([
  ["name: a", "'description'"],
  ["description: b", "'name'"],
  ["name: ../a\ndescription: b", "'name'"],
  ["name: 7\ndescription: b", "'name'"],
  ["name: a\ndescription: ''", "'description'"],
  ["name: a\ndescription: [b", "not valid YAML"],
  ["- name", "must be names with values"],
  [`name: ${"a".repeat(65)}\ndescription: b`, "at most 64"],
  [`name: a\ndescription: ${"b".repeat(1025)}`, "1024 characters"],
])("front matter %j is refused", (yaml, message) => {
  verifies("skills.create.front-matter");
  expect(() => readFrontMatter(`---\n${yaml}\n---\n`)).toThrow(message);
});
