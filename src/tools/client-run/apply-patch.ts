import type { ApplyPatchCall, ToolInput } from "../../../generated/responses-api/types.ts";
import { validateApplyPatchCall } from "../../../generated/responses-api/validators.js";
import { isRecord } from "../../base/json/records.ts";
import type { HostedTool } from "../../responses-api/hosted-tool.ts";
import { type ClientTool, hostedClientTool } from "./client-tool.ts";

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
  itemOf: (args, { id, callId }) => {
    const call = { id, type: "apply_patch_call" as const, call_id: callId };
    const operation = withoutDiff(args["operation"] ?? args); // Some models leave the outer object out.
    return {
      first: { ...call, status: "in_progress", operation: firstForm(operation) },
      last: { ...call, status: "completed", operation },
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

/** The operation before its diff is known. */
function firstForm(operation: unknown): ApplyPatchCall["operation"] {
  const { type, path } = isRecord(operation) ? operation : {};
  const at = typeof path === "string" ? path : "";
  if (type === "delete_file") return { type, path: at };
  return { type: type === "create_file" ? type : "update_file", path: at, diff: "" };
}
