import { describe, expect, it } from "vitest";
import type { ToolInput } from "../../../generated/responses-api/types.ts";
import type { HostedTool, OpenTool, ToolOutcome, ToolScope } from "../../responses-api/hosted-tool.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { computerTool } from "./computer.ts";
import { localShellTool } from "./local-shell.ts";
import { shellTool } from "./shell.ts";

const SIGHTED = { images: true, imageUrls: true, files: false, audioFormats: [] };
const USER = { owner: { organization: "org", project: "project" }, abilities: SIGHTED };

const COMPUTER = { type: "computer" } as const;
const PREVIEW = {
  type: "computer_use_preview",
  display_width: 1024,
  display_height: 768,
  environment: "browser",
} as const;

describe("a computer", () => {
  it("shows its actions only in the last form of the item", async () => {
    const outcome = await called(computerTool, COMPUTER, { actions: [{ type: "click", x: 3, y: 4 }] });
    expect(outcome).toStrictEqual({
      type: "asks",
      first: { id: "cu_1", type: "computer_call", call_id: "call_1", status: "in_progress" },
      item: {
        id: "cu_1",
        type: "computer_call",
        call_id: "call_1",
        status: "completed",
        actions: [{ type: "click", button: "left", x: 3, y: 4 }],
      },
    });
  });

  it("of the preview has one action, no safety checks, and its size in the description", async () => {
    const outcome = await called(computerTool, PREVIEW, { action: { type: "screenshot" } });
    expect(outcome).toMatchObject({
      first: { pending_safety_checks: [] },
      item: { action: { type: "screenshot" }, pending_safety_checks: [] },
    });
    expect((await opened(computerTool, PREVIEW)).functions[0]?.description).toContain("1024 × 768");
  });

  it.each([
    ["an unknown action", { actions: [{ type: "jump" }] }],
    ["a click without coordinates", { actions: [{ type: "click" }] }],
    ["a coordinate in words", { actions: [{ type: "move", x: "left", y: 2 }] }],
    ["no list", { actions: "click" }],
  ])("tells the model of %s", async (_what, args) => {
    const outcome = await called(computerTool, COMPUTER, args);
    expect(outcome).toMatchObject({ type: "told", output: expect.stringContaining("The arguments are wrong: ") });
  });

  it("cannot be had with a model that sees no pictures", () => {
    const blind = { ...USER, abilities: { ...SIGHTED, images: false } };
    expect(computerTool.refusal(COMPUTER, blind)).toMatchObject({ grade: "unavailable" });
    expect(computerTool.refusal(COMPUTER, USER)).toBeNull();
  });
});

describe("a shell", () => {
  it("shows its commands only in the last form of the item", async () => {
    const outcome = await called(shellTool, { type: "shell" }, { commands: ["ls -a"], timeout_ms: 1000 });
    expect(outcome).toMatchObject({
      first: { id: "sh_1", action: { commands: [], max_output_length: null, timeout_ms: null }, environment: null },
      item: { status: "completed", action: { commands: ["ls -a"], max_output_length: null, timeout_ms: 1000 } },
    });
  });

  it("tells the model of the skills of the client's machine", async () => {
    const skills = [{ name: "pdf", description: "Reads PDFs.", path: "/skills/pdf" }];
    const open = await opened(shellTool, { type: "shell", environment: { type: "local", skills } });
    expect(open.functions[0]?.description).toContain("- pdf (/skills/pdf): Reads PDFs.");
  });

  it("has no containers; one that is named is needed", () => {
    const auto = { type: "shell", environment: { type: "container_auto" } } as const;
    const named = { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } } as const;
    expect(shellTool.refusal(auto, USER)).toMatchObject({ grade: "unavailable", member: "environment" });
    expect(shellTool.refusal(named, USER)).toMatchObject({ grade: "needed" });
  });

  it("tells the model when the arguments are no JSON", async () => {
    const outcome = await finished(await opened(shellTool, { type: "shell" }), '{"commands": [');
    expect(outcome).toMatchObject({ type: "told", output: expect.stringContaining("not a JSON object") });
  });
});

describe("a local shell", () => {
  it("runs one program", async () => {
    const args = { command: ["bash", "-lc", "ls | wc -l"], working_directory: "/tmp" };
    expect(await called(localShellTool, { type: "local_shell" }, args)).toMatchObject({
      first: { action: { type: "exec", command: [], env: {} } },
      item: { id: "lsh_1", action: { type: "exec", ...args, env: {} } },
    });
  });
});

describe("a patch", () => {
  const tool = { type: "apply_patch" } as const;

  it("shows its diff only in the last form of the item", async () => {
    const operation = { type: "update_file", path: "a.txt", diff: "@@\n-old\n+new" };
    expect(await called(applyPatchTool, tool, { operation })).toMatchObject({
      first: { operation: { type: "update_file", path: "a.txt", diff: "" } },
      item: { id: "apc_1", operation },
    });
  });

  it("is understood without its outer object", async () => {
    const operation = { type: "delete_file", path: "a.txt" };
    const outcome = await called(applyPatchTool, tool, { ...operation, diff: "" });
    expect(outcome).toMatchObject({ first: { operation }, item: { operation } });
    expect(outcome.type === "asks" && outcome.item).not.toHaveProperty("operation.diff");
  });

  it("without a diff is told to the model", async () => {
    const outcome = await called(applyPatchTool, tool, { operation: { type: "create_file", path: "a.txt" } });
    expect(outcome).toMatchObject({ type: "told", output: expect.stringContaining("'diff'") });
  });
});

async function opened(tool: HostedTool, asked: ToolInput): Promise<OpenTool> {
  const scope: ToolScope = {
    ...USER,
    responseId: "resp_1",
    include: [],
    context: [],
    approvals: [],
    readsPrivately: false,
    deferred: [],
    signal: new AbortController().signal,
    newItemId: (prefix) => `${prefix}_1`,
  };
  return await tool.open(asked, scope);
}

async function called(tool: HostedTool, asked: ToolInput, args: object): Promise<ToolOutcome> {
  return await finished(await opened(tool, asked), JSON.stringify(args));
}

async function finished(open: OpenTool, args: string): Promise<ToolOutcome> {
  const [{ name } = { name: "" }] = open.functions;
  const call = open.call(name, { callId: "call_1", newItemId: (prefix) => `${prefix}_1` });
  const { value, done } = await call.run(args, new AbortController().signal).next();
  if (done !== true) throw new Error(`the call took a step: ${value.type}`);
  return value;
}
