import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import {
  type Citable,
  containerOf,
  type HostedTool,
  type OpeningItem,
  type OpenTool,
  type PendingCall,
  type ServerGuide,
  type ToolKind,
  type ToolScope,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { OfferedHostedTool } from "../offered-tools/accept-tools.ts";

/** A function offered to the model, and its tool. */
export interface PlacedFunction {
  readonly kind: ToolKind;
  readonly definition: HostedFunction;
  readonly tool: OpenTool;
}

/** A call that runs before the first turn. */
export interface PlacedCall {
  readonly kind: ToolKind;
  readonly server: string | null;
  readonly pending: PendingCall;
}

/** The tools of one response, ready for use. */
export interface ToolSet {
  /** Those that the tools have now. */
  readonly functions: readonly PlacedFunction[];
  /** For the instructions. */
  readonly notes: readonly string[];
  readonly guides: readonly ServerGuide[];
  readonly opening: readonly OpeningItem[];
  readonly pending: readonly PlacedCall[];
  /** Sources that can be cited before any call. */
  readonly sources: readonly Citable[];
  find(name: string, server: string | null): PlacedFunction | null;
  /** Never rejects, and may be called repeatedly. */
  close(): Promise<void>;
}

/** Opens all tools at once. If one cannot be opened, closes the others and rejects with its error. */
export async function openTools(
  tools: HostedTools,
  hostedTools: readonly OfferedHostedTool[],
  scope: Omit<ToolScope, "readsPrivately">,
): Promise<ToolSet> {
  const goesOn = scope.context.some((item) => containerOf(item) !== null);
  const readers = hostedTools.filter(({ tool }) => readsPrivateThings(tool, goesOn));
  const opening = hostedTools.map(async (hostedTool) => {
    const readsPrivately = readers.length > 1 || (readers.length === 1 && readers[0] !== hostedTool);
    return {
      ...hostedTool,
      open: await open(tools.find(hostedTool.tool.type), hostedTool, { ...scope, readsPrivately }),
    };
  });
  const results = await Promise.allSettled(opening);
  const openEntries = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  let closing: Promise<unknown> | null = null;
  const closeAll = async (): Promise<void> => {
    await (closing ??= Promise.allSettled(openEntries.map(({ open: tool }) => tool.close())));
  };
  const failure = results.find((one) => one.status === "rejected");
  if (failure !== undefined) {
    await closeAll();
    throw failure.reason;
  }
  const placed = openEntries.map(({ kind, open: tool }) => new PlacedFunctions(kind, tool));
  return {
    get functions() {
      return placed.flatMap((one) => one.all);
    },
    notes: openEntries.flatMap(({ open: { note } }) => (note === null ? [] : [note])),
    guides: openEntries.flatMap(({ open: { guide } }) => guide ?? []),
    opening: openEntries.flatMap(({ open: tool }) => tool.opening),
    pending: openEntries.flatMap(({ kind, open: { pending }, tool }) =>
      pending.map((call) => ({ kind, server: tool.type === "mcp" ? tool.server_label : null, pending: call })),
    ),
    sources: openEntries.flatMap(({ open: tool }) => tool.sources ?? []),
    find: (name, server) => placed.map((one) => one.find(name, server)).find((entry) => entry !== null) ?? null,
    close: closeAll,
  };
}

async function open(hostedTool: HostedTool | null, { tool }: OfferedHostedTool, scope: ToolScope): Promise<OpenTool> {
  if (hostedTool !== null) return await hostedTool.open(tool, scope);
  // A stored task may name a tool that this server had at the time.
  throw new ModelError(`Tools of type '${tool.type}' are no longer available on this server.`, {
    status: 400,
    type: "invalid_request_error",
    code: "unsupported_parameter",
    param: "tools",
  });
}

/** The functions of one tool. They are placed again when it has others. */
class PlacedFunctions {
  readonly #kind: ToolKind;
  readonly #tool: OpenTool;
  #definitions: readonly HostedFunction[] = [];
  #all: readonly PlacedFunction[] = [];
  #byName: ReadonlyMap<string, PlacedFunction> = new Map();

  constructor(kind: ToolKind, tool: OpenTool) {
    this.#kind = kind;
    this.#tool = tool;
  }

  /** The same entries as long as the tool has the same functions. */
  get all(): readonly PlacedFunction[] {
    const { functions } = this.#tool;
    if (functions === this.#definitions) return this.#all;
    this.#definitions = functions;
    this.#all = functions.map((definition) => ({ kind: this.#kind, definition, tool: this.#tool }));
    this.#byName = new Map(
      this.#all.map((entry) => [functionKey(entry.definition.name, entry.definition.server), entry]),
    );
    return this.#all;
  }

  find(name: string, server: string | null): PlacedFunction | null {
    return this.all.length === 0 ? null : (this.#byName.get(functionKey(name, server)) ?? null);
  }
}

function functionKey(name: string, server: string | null): string {
  return JSON.stringify([name, server]);
}

/** `goesOn`: whether a container may be reused with its content. */
function readsPrivateThings(tool: ToolInput, goesOn: boolean): boolean {
  switch (tool.type) {
    case "mcp":
    case "file_search":
      return true;
    case "code_interpreter":
      return typeof tool.container === "string" || goesOn || (tool.container.file_ids ?? []).length > 0;
    case "shell":
      return (
        tool.environment?.type === "container_reference" ||
        (tool.environment?.type === "container_auto" && (goesOn || (tool.environment.file_ids ?? []).length > 0))
      );
    default:
      return false;
  }
}
