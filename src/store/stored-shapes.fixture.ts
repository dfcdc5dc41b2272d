import type { OutputItem, Response, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { NewKey } from "@antiphon/domain/keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";

export const OURS: Owner = { organization: "org_a", project: "proj_a" };
/** Each differs from `OURS` in one part. */
export const OTHERS: readonly Owner[] = [
  { organization: "org_b", project: "proj_a" },
  { organization: "org_a", project: "proj_b" },
];

/** A response with the members that the store reads. */
export function aResponse(id: string, fields: Readonly<Record<string, unknown>> = {}): Response {
  const response = {
    id,
    object: "response",
    created_at: 1_760_000_000,
    completed_at: null,
    status: "in_progress",
    model: "m",
    previous_response_id: null,
    output: [],
    ...fields,
  };
  return JSON.parse(JSON.stringify(response));
}

export function anItem(id: string, text = ""): StoredItem & OutputItem {
  return JSON.parse(
    JSON.stringify({ id, type: "message", role: "user", status: "completed", content: [{ type: "input_text", text }] }),
  );
}

export function aKey(hash: string, owner: Owner): NewKey {
  const limits = { requests: null, tokens: null };
  return { hash, name: "laptop", lastFour: "4444", owners: [owner], isRouted: false, limits, expiresAt: null };
}
