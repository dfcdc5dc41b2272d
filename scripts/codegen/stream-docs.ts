import type { Bundle } from "./bundle.ts";
import { isObject, type JsonObject, listAt, objectAt, textAt } from "./json.ts";
import { refName } from "./ts-type.ts";

/**
 * Prints an AsyncAPI document as Markdown. Redoc shows only OpenAPI, but lists the headings of a description in its
 * menu.
 */
export function streamMarkdown({ document }: Bundle): string {
  const info = objectAt(document, "info");
  const channels = objectAt(document, "channels");
  const sections = Object.keys(channels).map((id) => channelMarkdown(document, id, objectAt(channels, id)));
  return [`# ${textAt(info, "title") ?? ""}`, textAt(info, "description") ?? "", ...sections].join("\n\n");
}

function channelMarkdown(document: JsonObject, id: string, channel: JsonObject): string {
  const operations = Object.values(objectAt(document, "operations"))
    .filter(isObject)
    .filter((operation) => refName(operation["channel"]) === id);
  const title = `## ${textAt(channel, "title") ?? id}\n\n\`${textAt(channel, "address") ?? ""}\``;
  return [
    title,
    textAt(channel, "description") ?? "",
    ...operations.map((operation) => operationMarkdown(document, operation)),
  ].join("\n\n");
}

function operationMarkdown(document: JsonObject, operation: JsonObject): string {
  const messages = objectAt(objectAt(document, "components"), "messages");
  const rows = listAt(operation, "messages").flatMap((message) => {
    const name = refName(message);
    return name === null ? [] : [messageRow(name, objectAt(messages, name))];
  });
  return [
    `**${textAt(operation, "summary") ?? ""}**`,
    ["| `type` | schema | meaning |", "|---|---|---|", ...rows].join("\n"),
  ].join("\n\n");
}

function messageRow(id: string, message: JsonObject): string {
  const schema = refName(message["payload"]) ?? id;
  return `| \`${textAt(message, "name") ?? id}\` | ${schema} | ${(textAt(message, "summary") ?? "").replaceAll("|", "\\|")} |`;
}
