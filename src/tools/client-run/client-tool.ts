import type { Validate } from "@antiphon/contracts/responses-api/readers.js";
import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type {
  HostedTool,
  MadeCall,
  OpenTool,
  ToolCall,
  ToolKind,
  ToolOutcome,
  ToolRefusal,
  ToolUser,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, HostedItem } from "@antiphon/domain/models/hosted.ts";
import { readArguments } from "../read-arguments.ts";
import { withoutSteps } from "../without-steps.ts";
import { type CallSketch, SketchWriter } from "./call-sketch.ts";

/** A tool that the model calls through this server and that the client runs. */
export interface ClientTool<Tool extends ToolInput, Item extends HostedItem> {
  readonly kind: ToolKind;
  readonly types: readonly Tool["type"][];
  readonly idPrefix: string;
  readonly validate: Validate<Item>;
  isOne(tool: ToolInput): tool is Tool;
  /** Why the tool cannot be used; null or absent if it can. */
  refusal?(tool: Tool, user: ToolUser): ToolRefusal | null;
  /** The function offered to the model. */
  offer(tool: Tool): Pick<HostedFunction, "name" | "description" | "parameters"> & { readonly note?: string };
  /** How the item is shown while the model writes; null or absent if it is only shown complete. */
  sketch?(names: CallNames, tool: Tool): CallSketch<Item>;
  /** The texts of an item that its sketch shows. */
  textsIn?(item: Item): readonly string[];
  /**
   * The item of a call in its first and last form. `args`: the model's arguments. The last form is unchecked; the first
   * form is null if the last one is invalid.
   */
  itemOf(
    args: Readonly<Record<string, unknown>>,
    names: CallNames,
    tool: Tool,
  ): { readonly first: Item | null; readonly last: unknown };
}

export interface CallNames {
  readonly id: string;
  readonly callId: string;
}

/** The tool for the tool loop: a call whose arguments make a valid item ends the response. */
export function hostedClientTool<Tool extends ToolInput, Item extends HostedItem>(
  client: ClientTool<Tool, Item>,
): HostedTool {
  return {
    kind: client.kind,
    types: client.types,
    refusal: (tool, user) => (client.isOne(tool) ? (client.refusal?.(tool, user) ?? null) : null),
    open: async (tool) => {
      if (!client.isOne(tool)) throw new Error(`a ${client.kind} tool cannot be opened from ${tool.type}`);
      return openClientTool(client, tool);
    },
  };
}

function openClientTool<Tool extends ToolInput, Item extends HostedItem>(
  client: ClientTool<Tool, Item>,
  tool: Tool,
): OpenTool {
  const { note = null, ...definition } = client.offer(tool);
  return {
    functions: [{ type: "hosted_function", server: null, ...definition }],
    note,
    opening: [],
    pending: [],
    call: (_name, origin) => clientCall(client, tool, origin),
    close: async () => {},
  };
}

function clientCall<Tool extends ToolInput, Item extends HostedItem>(
  client: ClientTool<Tool, Item>,
  tool: Tool,
  origin: MadeCall,
): ToolCall {
  const names = { id: origin.newItemId(client.idPrefix), callId: origin.callId };
  const sketch = client.sketch?.(names, tool);
  const writer = sketch === undefined ? null : new SketchWriter(sketch);
  return {
    item: null,
    streams: writer,
    effect: "none", // The server does nothing; the client acts.
    run: (args) => withoutSteps(clientCallOutcome(client, { tool, names, writer }, args)),
  };
}

interface WrittenCall<Tool, Item extends HostedItem> {
  readonly tool: Tool;
  readonly names: CallNames;
  readonly writer: SketchWriter<Item> | null;
}

function clientCallOutcome<Tool extends ToolInput, Item extends HostedItem>(
  client: ClientTool<Tool, Item>,
  { tool, names, writer }: WrittenCall<Tool, Item>,
  args: string,
): ToolOutcome {
  const read = readArguments(args);
  if (read === null) return faultOutcome("The arguments are not a JSON object.");
  const { first, last } = client.itemOf(read, names, tool);
  if (!client.validate(last) || first === null)
    return faultOutcome(`The arguments are wrong: ${schemaFault(client.validate)}.`);
  if (writer === null || wasShown(writer, first, client.textsIn?.(last) ?? []))
    return { type: "asks", first, item: last };
  return faultOutcome("The arguments hold a member more than once.");
}

/** Whether the shown item matches the complete arguments. */
function wasShown<Item extends HostedItem>(writer: SketchWriter<Item>, first: Item, texts: readonly string[]): boolean {
  if (writer.first === null) return true;
  return JSON.stringify([writer.first, writer.texts]) === JSON.stringify([first, texts]);
}

function faultOutcome(fault: string): ToolOutcome {
  return { type: "told", output: `${fault} Nothing was done. Call the tool again with arguments that fit.` };
}

function schemaFault({ errors }: Validate<HostedItem>): string {
  const fault = errors?.[0];
  if (fault === undefined) return "they do not fit the schema";
  const place = fault.instancePath.split("/").slice(2).join(".");
  return `${place === "" ? "" : `${place} `}${fault.message ?? "does not fit the schema"}`;
}
