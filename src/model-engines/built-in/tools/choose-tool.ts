import type { ToolChoice } from "../../../../generated/responses-api/types.ts";
import type { ModelRequest } from "../../../runs/request/model-request.ts";
import { chosenToolMissing, requiredWithoutTools, unsupportedChoice } from "../model-errors.ts";
import { fittingTool } from "./fitting-tool.ts";
import type { ListedTool } from "./offered-tools.ts";

type ChoiceObject = Exclude<ToolChoice, string>;
type AllowedTools = Extract<ChoiceObject, { type: "allowed_tools" }>;

/** The tool to call, or null. `afterOutputs` says that tools have just returned, so only a forced call is made. */
export function chooseTool(
  choice: ModelRequest["toolChoice"],
  tools: readonly ListedTool[],
  text: string,
  afterOutputs: boolean,
): ListedTool | null {
  if (typeof choice === "string") return chooseByMode(choice, tools, text, afterOutputs);
  switch (choice.type) {
    case "function":
    case "custom":
    case "hosted_function":
      return namedTool(choice, tools);
    case "allowed_tools":
      return chooseByMode(choice.mode, allowedTools(choice, tools), text, afterOutputs);
    default:
      throw unsupportedChoice(choice.type);
  }
}

function chooseByMode(
  mode: "none" | "auto" | "required",
  tools: readonly ListedTool[],
  text: string,
  afterOutputs: boolean,
): ListedTool | null {
  if (mode === "none") return null;
  if (mode === "auto") return afterOutputs ? null : fittingTool(tools, text);
  const [first] = tools;
  if (first === undefined) throw requiredWithoutTools();
  return fittingTool(tools, text) ?? first;
}

function namedTool(
  choice: Extract<ModelRequest["toolChoice"], { readonly type: "function" | "custom" | "hosted_function" }>,
  tools: readonly ListedTool[],
): ListedTool {
  const key = choice.type === "hosted_function" ? hostedKey(choice) : `${choice.type} ${choice.name}`;
  const tool = tools.find((offered) => choiceKey(offered) === key);
  if (tool === undefined) throw chosenToolMissing(choice.name);
  return tool;
}

/** What a choice names a tool by. */
function choiceKey({ kind, name, namespace }: ListedTool): string {
  return kind === "hosted" ? hostedKey({ name, server: namespace }) : `${kind} ${name}`;
}

function hostedKey({ name, server }: { readonly name?: unknown; readonly server?: unknown }): string {
  return `hosted_function ${JSON.stringify([server ?? null, name])}`;
}

/** Entries name a tool by type and name; a namespace means all its tools. */
function allowedTools(choice: AllowedTools, tools: readonly ListedTool[]): ListedTool[] {
  const named = Map.groupBy(tools, choiceKey);
  const grouped = Map.groupBy(tools, ({ kind, namespace }) => (kind === "hosted" ? "" : `namespace ${namespace}`));
  const allowed = new Set<ListedTool>();
  const done = new Set<readonly ListedTool[]>(); // So that a namespace named many times is added only once.
  for (const entry of choice.tools) {
    const { type, name } = entry;
    const key = type === "hosted_function" ? hostedKey(entry) : `${String(type)} ${String(name)}`;
    const meant = (type === "namespace" ? grouped : named).get(key);
    if (meant === undefined) throw chosenToolMissing(typeof name === "string" ? name : String(type));
    if (!done.has(meant)) for (const tool of meant) allowed.add(tool);
    done.add(meant);
  }
  return [...allowed];
}
