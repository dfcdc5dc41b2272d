import { createHash } from "node:crypto";

const PREFIX = "lsho_";
/** Longer ids are refused when they are sent. */
const ID_CHARS_MAX = 64;

/**
 * The id under which the output of a local shell call is stored. Clients send the id of the call in its place, but two
 * items of one conversation cannot have the same id.
 */
export function localShellOutputId(sent: string): string {
  if (sent.startsWith(PREFIX)) return sent;
  const id = `${PREFIX}${sent.replace(/^lsh_/, "")}`;
  return id.length <= ID_CHARS_MAX ? id : `${PREFIX}${createHash("sha256").update(sent).digest("hex").slice(0, 48)}`;
}
