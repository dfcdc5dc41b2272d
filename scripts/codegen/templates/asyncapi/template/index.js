import { File, Text } from "@asyncapi/generator-react-sdk";

/** Prints names only: the union that each operation carries, the tags of its members, and which events are padded or renamed. */
export default function ({ asyncapi }) {
  const operations = asyncapi.allOperations().all();
  const parts = [importOf(operations), ...operations.map(operationText), ...obfuscatedText(operations), ...renamedText(operations)];
  return (
    <File name="messages.ts">
      <Text>{parts.join("\n\n")}</Text>
    </File>
  );
}

function importOf(operations) {
  const names = [...new Set(operations.flatMap((operation) => messagesOf(operation).map(({ schema }) => schema)))].sort();
  return `import type {\n${names.map((name) => `  ${name},`).join("\n")}\n} from "./types.ts";`;
}

function operationText(operation) {
  const messages = messagesOf(operation);
  const id = operation.id();
  return [
    `/** ${operation.summary()}. */`,
    `export type ${id[0].toUpperCase()}${id.slice(1)} =\n${messages.map(({ schema }) => `  | ${schema}`).join("\n")};`,
    ``,
    `/** The tag of each member of ${id[0].toUpperCase()}${id.slice(1)}. */`,
    `export const ${id}Types = ${listText(messages.map(({ tag }) => tag))};`,
  ].join("\n");
}

function obfuscatedText(operations) {
  const padded = operations.flatMap(messagesOf).filter(({ obfuscated }) => obfuscated);
  if (padded.length === 0) return [];
  return [`/** The events that may carry \`obfuscation\`. */\nexport const obfuscatedEventTypes = ${listText(padded.map(({ tag }) => tag))};`];
}

function renamedText(operations) {
  const pairs = new Map(operations.flatMap(messagesOf).flatMap(({ tag, renames }) => renames.map((type) => [type, tag])));
  if (pairs.size === 0) return [];
  const lines = [...pairs].map(([type, tag]) => `  ${JSON.stringify(type)}: ${JSON.stringify(tag)},`);
  return [`/** What the extension dialect calls the events whose names differ. */\nexport const dialectEventTypes = {\n${lines.join("\n")}\n} as const;`];
}

function messagesOf(operation) {
  return operation.messages().all().map((message) => {
    const said = (name) => message.extensions().get(name)?.value();
    return { schema: said("x-schema"), tag: said("x-tag"), obfuscated: said("x-obfuscated") === true, renames: said("x-renames") ?? [] };
  });
}

function listText(values) {
  return `[\n${[...new Set(values)].map((value) => `  ${JSON.stringify(value)},`).join("\n")}\n] as const`;
}
