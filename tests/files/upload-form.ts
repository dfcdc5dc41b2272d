import { z } from "zod";
import type { TestServer } from "../kit/test-server.ts";

/** The parts of an upload: texts, or files with their names. */
export type Parts = Readonly<Record<string, string | File | readonly (string | File)[]>>;

export const NOTES = new File(["one two"], "notes.txt", { type: "text/plain" });

/** Sends a valid upload, changed by `parts`; an empty list removes a part. */
export function upload(server: TestServer, parts: Parts = {}, headers: Record<string, string> = {}): Promise<Response> {
  const form = new FormData();
  for (const [name, given] of Object.entries({ file: NOTES, purpose: "user_data", ...parts }))
    for (const part of Array.isArray(given) ? given : [given]) form.append(name, part);
  return server.fetch("/v1/files", { method: "POST", headers, body: form });
}

export async function idOf(reply: Response): Promise<string> {
  const { id } = z.object({ id: z.string() }).parse(await reply.json());
  return id;
}
