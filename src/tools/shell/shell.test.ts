import type { ShellTool } from "@antiphon/contracts/responses-api/types.ts";
import type { CommandRuns } from "@antiphon/domain/containers.ts";
import type { OpenTool } from "@antiphon/domain/hosted-tool.ts";
import { describe, expect, it } from "vitest";
import {
  aContainer,
  NOTHING_RAN,
  type ScriptedContainers,
  scriptedContainers,
  withoutCode,
} from "../containers/scripted-containers.fixture.ts";
import { MADE, runToEnd, toolScope, USER } from "../tool-scope.fixture.ts";
import { shellTool } from "./shell-tool.ts";

const AUTO: ShellTool = { type: "shell", environment: { type: "container_auto" } };
const NAMED: ShellTool = { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } };
const FILE = { id: "cfile_1", path: "/mnt/data/a.txt", bytes: 2 };

async function opened(scripted: ScriptedContainers, tool = AUTO): Promise<OpenTool> {
  return await shellTool(scripted.services).open(tool, toolScope());
}

/** The model writes the arguments in two pieces. */
async function called(open: OpenTool, args: object | string) {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  const call = open.call("shell", MADE);
  const { streams } = call;
  if (streams === null || typeof streams !== "object" || !("add" in streams)) throw new Error("nothing is streamed");
  const shown = [...streams.add(text.slice(0, 20)), ...streams.add(text.slice(20))];
  const { outcome } = await runToEnd(call.run(text, new AbortController().signal));
  if (outcome.type !== "ran") throw new Error(`the call ${outcome.type}`);
  return { first: call.item, shown, outcome };
}

const RAN: CommandRuns = {
  ...NOTHING_RAN,
  runs: [
    { stdout: "a\n", stderr: "", outcome: { type: "exit", exitCode: 0 } },
    { stdout: "", stderr: "no", outcome: { type: "timeout" } },
  ],
  changedFiles: [FILE],
};

describe("a shell in a container", () => {
  it("shows the commands, runs them with their limits, and shows their outputs in an item of its own", async () => {
    const scripted = scriptedContainers();
    scripted.commands = { type: "ran", result: RAN };
    const args = { commands: ["ls -a", "sleep 9", "true"], timeout_ms: 50, max_output_length: 100 };
    const { first, shown, outcome } = await called(await opened(scripted), args);
    const id = scripted.made[0]?.id ?? "";
    const environment = { type: "container_reference", container_id: id };
    expect(first).toMatchObject({ type: "shell_call", status: "in_progress", call_id: "call_1", environment });
    expect(shown.filter(({ type }) => type === "item_written")).toHaveLength(3);
    expect(scripted.ran).toEqual([
      `${id} ls -a && sleep 9 && true ${JSON.stringify({ timeoutMs: 50, outputCharactersMax: 100 })}`,
    ]);
    const action = { commands: args.commands, timeout_ms: 50, max_output_length: 100 };
    expect(outcome.item).toMatchObject({ status: "completed", action, environment });
    expect(outcome.following).toMatchObject([
      {
        first: { type: "shell_call_output", status: "completed", output: [], call_id: "call_1" },
        last: {
          id: "sho_1",
          max_output_length: 100,
          output: [
            { stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
            { stdout: "", stderr: "no", outcome: { type: "timeout" } },
          ],
        },
      },
    ]);
    expect(outcome.output).toContain("[stderr]\nno");
    expect(outcome.output).toContain("[It was stopped: it ran for longer than 0.05 s, the limit of a call.]");
    expect(outcome.output).toContain("[Not run: true]");
    expect(outcome.sources).toMatchObject([{ path: FILE.path, containerId: id, shownBy: null }]);
  });

  it.each(["no json", "{}", '{"commands":[]}', '{"commands":[1]}', '{"commands":["a"],"commands":["b"]}'])(
    "runs nothing of the arguments %s",
    async (args) => {
      const scripted = scriptedContainers();
      const { outcome } = await called(await opened(scripted), args);
      expect(outcome).toMatchObject({
        item: { status: "incomplete" },
        output: expect.stringContaining("Nothing was run"),
      });
      expect(outcome.following).toBeUndefined();
      expect(scripted.ran).toEqual([]);
    },
  );

  it("says why nothing ran", async () => {
    const scripted = scriptedContainers();
    for (const type of ["busy", "gone"] as const) {
      scripted.commands = { type };
      const { outcome } = await called(await opened(scripted), { commands: ["ls"] });
      expect(outcome.item).toMatchObject({ status: "incomplete" });
      expect(outcome.output).toMatch(/nothing was run/i);
    }
  });

  it("that is named must be there", async () => {
    const scripted = scriptedContainers();
    await expect(opened(scripted, NAMED)).rejects.toMatchObject({ status: 404 });
    scripted.containers.set("cntr_1", aContainer("cntr_1"));
    const { first } = await called(await opened(scripted, NAMED), { commands: ["ls"] });
    expect(first).toMatchObject({ environment: { container_id: "cntr_1" } });
  });
});

describe("a refusal", () => {
  it("names networks", () => {
    const shell = shellTool(scriptedContainers().services);
    const auto = (members: object): ShellTool => ({
      type: "shell",
      environment: { type: "container_auto", ...members },
    });
    expect(shell.refusal(AUTO, USER)).toBeNull();
    expect(shell.refusal(auto({ skills: [{ type: "skill_reference", skill_id: "s" }] }), USER)).toBeNull();
    expect(shell.refusal(auto({ network_policy: { type: "allowlist", allowed_domains: [] } }), USER)).toMatchObject({
      member: "environment.network_policy",
    });
  });

  it("says what would help where no shell is; the client's own is always there", () => {
    for (const services of [withoutCode("No code runs."), scriptedContainers({ hasShell: false }).services]) {
      const tool = shellTool(services);
      expect(tool.refusal(AUTO, USER)).toMatchObject({
        grade: "unavailable",
      });
      expect(tool.refusal(NAMED, USER)).toMatchObject({ grade: "needed" });
      expect(tool.refusal({ type: "shell" }, USER)).toBeNull();
    }
  });
});
