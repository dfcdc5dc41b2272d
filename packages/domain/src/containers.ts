import type {
  Container,
  ContainerFile,
  ContainerMemoryLimit,
  CreateContainerRequest,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "./owner.ts";
import type { PageRequest } from "./responses.ts";
import type { MountedSkill } from "./skills/mounted-skills.ts";
import type { ListPage } from "./vector-stores.ts";

const GIBIBYTE = 1024 ** 3;

/** A member whose value no container here supports, with a sentence for the client. */
export interface RefusedMember {
  readonly member: "network_policy" | "memory_limit";
  readonly reason: string;
}

/** Checks whether a container with at most `memoryMax` bytes of memory can be created here. Returns null if it can. */
export function refusedMember(
  request: Pick<CreateContainerRequest, RefusedMember["member"]>,
  memoryMax: number,
): RefusedMember | null {
  const { network_policy: network, memory_limit: limit } = request;
  if (network?.type === "allowlist")
    return { member: "network_policy", reason: "Containers have no network here. Use the type 'disabled'." };
  if (limit == null || bytesOf(limit) <= memoryMax) return null;
  const reason = `A container has at most ${memoryMax} bytes of memory here, and '${limit}' is more. CODE_MEMORY_MAX sets that limit.`;
  return { member: "memory_limit", reason };
}

const MEMORY_LIMITS = ["1g", "4g", "16g", "64g"] as const satisfies readonly ContainerMemoryLimit[];

/** The limit of a container whose request names none: the largest that is within `memoryMax` bytes, or the smallest. */
export function defaultMemoryLimit(memoryMax: number): ContainerMemoryLimit {
  return MEMORY_LIMITS.findLast((limit) => bytesOf(limit) <= memoryMax) ?? MEMORY_LIMITS[0];
}

/** The bytes of memory of a container's sessions, of `memoryMax` at most: all of them if its limit is the default. */
export function sessionMemory(limit: ContainerMemoryLimit, memoryMax: number): number {
  return limit === defaultMemoryLimit(memoryMax) ? memoryMax : Math.min(bytesOf(limit), memoryMax);
}

function bytesOf(limit: ContainerMemoryLimit): number {
  return Number.parseInt(limit, 10) * GIBIBYTE;
}

/** What code in containers can use. */
export interface CodeAbilities {
  readonly engine: "pyodide" | "bubblewrap" | "docker";
  /** Such as `3.14`. */
  readonly python: string;
  /** Packages beyond the standard library that can be imported. */
  readonly packages: readonly string[];
  /** Whether shell commands can be run too. */
  readonly hasShell: boolean;
}

/** A regular file below `/mnt/data` that is stored with its container. */
export interface KeptFile {
  /** Such as `cfile_…`. */
  readonly id: string;
  /** Absolute, such as `/mnt/data/chart.png`. */
  readonly path: string;
  readonly bytes: number;
}

/** The changes to a container's files that a call reports to the model. */
export interface FileChanges {
  /** New files, and files with new contents. They are stored. */
  readonly changedFiles: readonly KeptFile[];
  /** Whole sentences about files that could not be stored, such as a file that is too large. */
  readonly faults: readonly string[];
}

/** Why a session ended during a call. Its variables are lost; files stored before remain. */
export type SessionEnd = "timed_out" | "out_of_memory" | "too_many_processes" | "too_much_output" | "crashed";

/** The output of code, in order. */
export type CodeOutput =
  | { readonly type: "logs"; readonly logs: string }
  /** A PNG, which is stored as a file too. */
  | { readonly type: "image"; readonly png: Uint8Array; readonly file: KeptFile };

/** The result of one run of code. */
export interface CodeRun extends FileChanges {
  readonly outputs: readonly CodeOutput[];
  /** The traceback of an uncaught exception; null if there was none. */
  readonly traceback: string | null;
  /** Null if the session is still alive. */
  readonly end: SessionEnd | null;
  /** Whether variables and running programs of earlier calls were lost before this call. */
  readonly lostVariables: boolean;
}

export interface CommandList {
  readonly commands: readonly string[];
  /** The time limit of each command; null for the server's limit, which is the maximum. */
  readonly timeoutMs: number | null;
  /** The limit of characters of stdout and stderr together, for each command; null for the server's limits. */
  readonly outputCharactersMax: number | null;
}

export interface CommandRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: "exit"; readonly exitCode: number } | { readonly type: "timeout" };
}

export interface CommandRuns extends FileChanges {
  /** One entry for each command that ran. */
  readonly runs: readonly CommandRun[];
  readonly end: SessionEnd | null;
  readonly lostVariables: boolean;
}

export type Ran<Result> =
  | { readonly type: "ran"; readonly result: Result }
  /** The container is deleted or expired. */
  | { readonly type: "gone" }
  /** All sessions are busy, and none became free in time. */
  | { readonly type: "busy" };

/**
 * Runs code and commands in containers. Calls in one container run one after the other and share state while its
 * session lives. If the signal aborts, rejects with its reason and kills the session.
 */
export interface ContainerSessions {
  readonly abilities: CodeAbilities;
  /** The time limit of one run of code, or of one command, in milliseconds. */
  readonly callMsMax: number;
  /** The memory of a session at most, in bytes; `sessionMemory` gives that of a container's. */
  readonly memoryBytesMax: number;
  /** Runs Python like a notebook: the value of the last expression is output. */
  runCode(owner: Owner, containerId: string, code: string, signal: AbortSignal): Promise<Ran<CodeRun>>;
  /** Runs shell commands one after the other in `/mnt/data`. Stops after a command that ends the session. */
  runCommands(owner: Owner, containerId: string, list: CommandList, signal: AbortSignal): Promise<Ran<CommandRuns>>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** Where code runs on this server, or a whole sentence that says why it does not and what would help. */
export type CodeOffer =
  | { readonly sessions: ContainerSessions; readonly reason: null }
  | { readonly sessions: null; readonly reason: string };

/**
 * Finds out where code runs on this server. The search begins after the server has started and takes a second, or
 * longer at the first start.
 */
export interface CodeFinder {
  /**
   * The result of the search; null until it is complete. Until then, accept requests as if code ran here; `find` waits.
   */
  readonly offer: CodeOffer | null;
  /** Waits for the result. Never rejects. */
  find(): Promise<CodeOffer>;
}

/** A container to create. */
export interface NewContainer {
  /** Such as `cntr_…`; generated if absent. */
  readonly id?: string;
  readonly name: string;
  /**
   * Uploaded files that are copied to `/mnt/data`. If several have the same name, all but the first get their id as a
   * prefix.
   */
  readonly fileIds: readonly string[];
  /** Minutes without use after which the container expires; null for the server's setting. */
  readonly expiresAfterMinutes: number | null;
  readonly memoryLimit: ContainerMemoryLimit;
}

export interface ContainerPageRequest extends PageRequest {
  /** Lists only containers with this name; null lists all. */
  readonly name: string | null;
}

/** A file that a client uploads into a container. */
export interface ContainerUpload {
  /** The client's name for the file. The name in `/mnt/data` keeps the characters that a file name may have. */
  readonly filename: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Why a container was not changed. */
export type ContainerRefusal =
  | { readonly reason: "unknown_container" }
  | { readonly reason: "expired_container" }
  /** The owner has no uploaded file with this id. */
  | { readonly reason: "unknown_upload"; readonly fileId: string }
  | { readonly reason: "file_too_large"; readonly bytesMax: number }
  /** The container's files would exceed this size. */
  | { readonly reason: "container_full"; readonly bytesMax: number }
  | { readonly reason: "too_many_files"; readonly filesMax: number }
  /** The owner has reached its maximum of unexpired containers. */
  | { readonly reason: "too_many_containers"; readonly containersMax: number }
  /** The files of all the owner's containers would exceed this size. */
  | { readonly reason: "owner_full"; readonly bytesMax: number };

export type ContainerChange<Result> =
  | { readonly type: "changed"; readonly result: Result }
  | { readonly type: "refused"; readonly refusal: ContainerRefusal };

/** A file of a container. Iterating `content` reads it from the disk. Iterate at most once. */
export interface ContainerFileStream {
  readonly file: ContainerFile;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Stored containers and their files. Unknown ids and ids of other owners give `null` or `false`. An expired container
 * can be found for a day, without files. Files are immutable: new contents at a path are a new file that replaces the
 * old one.
 */
export interface Containers {
  /** Resolves once all files are copied. If one cannot be copied, no container is created. */
  createContainer(owner: Owner, container: NewContainer, signal?: AbortSignal): Promise<ContainerChange<Container>>;
  findContainer(owner: Owner, containerId: string): Promise<Container | null>;
  /** In the order of their creation; null if the cursor is unknown. */
  listContainers(owner: Owner, page: ContainerPageRequest): Promise<ListPage<Container> | null>;
  /** Resolves once its files are deleted. */
  deleteContainer(owner: Owner, containerId: string): Promise<boolean>;
  /** Records a use, which postpones the expiry. Resolves to the container, even if it is expired. */
  touchContainer(owner: Owner, containerId: string): Promise<Container | null>;

  /** Resolves once the file is durable. If `content` fails or `signal` aborts, nothing is stored. */
  addFile(
    owner: Owner,
    containerId: string,
    upload: ContainerUpload,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>>;
  /** Copies an uploaded file. Replaces a file of the same name. */
  copyUpload(
    owner: Owner,
    containerId: string,
    fileId: string,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>>;
  /**
   * Copies the uploaded files that were not copied before. A reused container thus keeps the changes that code made to
   * earlier copies. Resolves to the new files.
   */
  copyMissingUploads(
    owner: Owner,
    containerId: string,
    fileIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ContainerChange<readonly ContainerFile[]>>;
  /**
   * Writes the files of skills that the container does not have yet. Resolves to the container. Rejects with
   * `InvalidSkill` if files cannot be unpacked.
   */
  mountSkills(
    owner: Owner,
    containerId: string,
    skills: readonly MountedSkill[],
    signal?: AbortSignal,
  ): Promise<ContainerChange<Container>>;
  findFile(owner: Owner, containerId: string, fileId: string): Promise<ContainerFile | null>;
  /** Oldest first; null if the container or the cursor is unknown, or the container is expired. */
  listFiles(owner: Owner, containerId: string, page: PageRequest): Promise<ListPage<ContainerFile> | null>;
  streamFile(owner: Owner, containerId: string, fileId: string): Promise<ContainerFileStream | null>;
  /** Does not delete the uploaded file that it was copied from. */
  removeFile(owner: Owner, containerId: string, fileId: string): Promise<boolean>;

  /**
   * Removes the files of some containers that are deleted or unused for too long at `now` (Unix seconds). Forgets
   * containers a day after they expired. Resolves to false if nothing is left to do.
   */
  expireUnused(now: number): Promise<boolean>;
}
