import { assertNever } from "@antiphon/base/assert.ts";
import type {
  ChatFunctionObject,
  ChatResponseFormat,
  ChatToolChoice,
  ChatToolInput,
  ChatWebSearchOptions,
  CreateChatCompletionRequest,
} from "@antiphon/contracts/chat-completions/types.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";

type Tool = NonNullable<CreateResponseRequest["tools"]>[number];
type ToolChoice = NonNullable<CreateResponseRequest["tool_choice"]>;
type TextFormat = NonNullable<NonNullable<CreateResponseRequest["text"]>["format"]>;

/** The tools of a request: those of `tools`, of the deprecated `functions`, and the web search of its options. */
export function chatTools({ tools, functions, web_search_options: webSearch }: CreateChatCompletionRequest): Tool[] {
  return [
    ...(tools ?? []).map(chatTool),
    ...(functions ?? []).map(functionTool),
    ...(webSearch == null ? [] : [webSearchTool(webSearch)]),
  ];
}

function chatTool(tool: ChatToolInput): Tool {
  if (tool.type === "function") return functionTool(tool.function);
  if (tool.type !== "custom") return tool;
  const { name, description, format } = tool.custom;
  return {
    type: "custom",
    name,
    ...(description == null ? {} : { description }),
    ...(format == null
      ? {}
      : { format: format.type === "text" ? { type: "text" } : { type: "grammar", ...format.grammar } }),
  };
}

/** `strict` is written out: here it is false by default, and in the Responses API it is true. */
function functionTool({ name, description, parameters, strict }: ChatFunctionObject): Tool {
  return {
    type: "function",
    name,
    ...(description == null ? {} : { description }),
    ...(parameters == null ? {} : { parameters }),
    strict: strict ?? false,
  };
}

function webSearchTool({ search_context_size: size, user_location: location }: ChatWebSearchOptions): Tool {
  return {
    type: "web_search",
    ...(size == null ? {} : { search_context_size: size }),
    ...(location == null ? {} : { user_location: { type: "approximate", ...location.approximate } }),
  };
}

/** The choice of tools, also in its deprecated form; null if the request has none. */
export function toolChoice({
  tool_choice: choice,
  function_call: legacy,
}: CreateChatCompletionRequest): ToolChoice | null {
  if (choice != null) return chosenTool(choice);
  if (legacy == null) return null;
  return typeof legacy === "string" ? legacy : { type: "function", name: legacy.name };
}

function chosenTool(choice: ChatToolChoice): ToolChoice {
  if (typeof choice === "string") return choice;
  switch (choice.type) {
    case "function":
      return { type: "function", name: choice.function.name };
    case "custom":
      return { type: "custom", name: choice.custom.name };
    case "allowed_tools": {
      const { mode, tools } = choice.allowed_tools;
      const references = tools.map((tool) => ({
        type: tool.type,
        name: tool.type === "function" ? tool.function.name : tool.custom.name,
      }));
      return { type: "allowed_tools", mode, tools: references };
    }
    default:
      return assertNever(choice);
  }
}

/** The form of the answer's text. */
export function textFormat(format: ChatResponseFormat): TextFormat {
  if (format.type !== "json_schema") return { type: format.type };
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: "json_schema",
    name,
    ...(description == null ? {} : { description }),
    schema: schema ?? {},
    strict: strict ?? false,
  };
}
