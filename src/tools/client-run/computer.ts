import { isRecord } from "@antiphon/base/json/records.ts";
import type { ComputerCall, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import { validateComputerCall } from "@antiphon/contracts/responses-api/validators.js";
import type { HostedTool, ToolRefusal, ToolUser } from "@antiphon/domain/hosted-tool.ts";
import { type ClientTool, hostedClientTool } from "./client-tool.ts";

type ComputerInput = Extract<ToolInput, { type: "computer" | "computer_use_preview" }>;

const ACTIONS_MAX = 10;

/** One schema for the nine actions, because small models cannot follow a union of nine. */
const ACTION_SCHEMA = {
  type: "object",
  properties: {
    type: {
      type: "string",
      enum: ["click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"],
    },
    x: { type: "integer", description: "For click, double_click, move, scroll." },
    y: { type: "integer", description: "For click, double_click, move, scroll." },
    button: { type: "string", enum: ["left", "right", "wheel", "back", "forward"], description: "For click." },
    keys: { type: "array", items: { type: "string" }, description: "For keypress; elsewhere keys held meanwhile." },
    text: { type: "string", description: "For type." },
    scroll_x: { type: "integer", description: "For scroll: pixels to the right." },
    scroll_y: { type: "integer", description: "For scroll: pixels down." },
    path: {
      type: "array",
      items: { type: "object", properties: { x: { type: "integer" }, y: { type: "integer" } }, required: ["x", "y"] },
      description: "For drag: the points from start to end.",
    },
  },
  required: ["type"],
} as const;

const ADVICE =
  "Without a screenshot of the present state ask for {type: screenshot} first. Coordinates are pixels of the last screenshot, from its top left corner.";

const COMPUTER: ClientTool<ComputerInput, ComputerCall> = {
  kind: "computer",
  types: ["computer", "computer_use_preview"],
  idPrefix: "cu",
  validate: validateComputerCall,
  isOne: (tool) => tool.type === "computer" || tool.type === "computer_use_preview",
  refusal: needsPictures,
  offer: (tool) => ({
    name: "computer",
    description: `Controls ${screenOf(tool)}. ${ADVICE}`,
    parameters:
      tool.type === "computer"
        ? {
            type: "object",
            properties: { actions: { type: "array", items: ACTION_SCHEMA, minItems: 1, maxItems: ACTIONS_MAX } },
            required: ["actions"],
          }
        : { type: "object", properties: { action: ACTION_SCHEMA }, required: ["action"] },
  }),
  itemOf: (args, { id, callId }, tool) => {
    const item = { id, type: "computer_call" as const, call_id: callId };
    if (tool.type === "computer_use_preview") {
      const preview = { ...item, pending_safety_checks: [] };
      return {
        first: { ...preview, status: "in_progress" },
        last: { ...preview, status: "completed", action: fillAction(args["action"]) },
      };
    }
    const { actions } = args;
    return {
      first: { ...item, status: "in_progress" },
      last: { ...item, status: "completed", actions: Array.isArray(actions) ? actions.map(fillAction) : actions },
    };
  },
};

/** The tools `computer` and `computer_use_preview`. The client acts and sends a screenshot back. */
export const computerTool: HostedTool = hostedClientTool(COMPUTER);

function needsPictures(_tool: ComputerInput, { abilities }: ToolUser): ToolRefusal | null {
  if (abilities.images) return null;
  const reason = "A computer is shown in screenshots, and this model sees no pictures. MODEL_INPUT says what it takes.";
  return { reason, member: null, grade: "unavailable" };
}

function screenOf(tool: ComputerInput): string {
  if (tool.type === "computer") return "a computer";
  return `a computer (${tool.environment}, ${tool.display_width} × ${tool.display_height} pixels)`;
}

/** Adds defaults that models omit: the left button, and no held keys. */
function fillAction(action: unknown): unknown {
  if (!isRecord(action)) return action;
  if (action["type"] === "click") return { button: "left", ...action };
  return action["type"] === "double_click" ? { keys: null, ...action } : action;
}
