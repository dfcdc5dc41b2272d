import { posix } from "node:path";
import type { Archive } from "./archive.ts";
import { readXml } from "./read-xml.ts";

/** The parts of one kind that a part refers to, such as `worksheet`, by relation id. */
export async function readTargets(archive: Archive, part: string, kind: string): Promise<ReadonlyMap<string, string>> {
  const folder = posix.dirname(part);
  const targets = new Map<string, string>();
  await readXml(archive, relationsOf(part), {
    openElement(name, { Id: id, Target: target, Type: type }) {
      if (name !== "Relationship" || id === undefined || target === undefined) return;
      if (type?.endsWith(`/${kind}`) !== true) return;
      targets.set(id, target.startsWith("/") ? target.slice(1) : posix.join(folder, target));
    },
  });
  return targets;
}

/** The part that lists a part's references. A part without references has none. */
export function relationsOf(part: string): string {
  return `${posix.dirname(part)}/_rels/${posix.basename(part)}.rels`;
}
