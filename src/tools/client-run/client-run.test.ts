import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, OpenTool, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { describe, expect, it } from "vitest";
import { MADE, runCall, toolScope, USER } from "../tool-scope.fixture.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { computerTool } from "./computer.ts";
import { localShellTool } from "./local-shell.ts";
import { localEnvironmentShell as shellTool } from "./shell.ts";

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
    const blind = { ...USER, abilities: { ...USER.abilities, images: false } };
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

describe("a call that the model writes piece by piece", () => {
  const WRITTEN: readonly (readonly [HostedTool, ToolInput, object])[] = [
    [shellTool, { type: "shell" }, { timeout_ms: 5, commands: ['ls "a"', "", "echo 😀"] }],
    [localShellTool, { type: "local_shell" }, { command: ["ls", "-a"], env: { command: "x" } }],
    [applyPatchTool, { type: "apply_patch" }, { operation: { type: "create_file", path: "a", diff: "+1\n+2" } }],
    [applyPatchTool, { type: "apply_patch" }, { operation: { diff: "+1\n+2", path: "a", type: "update_file" } }],
    [applyPatchTool, { type: "apply_patch" }, { diff: "", path: "a", type: "create_file" }],
    [applyPatchTool, { type: "apply_patch" }, { operation: { type: "delete_file", path: "a", diff: "-1" } }],
  ];

  it.each(WRITTEN)("of %s %s with %j shows the same wherever it is cut", async (tool, asked, args) => {
    const json = JSON.stringify(args).replace("😀", "\\ud83d\\ude00");
    const whole = await shownOf(tool, asked, [json]);
    expect(whole.outcome).toMatchObject({ type: "asks", ...(whole.first === null ? {} : { first: whole.first }) });
    for (let at = 0; at <= json.length; at += 1)
      expect(await shownOf(tool, asked, [json.slice(0, at), json.slice(at)])).toEqual(whole);
    expect(await shownOf(tool, asked, json.split(""))).toEqual(whole);
  });

  it.each([
    [shellTool, { type: "shell" }, '{"commands":["rm a"],"commands":["rm b"]}'],
    [applyPatchTool, { type: "apply_patch" }, '{"operation":{"type":"create_file","path":"a","diff":"","path":"b"}}'],
    [applyPatchTool, { type: "apply_patch" }, '{"diff":"x","operation":{"type":"create_file","path":"a","diff":"y"}}'],
  ] as const)("of %s %s with %s is told if another one was shown", async (tool, asked, json) => {
    expect((await shownOf(tool, asked, [json])).outcome).toMatchObject({ type: "told" });
  });

  it("begins no item before it is known what happens to which file", async () => {
    for (const json of [
      '{"operation":{"type":"create_file","diff":"x',
      '{"operation":{"path":"a","diff":"x',
      "{}",
      "no",
    ])
      expect((await shownOf(applyPatchTool, { type: "apply_patch" }, [json])).first).toBeNull();
  });
});

/** What was shown while these pieces arrived, and how the call came out. */
async function shownOf(tool: HostedTool, asked: ToolInput, pieces: readonly string[]) {
  const open = await opened(tool, asked);
  const call = open.call(open.functions[0]?.name ?? "", MADE);
  const writer = call.streams;
  if (writer === null || typeof writer !== "object" || !("add" in writer)) throw new Error("nothing is written");
  const [first = null, ...events] = pieces.flatMap((piece) => writer.add(piece));
  const texts: string[] = [];
  let text: string | null = null;
  for (const event of events) {
    if (event.type === "item_delta") text = (text ?? "") + event.text;
    else if (event.type === "item_written") texts.push(text ?? "none");
    else throw new Error(`not in an item: ${event.type}`);
    if (event.type === "item_written") text = null;
  }
  const { value: outcome } = await call.run(pieces.join(""), new AbortController().signal).next();
  return { first: first?.type === "item_started" ? first.item : first, texts, text, outcome };
}

function opened(tool: HostedTool, asked: ToolInput): Promise<OpenTool> {
  return tool.open(asked, toolScope());
}

async function called(tool: HostedTool, asked: ToolInput, args: object): Promise<ToolOutcome> {
  return await finished(await opened(tool, asked), args);
}

async function finished(open: OpenTool, args: object | string): Promise<ToolOutcome> {
  const { outcome, steps } = await runCall(open, open.functions[0]?.name ?? "", args);
  expect(steps).toEqual([]);
  return outcome;
}
