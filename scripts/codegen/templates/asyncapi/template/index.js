import { File, Text } from "@asyncapi/generator-react-sdk";

/**
 * Prints the union of each operation's messages, the tags of its members, and the padded or renamed events. A client
 * class, if asked for, goes to its own file.
 */
export default function ({ asyncapi }) {
  const operations = asyncapi.allOperations().all();
  const parts = [importOf(operations), ...operations.map(operationText), ...obfuscatedText(operations), ...renamedText(operations)];
  const client = clientText(asyncapi);
  return [
    <File name="messages.ts">
      <Text>{parts.join("\n\n")}</Text>
    </File>,
    ...(client === null ? [] : [<File name="client.ts"><Text>{client}</Text></File>]),
  ];
}

function clientText(asyncapi) {
  const said = (name) => asyncapi.info().extensions().get(name)?.value() ?? null;
  const name = said("x-client-name");
  if (name === null) return null;
  const channels = asyncapi.allChannels().all().map(channelOf);
  const types = channels.flatMap(({ sent, heard }) => [sent, heard]).sort();
  return [
    `import type { ${types.join(", ")} } from "./${said("x-messages-file")}";`,
    ``,
    `/** One method for each channel. A method only describes the channel; \`open\` connects, sends and receives. */`,
    `export class ${name}Client {`,
    `  readonly #open: OpenChannel;`,
    ``,
    `  constructor(open: OpenChannel) {`,
    `    this.#open = open;`,
    `  }`,
    ...channels.flatMap(methodText),
    `}`,
    ``,
    CHANNEL_TYPES,
  ].join("\n");
}

function methodText({ id, address, title, keyHeader, sent, heard }) {
  const request = `{ address: ${JSON.stringify(address)}, keyHeader: ${JSON.stringify(keyHeader)}, messages }`;
  return [
    ``,
    `  /** \`${address}\` ${title}. The stream ends with its connection. */`,
    `  ${id}(messages: AsyncIterable<${sent}>, options?: ChannelOptions): Promise<MessageStream<${heard}>> {`,
    `    return this.#open(${request}, options);`,
    `  }`,
  ];
}

/** Finds the channel's operations. The operation that the service receives is what a client sends. */
function channelOf(channel) {
  const operations = channel.operations().all();
  const typeOf = (action) => capitalized(operations.find((operation) => operation.action() === action).id());
  const headers = channel.bindings().get("ws").value().headers.properties;
  const [keyHeader] = Object.entries(headers).find(([, header]) => header["x-secret"] === true);
  const title = channel.json("title");
  return { id: channel.id(), address: channel.address(), title, keyHeader, sent: typeOf("receive"), heard: typeOf("send") };
}

const CHANNEL_TYPES = `/** Opens a channel and sends the messages on it. Resolves to the received messages once the channel is open. */
export interface OpenChannel {
  <Message>(request: ChannelRequest, options?: ChannelOptions): Promise<MessageStream<Message>>;
}

export interface ChannelRequest {
  /** Path of the channel on its server. */
  readonly address: string;
  /** Name of the header that carries the caller's key. */
  readonly keyHeader: string;
  readonly messages: AsyncIterable<unknown>;
}

export interface ChannelOptions {
  /** Aborts the opening of the channel, or the open stream. */
  readonly signal?: AbortSignal;
}

/** Messages as they arrive. They can be read once. Leaving the loop, or \`abort\`, closes the connection. */
export interface MessageStream<Message> extends AsyncIterable<Message> {
  abort(reason?: unknown): void;
}`;

function importOf(operations) {
  const names = [...new Set(operations.flatMap((operation) => messagesOf(operation).map(({ schema }) => schema)))].sort();
  return `import type {\n${names.map((name) => `  ${name},`).join("\n")}\n} from "./types.ts";`;
}

function operationText(operation) {
  const messages = messagesOf(operation);
  const id = operation.id();
  return [
    `/** ${operation.summary()}. */`,
    `export type ${capitalized(id)} =\n${messages.map(({ schema }) => `  | ${schema}`).join("\n")};`,
    ``,
    `/** The tag of each member of ${capitalized(id)}. */`,
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

function capitalized(name) {
  return name[0].toUpperCase() + name.slice(1);
}

function listText(values) {
  return `[\n${[...new Set(values)].map((value) => `  ${JSON.stringify(value)},`).join("\n")}\n] as const`;
}
