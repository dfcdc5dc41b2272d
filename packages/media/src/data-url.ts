import { encodeBase64 } from "@antiphon/base/limits/long-data.ts";

/** The parts of a base64 data URL. */
export interface DataUrl {
  /** In lower case; empty if it names none. */
  readonly mimeType: string;
  readonly charset: string | null;
  readonly base64: string;
}

/** Parses a base64 data URL; null for any other text. Does not check that the content is base64. */
export function parseDataUrl(url: string): DataUrl | null {
  const comma = url.indexOf(",");
  if (comma === -1 || comma > 1000) return null;
  const head = /^data:([^;,]*)((?:;[^;,]*)*?);base64$/i.exec(url.slice(0, comma));
  if (head === null) return null;
  const charset = /;charset="?([\w.:-]+)/i.exec(head[2] ?? "")?.[1] ?? null;
  return { mimeType: (head[1] ?? "").trim().toLowerCase(), charset, base64: url.slice(comma + 1) };
}

export async function dataUrl(mimeType: string, bytes: Uint8Array): Promise<string> {
  return `data:${mimeType};base64,${await encodeBase64(bytes)}`;
}
