import type { JsonPath } from "@antiphon/base/json/json-strings.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ApplyPatchCall, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { validateApplyPatchCall } from "@antiphon/contracts/responses-api/validators.js";
import type { HostedTool } from "@antiphon/domain/hosted-tool.ts";
import type { SketchPart } from "./call-sketch.ts";
import { type CallNames, type ClientTool, hostedClientTool } from "./client-tool.ts";

const DIFF_FORM =
  "In a diff lines begin with a blank, - or +, and @@ lines give context; it has no file headers. A new file has + lines only.";

const APPLY_PATCH: ClientTool<Extract<ToolInput, { type: "apply_patch" }>, ApplyPatchCall> = {
  kind: "apply_patch",
  types: ["apply_patch"],
  idPrefix: "apc",
  validate: validateApplyPatchCall,
  isOne: (tool) => tool.type === "apply_patch",
  offer: () => ({
    name: "apply_patch",
    description: `Creates, changes or deletes one file of the user. ${DIFF_FORM}`,
    parameters: {
      type: "object",
      properties: {
        operation: {
          type: "object",
          properties: {
            type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
            path: { type: "string", description: "Relative to the user's folder." },
            diff: { type: "string", description: "Empty for delete_file." },
          },
          required: ["type", "path", "diff"],
        },
      },
      required: ["operation"],
    },
  }),
  sketch: (names) => ({
    partOf: operationPart,
    // A deletion has nothing to show while it is written.
    firstOf: (heads) => (heads.get("type") === "delete_file" ? null : firstForm(names, Object.fromEntries(heads))),
  }),
  textsIn: ({ operation }) => ("diff" in operation ? [operation.diff] : []),
  itemOf: (args, names) => {
    const operation = withoutDiff(args["operation"] ?? args); // Some models omit the outer object.
    return {
      first: firstForm(names, isRecord(operation) ? operation : {}),
      last: { ...patchCallMembers(names), status: "completed", operation },
    };
  },
};

/** The tool `apply_patch`: the client changes its files. */
export const applyPatchTool: HostedTool = hostedClientTool(APPLY_PATCH);

/** A deletion has no diff, whatever the model wrote. */
function withoutDiff(operation: unknown): unknown {
  if (!isRecord(operation) || operation["type"] !== "delete_file") return operation;
  return { type: "delete_file", path: operation["path"] };
}

/** The members of the operation, even without their outer object. */
function operationPart(path: JsonPath): SketchPart {
  const [member = "", ...deeper] = path[0] === "operation" ? path.slice(1) : path;
  if (deeper.length > 0) return null;
  if (member === "diff") return "text";
  return member === "type" || member === "path" ? { head: member } : null;
}

/** The item before its diff is known; null until the file and its change are known. */
function firstForm(names: CallNames, { type, path }: Readonly<Record<string, unknown>>): ApplyPatchCall | null {
  if (typeof path !== "string") return null;
  const call = { ...patchCallMembers(names), status: "in_progress" as const };
  if (type === "delete_file") return { ...call, operation: { type, path } };
  if (type !== "create_file" && type !== "update_file") return null;
  return { ...call, operation: { type, path, diff: "" } };
}

function patchCallMembers({ id, callId }: CallNames) {
  return { id, type: "apply_patch_call" as const, call_id: callId };
}
