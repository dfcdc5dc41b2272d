import type { ModelRequest, OfferedTool } from "@antiphon/domain/models/model-request.ts";
import { callerFault } from "../model-errors.ts";

/** A tool that can be called. Tools of namespaces are listed one by one. */
export interface ListedTool {
  readonly tool: Extract<OfferedTool, { type: "function" | "custom" | "hosted_function" | "tool_search" }>;
  readonly name: string;
  /** The namespace of a hosted function is its server. */
  readonly namespace: string | null;
}

/** What a choice names a tool by. */
type ToolName = Readonly<Partial<Record<"type" | "name" | "server", unknown>>>;

/** Words that occur in most names and descriptions and so do not tell tools apart. */
const COMMON_WORDS = new Set(
  `a about all also an and any are as at be been but by call can could current data did do does for from function get getting give given gives
  had has have he her him his how i if in info information into is it its just lets like list made make me my new no not now of on one only or our
  out please return returned returns set she should so some specified such tell than that the their them then there these they thing this those to
  tool two up us use used user users using value want was we were what when where which who why will with would you your`.split(
    /\s+/,
  ),
);
const NAME_WEIGHT = 3;
const DESCRIPTION_WORDS_MIN = 2;
/** For a tool that the message calls by its whole name. */
const WHOLE_NAME_SCORE = 100;

/**
 * The tool to call, or null. `afterOutputs` says that tools have just returned, so only a forced call is made. Throws
 * `ModelError` for tools that are not offered, or that the engine cannot call.
 */
export function chooseTool(
  { toolChoice, tools }: Pick<ModelRequest, "toolChoice" | "tools">,
  text: string,
  afterOutputs: boolean,
): ListedTool | null {
  const listed = tools.flatMap(listTools);
  if (typeof toolChoice === "string") return chooseFitting(toolChoice, listed, text, afterOutputs);
  switch (toolChoice.type) {
    case "function":
    case "custom":
    case "hosted_function":
      return namedTools([toolChoice], listed)[0] ?? null;
    case "allowed_tools":
      return chooseFitting(toolChoice.mode, namedTools(toolChoice.tools, listed), text, afterOutputs);
    default: {
      const message = `Tool choice '${toolChoice.type}' is not available with the built-in engine.`;
      throw callerFault(message, "tool_choice", "unsupported_parameter");
    }
  }
}

function listTools(tool: OfferedTool, position: number): ListedTool[] {
  switch (tool.type) {
    case "function":
    case "custom":
      return [{ tool, name: tool.name, namespace: null }];
    case "hosted_function":
      return [{ tool, name: tool.name, namespace: tool.server }];
    case "tool_search":
      return [{ tool, name: tool.type, namespace: null }];
    case "namespace":
      return tool.tools.map((member) => ({ tool: member, name: member.name, namespace: tool.name }));
    default: {
      const message = `Tools of type '${tool.type}' are not available with the built-in engine.`;
      throw callerFault(message, `tools[${position}]`, "unsupported_parameter");
    }
  }
}

/** The tools that the choices name: by type and name, or all tools of a namespace. */
function namedTools(choices: readonly ToolName[], tools: readonly ListedTool[]): ListedTool[] {
  const known = new Set(tools.flatMap(toolKeys));
  const missing = choices.find((choice) => !known.has(nameKey(choice)));
  if (missing !== undefined) {
    const name = typeof missing.name === "string" ? missing.name : String(missing.type);
    throw callerFault(`Tool choice '${name}' not found in 'tools' parameter.`, "tool_choice");
  }
  const chosen = new Set(choices.map(nameKey));
  return tools.filter((tool) => toolKeys(tool).some((key) => chosen.has(key)));
}

function toolKeys({ tool: { type }, name, namespace }: ListedTool): string[] {
  if (type === "hosted_function") return [nameKey({ type, name, server: namespace })];
  const own = nameKey({ type, name });
  return namespace === null ? [own] : [own, nameKey({ type: "namespace", name: namespace })];
}

function nameKey({ type, name, server = null }: ToolName): string {
  return JSON.stringify([type, name, server]);
}

function chooseFitting(
  mode: "none" | "auto" | "required",
  tools: readonly ListedTool[],
  text: string,
  afterOutputs: boolean,
): ListedTool | null {
  if (mode === "none" || (mode === "auto" && afterOutputs)) return null;
  const fitting = fittingTool(tools, text);
  if (mode === "auto") return fitting;
  const message = "Tool choice 'required' must be specified with 'tools' parameter.";
  if (tools[0] === undefined) throw callerFault(message, "tool_choice");
  return fitting ?? tools[0];
}

/**
 * The tool that shares most words with the message, if one fits clearly: by half the words of its name, its whole name,
 * or two words of its description.
 */
function fittingTool(tools: readonly ListedTool[], text: string): ListedTool | null {
  const textWords = contentWords(text);
  const scored = tools.map((listed) => ({ listed, score: scoreTool(listed, textWords, text) }));
  const [best] = scored.toSorted((one, other) => other.score - one.score);
  return best === undefined || best.score === 0 ? null : best.listed;
}

function scoreTool({ tool, name }: ListedTool, textWords: ReadonlySet<string>, text: string): number {
  const nameWords = contentWords(name);
  const inName = nameWords.intersection(textWords).size;
  const inDescription = contentWords(tool.description ?? "").intersection(textWords).size;
  const score = inName * NAME_WEIGHT + inDescription;
  if (name.length > 3 && text.includes(name)) return WHOLE_NAME_SCORE + score;
  const fits = (inName > 0 && inName * 2 >= nameWords.size) || inDescription >= DESCRIPTION_WORDS_MIN;
  return fits ? score : 0;
}

/** The words that are not common, in lower case and without a plural "s". Camel case and snake case give the same. */
function contentWords(text: string): ReadonlySet<string> {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
  const words = (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !COMMON_WORDS.has(word));
  return new Set(words.map((word) => word.replace(/(?<=\p{L}{3})s$/u, "")));
}
