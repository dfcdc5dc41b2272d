import type { ItemList } from "@antiphon/contracts/responses-api/types.ts";
import { validateItemList } from "@antiphon/contracts/responses-api/validators.js";
import { expect } from "vitest";

/** The items of a reply, whose envelope and order of keys must be the reference's. */
export async function readItemList(reply: Response): Promise<ItemList> {
  const body: unknown = await reply.json();
  expect(reply.status, JSON.stringify(body)).toBe(200);
  if (!validateItemList(body)) throw new Error(`not a list of items: ${JSON.stringify(body)}`);
  expect(Object.keys(body)).toEqual(["object", "data", "first_id", "has_more", "last_id"]);
  expect(body).toMatchObject({
    object: "list",
    first_id: body.data[0]?.id ?? null,
    last_id: body.data.at(-1)?.id ?? null,
  });
  return body;
}
