import { buffer } from "node:stream/consumers";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type FileToPack, InvalidSkill, SKILL_LIMITS, type SkillFormat } from "@antiphon/domain/skills/skills.ts";
import { ZipFile } from "yazl";
import { readFrontMatter } from "./front-matter.ts";
import { checkSkill, SkillArchive } from "./skill-archive.ts";

const ZIP_BEGINNING = "PK\u0003\u0004";

/** Each takes up to the bytes of the files and of the archive in memory. */
const PACKED_AT_ONCE_MAX = 2;
const packing = new Semaphore(PACKED_AT_ONCE_MAX);

export const zippedSkills: SkillFormat = {
  pack: async (files, signal) => {
    const giveBack = await packing.take(signal);
    try {
      return await checkSkill(await packSkill(files));
    } finally {
      giveBack();
    }
  },
  open: async (archive) => await SkillArchive.open(archive),
  readHead: readFrontMatter,
};

/** The only file is a zip archive: its bytes. Otherwise a new archive of the files. Rejects with `InvalidSkill`. */
export async function packSkill(files: readonly FileToPack[]): Promise<Uint8Array> {
  const [first] = files;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > SKILL_LIMITS.unpackedBytesMax)
    throw new InvalidSkill(`The files of a skill have at most ${SKILL_LIMITS.unpackedBytesMax} bytes.`);
  if (files.length === 1 && first !== undefined) {
    const content = await contentOf(first);
    if (content.subarray(0, ZIP_BEGINNING.length).toString("latin1") === ZIP_BEGINNING) return content;
  }
  const zip = new ZipFile();
  for (const file of files) addFile(zip, file.path, await contentOf(file));
  zip.end();
  return await buffer(zip.outputStream);
}

function addFile(zip: ZipFile, path: string, content: Buffer): void {
  try {
    zip.addBuffer(content, path.replaceAll("\\", "/").replace(/^\.\//, ""));
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown";
    throw new InvalidSkill(`A file of the skill cannot be called '${path}': ${reason}.`, { cause: error });
  }
}

async function contentOf(file: FileToPack): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(file.read()));
}
