import { lintText } from "@antiphon/stream-grammar/index.ts";
import type { Outcome } from "../figures/outcome.ts";
import type { Options } from "../options.ts";
import { raceKills } from "../race-kills.ts";
import { followRun } from "../runs/follow-run.ts";
import { Run, RunNames } from "../runs/run.ts";
import { Trouble } from "../runs/trouble.ts";
import type { System } from "../systems/system.ts";
import { withSystem } from "../with-system.ts";
import { startAzure } from "./azure.ts";
import { installAzure } from "./install.ts";

const NOTES = `The peer's columns: it has no word for a call whose outcome is not known, and makes the call again, so that nothing
can be reported unknown. Its replays and snapshots are compared by value, and a member that is null counts as absent,
since it writes them differently each time.`;

export interface AzureRace extends Pick<Options, "runs" | "wave" | "hasSameWords"> {
  /** The beginning of the names of log files. */
  readonly logs: string;
}

/** The race on Azure's library. Resolves to why it was not tried if the library cannot be installed. */
export async function raceAzure({ runs, wave, logs, hasSameWords }: AzureRace): Promise<Outcome | string> {
  const installation = installAzure();
  if (installation.type === "missing") return `its packages cannot be installed: ${installation.why}`;
  const { python } = installation;
  const brokenRules = await withSystem(
    { hasSameWords },
    (world) => startAzure({ world, logs, python }),
    ({ system }) => findBrokenRules(system),
  );
  console.log(NOTES);
  if (brokenRules.size > 0)
    console.log(`Rules that its streams break without any kill are left out: ${[...brokenRules].join(", ")}.`);
  return await withSystem(
    { hasSameWords },
    (world) => startAzure({ world, logs, python }),
    ({ world, system }) => {
      const judging = { ...system.judging, brokenRules };
      return raceKills({ title: "peer: Azure, files", world, system: { ...system, judging }, runs, wave });
    },
  );
}

/** The rules of the grammar that the stream of a run without any fault breaks. */
async function findBrokenRules(system: System): Promise<ReadonlySet<string>> {
  const names = new RunNames();
  const run = new Run(names.next());
  await followRun(run, { system, names, trouble: new Trouble(), repeats: false });
  const reports = lintText(run.shown.events.map(({ json }) => json).join("\n"));
  return new Set(reports.flatMap(({ faults }) => faults.map(({ rule }) => rule)));
}
