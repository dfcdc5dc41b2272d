import type { McpListedTool } from "@antiphon/contracts/responses-api/types.ts";

/** The name under which the model reads resources. A tool of the server with this name takes its place. */
const NAME = "read_resource";
/** Tells our function in a list from a tool of the server. */
const METHOD = "resources/read";

/** A function of ours, in the list of a server that has resources. It is chosen and approved like its tools. */
export const RESOURCE_TOOL: McpListedTool = {
  annotations: { read_only: true, method: METHOD },
  description:
    "Reads a resource of this server by its uri, such as one that a result names. Without a uri, it lists the resources.",
  input_schema: {
    type: "object",
    properties: {
      uri: { type: "string", description: "The uri of a resource. Leave it out to list the resources." },
      cursor: {
        type: "string",
        description: "For the next page of the list: the cursor that the last page ends with.",
      },
    },
    additionalProperties: false,
  },
  name: NAME,
};

/** A request for something to read, and its parameters. */
export interface ReadingRequest {
  readonly method: "resources/read" | "resources/list" | "resources/templates/list";
  readonly params: Record<string, string>;
}

/** Whether a listed tool is our function. Clients may send lists, so the name counts, which filters look at. */
export function isResourceTool({ name, annotations }: McpListedTool): boolean {
  return name === NAME && annotations?.["method"] === METHOD;
}
