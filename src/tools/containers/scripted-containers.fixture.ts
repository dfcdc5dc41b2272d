import type { Container, ContainerFile } from "@antiphon/contracts/responses-api/types.ts";
import type {
  CodeAbilities,
  CodeFinder,
  CodeRun,
  CommandRuns,
  ContainerSessions,
  NewContainer,
  Ran,
} from "@antiphon/domain/containers.ts";
import { zippedSkills } from "@antiphon/media/skills/zipped-skills.ts";
import type { CodeServices } from "./code-services.ts";

/** A test's view of its containers, and the results of their runs. */
export interface ScriptedContainers {
  readonly services: CodeServices;
  readonly containers: Map<string, Container>;
  readonly made: NewContainer[];
  /** The uploaded files copied into existing containers, as `CONTAINER FILE`. */
  readonly copied: string[];
  /** The files of every container. */
  readonly files: ContainerFile[];
  /** The code that ran, as `CONTAINER CODE`. */
  readonly ran: string[];
  code: Ran<CodeRun>;
  commands: Ran<CommandRuns>;
}

export const NOTHING_RAN: CodeRun = {
  outputs: [],
  traceback: null,
  end: null,
  lostVariables: false,
  changedFiles: [],
  faults: [],
};

const ABILITIES: CodeAbilities = {
  engine: "bubblewrap",
  python: "3.11",
  packages: ["numpy", "pandas"],
  hasShell: true,
};

/** An uploaded file whose id begins with `missing` does not exist. */
export function scriptedContainers(abilities: Partial<CodeAbilities> = {}): ScriptedContainers {
  const scripted: ScriptedContainers = {
    containers: new Map(),
    made: [],
    copied: [],
    files: [],
    ran: [],
    code: { type: "ran", result: NOTHING_RAN },
    commands: { type: "ran", result: { ...NOTHING_RAN, runs: [] } },
    services: {
      memoryBytesMax: 1024 ** 3,
      uploads: { findFile: async (_owner, id) => (id.startsWith("missing") ? null : { id }) },
      code: foundCode({
        abilities: { ...ABILITIES, ...abilities },
        callMsMax: 60_000,
        memoryBytesMax: 1024 ** 3,
        runCode: async (_owner, id, code) => {
          scripted.ran.push(`${id} ${code}`);
          return scripted.code;
        },
        runCommands: async (_owner, id, { commands, ...limits }) => {
          scripted.ran.push(`${id} ${commands.join(" && ")} ${JSON.stringify(limits)}`);
          return scripted.commands;
        },
        close: async () => {},
      }),
      containers: {
        createContainer: async (_owner, container) => {
          scripted.made.push(container);
          const result = aContainer(container.id ?? "cntr_new");
          scripted.containers.set(result.id, result);
          return { type: "changed", result };
        },
        findContainer: async (_owner, id) => scripted.containers.get(id) ?? null,
        copyMissingUploads: async (_owner, id, fileIds) => {
          scripted.copied.push(...fileIds.map((fileId) => `${id} ${fileId}`));
          return { type: "changed", result: [] };
        },
        listFiles: async () => ({ entries: scripted.files, hasMore: false }),
        mountSkills: async (_owner, id, skills) => {
          scripted.copied.push(...skills.map(({ name, contentId }) => `${id} ${name} ${contentId}`));
          return { type: "changed", result: aContainer(id) };
        },
        streamFile: async () => null,
      },
      skills: {
        format: zippedSkills,
        skills: { findSkill: async () => null, findVersion: async () => null, readArchive: async () => null },
      },
    },
  };
  return scripted;
}

/** A server on which no code runs. */
export function withoutCode(reason: string): CodeServices {
  const offer = { sessions: null, reason };
  return { ...scriptedContainers().services, code: { offer, find: async () => offer } };
}

function foundCode(sessions: ContainerSessions): CodeFinder {
  const offer = { sessions, reason: null };
  return { offer, find: async () => offer };
}

export function aContainer(id: string, members: Partial<Container> = {}): Container {
  return {
    id,
    object: "container",
    created_at: 1,
    status: "running",
    last_active_at: 1,
    expires_after: { anchor: "last_active_at", minutes: 20 },
    memory_limit: "1g",
    name: "auto",
    network_policy: { type: "disabled" },
    ...members,
  };
}
