import type { CodeInterpreterTool, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { CodeRun, KeptFile } from "@antiphon/domain/containers.ts";
import type { ToolOutcome, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import { describe, expect, it } from "vitest";
import {
  aContainer,
  NOTHING_RAN,
  type ScriptedContainers,
  scriptedContainers,
  withoutCode,
} from "../containers/scripted-containers.fixture.ts";
import { withoutMiddle } from "../containers/told-run.ts";
import { runCall, toolScope, USER } from "../tool-scope.fixture.ts";
import { codeInterpreterTool } from "./code-interpreter-tool.ts";

const AUTO: CodeInterpreterTool = { type: "code_interpreter", container: { type: "auto" } };
const NAMED: CodeInterpreterTool = { type: "code_interpreter", container: "cntr_1" };
const INCLUDE = { include: ["code_interpreter_call.outputs"] };
const CHART: KeptFile = { id: "cfile_1", path: "/mnt/data/cfile_1.png", bytes: 3 };
const TABLE: KeptFile = { id: "cfile_2", path: "/mnt/data/out/table.csv", bytes: 12 };
const PNG = "data:image/png;base64,AQID";

async function opened(
  scripted: ScriptedContainers,
  tool: CodeInterpreterTool = AUTO,
  changes: Partial<ToolScope> = {},
) {
  return await codeInterpreterTool(scripted.services).open(tool, toolScope(changes));
}

async function outcomeOf(run: Partial<CodeRun>, changes: Partial<ToolScope> = {}): Promise<Ran> {
  const scripted = scriptedContainers();
  scripted.code = { type: "ran", result: { ...NOTHING_RAN, ...run } };
  const { outcome } = await runCall(await opened(scripted, AUTO, changes), "code_interpreter", { code: "1 + 1" });
  return ran(outcome);
}

type Ran = Extract<ToolOutcome, { type: "ran" }>;

function ran(outcome: ToolOutcome): Ran {
  if (outcome.type !== "ran") throw new Error(`the call ${outcome.type}`);
  return outcome;
}

function callIn(containerId: string): StoredItem {
  const item = { id: "ci_0", type: "code_interpreter_call" as const, status: "completed" as const };
  return { ...item, code: "1", container_id: containerId, outputs: null };
}

describe("the container", () => {
  it("is made with the files of the request when the first call runs, and used by all calls", async () => {
    const scripted = scriptedContainers();
    const tool: CodeInterpreterTool = {
      ...AUTO,
      container: { type: "auto", file_ids: ["file-1"], memory_limit: "1g" },
    };
    const open = await opened(scripted, tool);
    expect(scripted.made).toEqual([]);
    for (const code of ["a = 1", "a"]) await runCall(open, "code_interpreter", { code });
    expect(scripted.made).toMatchObject([{ name: "auto", fileIds: ["file-1"], memoryLimit: "1g" }]);
    const id = scripted.made[0]?.id ?? "";
    expect(id).toMatch(/^cntr_[0-9a-f]{48}$/);
    expect(scripted.ran).toEqual([`${id} a = 1`, `${id} a`]);
  });

  it("of the last call is used again, with the files that are new", async () => {
    const scripted = scriptedContainers();
    scripted.containers.set("cntr_old", aContainer("cntr_old"));
    const tool: CodeInterpreterTool = { ...AUTO, container: { type: "auto", file_ids: ["file-1"] } };
    const open = await opened(scripted, tool, { context: [callIn("cntr_older"), callIn("cntr_old")] });
    expect(ran((await runCall(open, "code_interpreter", { code: "a" })).outcome).item).toMatchObject({
      container_id: "cntr_old",
    });
    expect([scripted.made, scripted.copied]).toEqual([[], ["cntr_old file-1"]]);
  });

  it("gets the uploaded files that the user's messages name, as far as they are there", async () => {
    const scripted = scriptedContainers();
    const files = ["file-7", "missing-8"].map((file_id) => ({ type: "input_file" as const, file_id }));
    const message = { id: "msg_1", type: "message", role: "user", status: "completed", content: files } as const;
    const open = await opened(scripted, AUTO, { context: [message] });
    await runCall(open, "code_interpreter", { code: "a" });
    expect(scripted.made).toMatchObject([{ fileIds: ["file-7"] }]);
  });

  it.each([
    ["is unknown", null],
    ["is expired", aContainer("cntr_old", { status: "expired" })],
    ["has another limit of memory", aContainer("cntr_old", { memory_limit: "4g" })],
  ])("that %s is replaced", async (_, found) => {
    const scripted = scriptedContainers();
    if (found !== null) scripted.containers.set(found.id, found);
    const open = await opened(scripted, AUTO, { context: [callIn("cntr_old")] });
    await runCall(open, "code_interpreter", { code: "a" });
    expect(scripted.made).toHaveLength(1);
    expect(scripted.made[0]?.id).not.toBe("cntr_old");
  });

  it("that is lost between two calls fails one call, and the next gets another", async () => {
    const scripted = scriptedContainers();
    const open = await opened(scripted);
    scripted.code = { type: "gone" };
    const first = ran((await runCall(open, "code_interpreter", { code: "a" })).outcome);
    expect([first.item, first.output]).toMatchObject([
      { status: "failed" },
      expect.stringContaining("Nothing was run"),
    ]);
    scripted.code = { type: "ran", result: NOTHING_RAN };
    const second = ran((await runCall(open, "code_interpreter", { code: "a" })).outcome);
    expect(second.item).toMatchObject({ status: "completed", container_id: scripted.made[1]?.id });
  });

  it("that is named must be there and alive, and uploaded files too", async () => {
    const scripted = scriptedContainers();
    await expect(opened(scripted, NAMED)).rejects.toMatchObject({
      status: 404,
      message: "Container with id 'cntr_1' not found.",
    });
    scripted.containers.set("cntr_1", aContainer("cntr_1", { status: "expired" }));
    await expect(opened(scripted, NAMED)).rejects.toMatchObject({ status: 400, message: "Container is expired." });
    const missing: CodeInterpreterTool = { ...AUTO, container: { type: "auto", file_ids: ["missing-1"] } };
    await expect(opened(scripted, missing)).rejects.toMatchObject({ status: 404 });
    scripted.containers.set("cntr_1", aContainer("cntr_1"));
    expect((await opened(scripted, NAMED)).functions).toHaveLength(1);
  });
});

describe("a refusal", () => {
  const { services } = scriptedContainers();
  const refusal = (tool: Partial<CodeInterpreterTool>, at = services) =>
    codeInterpreterTool(at).refusal({ ...AUTO, ...tool }, USER);

  it("names what cannot be had", () => {
    expect(refusal({})).toBeNull();
    expect(refusal({ allowed_callers: ["direct"] })).toBeNull();
    expect(refusal({ allowed_callers: ["programmatic"] })).toMatchObject({
      member: "allowed_callers",
      grade: "needed",
    });
    expect(refusal({ container: { type: "auto", memory_limit: "4g" } })).toMatchObject({
      member: "container.memory_limit",
      reason: expect.stringContaining("CODE_MEMORY_MAX"),
    });
    const network_policy = { type: "allowlist" as const, allowed_domains: ["example.com"] };
    expect(refusal({ container: { type: "auto", network_policy } })).toMatchObject({
      member: "container.network_policy",
    });
    expect(refusal({ container: { type: "auto", network_policy: { type: "disabled" } } })).toBeNull();
  });

  it("says what would help where no code runs", () => {
    const nowhere = withoutCode("CODE_ENGINE is off.");
    expect(refusal({}, nowhere)).toMatchObject({ reason: "CODE_ENGINE is off.", grade: "unavailable" });
    expect(refusal({ container: "cntr_1" }, nowhere)).toMatchObject({ grade: "needed" });
  });
});

describe("the outcome", () => {
  it("has outputs only if they are included", async () => {
    const outputs = [{ type: "logs", logs: "2" } as const];
    expect((await outcomeOf({ outputs })).item).toMatchObject({ code: "1 + 1", outputs: null });
    expect((await outcomeOf({ outputs }, INCLUDE)).item).toMatchObject({ outputs });
    expect((await outcomeOf({}, INCLUDE)).item).toMatchObject({ outputs: [] });
  });

  it("shows pictures to clients and models, and lets both find them as files", async () => {
    const image = { type: "image", png: Uint8Array.of(1, 2, 3), file: CHART } as const;
    const { item, parts, output, sources } = await outcomeOf(
      { outputs: [image], changedFiles: [CHART, TABLE] },
      INCLUDE,
    );
    expect(item).toMatchObject({ outputs: [{ type: "image", url: PNG }] });
    expect(parts).toEqual([{ type: "input_image", image_url: PNG, detail: "auto" }]);
    expect(output).toContain(CHART.path);
    expect(output).toContain("/mnt/data/out/table.csv (12 bytes)");
    expect(sources).toContainEqual(expect.objectContaining({ path: CHART.path, shownBy: "ci_1" }));
    const blind = await outcomeOf({ outputs: [image] }, { abilities: { ...USER.abilities, images: false } });
    expect(blind.parts).toEqual([]);
  });

  it("of an exception is completed, and the model reads the traceback", async () => {
    const { item, output } = await outcomeOf({ traceback: "ZeroDivisionError: division by zero" }, INCLUDE);
    expect(item).toMatchObject({ status: "completed", outputs: [] });
    expect(output).toContain("ZeroDivisionError");
  });

  it.each([
    ["timed_out", "it ran for longer than 60 s, the limit of a call"],
    ["out_of_memory", "memory"],
    ["too_many_processes", "processes"],
    ["too_much_output", "printed too much"],
    ["crashed", "crashed"],
  ] as const)("of a session that ended (%s) is failed, and says why", async (end, why) => {
    const { item, output } = await outcomeOf({ end });
    expect(item).toMatchObject({ status: "failed", code: "1 + 1" });
    expect(output).toContain(why);
    expect(output).toContain("variables are lost");
  });

  it("tells of lost variables, of files that were not kept, and of nothing", async () => {
    const told = await outcomeOf({ lostVariables: true, faults: ["/mnt/data/big is too large."] });
    expect(told.output).toContain("started anew");
    expect(told.output).toContain("/mnt/data/big is too large.");
    expect((await outcomeOf({})).output).toContain("printed nothing");
  });

  it("of wrong arguments, and of a full server, is failed", async () => {
    const scripted = scriptedContainers();
    const open = await opened(scripted);
    for (const args of ["no json", {}, { code: 1 }])
      expect(ran((await runCall(open, "code_interpreter", args)).outcome).item).toMatchObject({ status: "failed" });
    scripted.code = { type: "busy" };
    expect(ran((await runCall(open, "code_interpreter", { code: "" })).outcome).output).toContain("Try again");
    expect(scripted.ran).toHaveLength(1);
  });
});

it("cuts long logs in the middle, and no character in two", () => {
  expect(withoutMiddle("short")).toBe("short");
  const cut = withoutMiddle("😀".repeat(30), 11);
  expect(cut).toMatch(/^😀😀\n\[\d+ characters are left out here.\]\n😀😀$/u);
  expect(cut.isWellFormed()).toBe(true);
});

it("tells the model of the packages that it gains most by, and of its limits", async () => {
  const described = async (packages: readonly string[]) =>
    (await opened(scriptedContainers({ packages }))).functions[0]?.description ?? "";
  expect(await described([])).toContain("Packages beyond the standard library: none. ");
  expect(await described(["six", "numpy"])).toContain("Packages beyond the standard library: numpy, six. ");
  const many = Array.from({ length: 90 }, (_, number) => `z${number}`);
  expect(await described([...many, "Pillow", "numpy"])).toContain("numpy, Pillow, z0, z1, z2, z3, z4, z5 and 84 more.");
  expect(await described([])).toContain("A call may take 60 s, and the session 1 GiB of memory. No network,");
});
