import type { Bundle, Schemas } from "./bundle.ts";
import type { StreamSpec } from "./contracts.ts";
import { isObject, type JsonObject, listAt, objectAt, textAt } from "./json.ts";
import { constantTag } from "./tags.ts";
import { refName } from "./ts-type.ts";

/**
 * Returns the document that the AsyncAPI generator reads: each message has its schema's name in place of the schema.
 * Otherwise the parser would inline every schema and lose the names that the template prints.
 */
export function streamSkeleton(
  { document }: Bundle,
  schemas: Schemas,
  { output, client }: Pick<StreamSpec, "output" | "client">,
): JsonObject {
  const components = objectAt(document, "components");
  const messages = objectAt(components, "messages");
  const bare = Object.entries(messages).map(([id, message]) => [
    id,
    bareMessage(id, isObject(message) ? message : {}, schemas),
  ]);
  const info = { ...objectAt(document, "info"), "x-messages-file": output, "x-client-name": client?.name ?? null };
  return { ...document, info, components: { ...components, messages: Object.fromEntries(bare) } };
}

function bareMessage(id: string, message: JsonObject, schemas: Schemas): JsonObject {
  const name = refName(message["payload"]) ?? id;
  const schema = schemas[name] ?? {};
  const { payload: _payload, examples: _examples, ...rest } = message;
  return {
    ...rest,
    payload: { type: "object" },
    "x-schema": name,
    "x-tag": constantTag(schema, "type") ?? textAt(message, "name") ?? name,
    "x-obfuscated": schema["x-obfuscated"] === true,
    "x-renames": listAt(schema, "x-renames"),
  };
}
