import { createHash } from "node:crypto";

/** Reasoning as its model server encrypted it. */
export interface ServersReasoning {
  /** The id of the item there, to which servers may bind the encryption. */
  readonly id: string;
  readonly encryptedContent: string;
}

const KEY_CHARS = 16;

/** A short name of a model server. Its reasoning is not sent to any other. */
export function serverKey(baseUrl: URL): string {
  const place = `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/, "")}`;
  return createHash("sha256").update(place).digest("hex").slice(0, KEY_CHARS);
}

/** The text in which reasoning waits for its next turn. */
export function writeSealedText(server: string, { id, encryptedContent }: ServersReasoning): string {
  return `${server}\n${id}\n${encryptedContent}`;
}

/** The reasoning; null if it is from another model server, or if there is none. */
export function readSealedText(server: string, sealedText: string | null | undefined): ServersReasoning | null {
  const [key, id, ...rest] = (sealedText ?? "").split("\n");
  return key === server && id !== undefined ? { id, encryptedContent: rest.join("\n") } : null;
}
