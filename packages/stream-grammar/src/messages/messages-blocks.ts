import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { quoteValue } from "../items/texts.ts";
import type { Report } from "../rules.ts";

type Members = Readonly<Record<string, unknown>>;

/** The types of deltas, the type of block that each belongs to, and its member. */
const DELTAS: Readonly<Record<string, { readonly blocks: readonly string[]; readonly member: string }>> = {
  text_delta: { blocks: ["text"], member: "text" },
  citations_delta: { blocks: ["text"], member: "citation" },
  input_json_delta: { blocks: ["tool_use", "server_tool_use", "mcp_tool_use"], member: "partial_json" },
  thinking_delta: { blocks: ["thinking"], member: "thinking" },
  signature_delta: { blocks: ["thinking"], member: "signature" },
};

/** Blocks whose text or input follows their start. */
const EMPTY_AT_START: Readonly<Record<string, (block: Members) => boolean>> = {
  text: (block) => block["text"] === "",
  thinking: (block) => block["thinking"] === "" && typeof block["signature"] === "string",
  tool_use: hasNoInput,
  server_tool_use: hasNoInput,
};

function hasNoInput({ id, name, input }: Members): boolean {
  return (
    typeof id === "string" &&
    id !== "" &&
    typeof name === "string" &&
    isRecord(input) &&
    Object.keys(input).length === 0
  );
}

interface OpenBlock {
  readonly type: string;
  /** The pieces of its input. */
  json: string;
  isSigned: boolean;
}

/** Checks the blocks of one message. */
export class MessagesBlocks {
  readonly #report: Report;
  readonly #calls = new Set<unknown>();
  #count = 0;
  #open: OpenBlock | null = null;
  /** Whether a call of the client is among them. */
  hasCall = false;

  constructor(report: Report) {
    this.#report = report;
  }

  take(type: "content_block_start" | "content_block_delta" | "content_block_stop", event: Members): void {
    const { index } = event;
    if (type === "content_block_start") return this.#begin(index, event["content_block"]);
    if (this.#open === null) return this.#report("messages-block", "no block is open");
    if (index !== this.#count - 1)
      this.#report("messages-block", `the index is ${quoteValue(index)}, but the open block is ${this.#count - 1}`);
    if (type === "content_block_delta") this.#grow(this.#open, event["delta"]);
    else this.#stop(this.#open);
  }

  /** Call this once, at the end of the message. */
  end(): void {
    if (this.#open !== null) this.#report("messages-block", "a block is open at the end");
  }

  #begin(index: unknown, block: unknown): void {
    if (this.#open !== null) this.#report("messages-block", "a block begins within another one");
    if (index !== this.#count)
      this.#report("messages-block", `a block begins at ${quoteValue(index)}, but should at ${this.#count}`);
    this.#count++;
    const members: Members = isRecord(block) ? block : {};
    const { type } = members;
    this.#open = { type: typeof type === "string" ? type : "", json: "", isSigned: false };
    if (this.#open.type === "") this.#report("messages-block", "a block has no type");
    const isEmpty = EMPTY_AT_START[this.#open.type];
    if (isEmpty?.(members) === false)
      this.#report("messages-block", `a block of type ${this.#open.type} does not begin empty`);
    if (type === "tool_use") this.hasCall = true;
    if (type === "server_tool_use" || type === "mcp_tool_use") this.#calls.add(members["id"]);
    if (this.#open.type.endsWith("_tool_result") && !this.#calls.has(members["tool_use_id"]))
      this.#report("messages-result", `a result belongs to no call: ${quoteValue(members["tool_use_id"])}`);
  }

  #grow(open: OpenBlock, delta: unknown): void {
    const members: Members = isRecord(delta) ? delta : {};
    const type = String(members["type"]);
    const known = Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined;
    if (known === undefined) return this.#report("messages-delta", `${quoteValue(members["type"])} is no delta`);
    if (!known.blocks.includes(open.type)) this.#report("messages-delta", `${type} is in a block of type ${open.type}`);
    const value = members[known.member];
    if (type === "citations_delta" ? !isRecord(value) : typeof value !== "string")
      this.#report("messages-delta", `${known.member} of ${type} is ${quoteValue(value)}`);
    if (open.isSigned) this.#report("messages-delta", "a delta follows the signature");
    if (type === "signature_delta") open.isSigned = true;
    if (type === "input_json_delta" && typeof value === "string") open.json += value;
  }

  #stop({ json }: OpenBlock): void {
    this.#open = null;
    if (json !== "" && !isRecord(jsonOrText(json)))
      this.#report("messages-input", "the pieces of an input are no JSON object together");
  }
}
