import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";

type ConfigurationUpdate = Extract<StoredItem, { type: "configuration_update" }>;

/**
 * The request with the settings that `configuration_update` items changed, along everything that was said. They win
 * over those of the request, which a client can therefore leave as it is.
 */
export function withConfiguration(
  request: CreateResponseRequest,
  ...said: readonly (readonly StoredItem[])[]
): CreateResponseRequest {
  const updates = said.flatMap((items) => items.filter(isUpdate));
  if (updates.length === 0) return request;
  const effort = updates.findLast(({ reasoning }) => reasoning?.effort != null)?.reasoning?.effort;
  const format = updates.findLast(({ text }) => text !== undefined)?.text?.format;
  return {
    ...request,
    ...(effort == null ? {} : { reasoning: { ...request.reasoning, effort } }),
    ...(format === undefined ? {} : { text: { ...request.text, format } }),
  };
}

function isUpdate(item: StoredItem): item is ConfigurationUpdate {
  return item.type === "configuration_update";
}
