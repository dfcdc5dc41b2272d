import type {
  Container,
  ContainerFile,
  ContainerMemoryLimit,
  CreateContainerRequest,
} from "../../generated/responses-api/types.ts";
import type { Owner } from "../runs/ports/owner.ts";
import type { PageRequest } from "./responses.ts";
import type { ListPage } from "./vector-stores.ts";

const GIBIBYTE = 1024 ** 3;

/** A member that asks for what no container here has, and a sentence about it. */
export interface RefusedMember {
  readonly member: "skills" | "network_policy" | "memory_limit";
  readonly reason: string;
}

/** Why a new container cannot be as it is asked for, if it has at most `memoryMax` bytes here; null if it can. */
export function refusedMember(
  asked: Pick<CreateContainerRequest, RefusedMember["member"]>,
  memoryMax: number,
): RefusedMember | null {
  const { skills, network_policy: network, memory_limit: limit } = asked;
  if ((skills ?? []).length > 0) return { member: "skills", reason: "Containers have no skills here." };
  if (network?.type === "allowlist")
    return { member: "network_policy", reason: "Containers have no network here. Use the type 'disabled'." };
  if (limit == null || Number.parseInt(limit, 10) * GIBIBYTE <= memoryMax) return null;
  const reason = `A container has at most ${memoryMax} bytes of memory here, and '${limit}' is more. CODE_MEMORY_MAX sets that limit.`;
  return { member: "memory_limit", reason };
}

/** What can be run in containers here. */
export interface CodeAbilities {
  readonly engine: "pyodide" | "bubblewrap" | "docker";
  /** Such as `3.14`. */
  readonly python: string;
  /** Packages beyond the standard library that can be imported. */
  readonly packages: readonly string[];
  /** Whether commands can be run too. */
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

/** What the model is told of a container's files after a call. */
export interface FileChanges {
  /** New files, and files with new contents. They are stored. */
  readonly changed: readonly KeptFile[];
  /** Whole sentences about files that could not be kept, such as one that is too large. */
  readonly faults: readonly string[];
}

/** Why a session ended during a call. Its variables are lost; files that were stored before stay. */
export type SessionEnd = "timed_out" | "out_of_memory" | "too_many_processes" | "too_much_output" | "crashed";

/** What code has shown, in order. */
export type CodeOutput =
  | { readonly type: "logs"; readonly logs: string }
  /** A PNG, which is stored as a file too. */
  | { readonly type: "image"; readonly png: Uint8Array; readonly file: KeptFile };

/** How a run of code came out. */
export interface CodeRun extends FileChanges {
  readonly outputs: readonly CodeOutput[];
  /** The traceback of an uncaught exception; null if there was none. */
  readonly traceback: string | null;
  /** Null if the session lives. */
  readonly end: SessionEnd | null;
  /** Whether variables and running programs of earlier calls were lost before this call. */
  readonly lostVariables: boolean;
}

export interface CommandList {
  readonly commands: readonly string[];
  /** For each command; null for that of the server, which is the most. */
  readonly timeoutMs: number | null;
  /** Characters of both outputs together, for each command; null for those of the server. */
  readonly outputCharactersMax: number | null;
}

export interface CommandRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: "exit"; readonly exitCode: number } | { readonly type: "timeout" };
}

export interface CommandRuns extends FileChanges {
  /** One for each command that ran. */
  readonly runs: readonly CommandRun[];
  readonly end: SessionEnd | null;
  readonly lostVariables: boolean;
}

export type Ran<Result> =
  | { readonly type: "ran"; readonly result: Result }
  /** The container is gone or expired. */
  | { readonly type: "gone" }
  /** All sessions are at work, and none became free in time. */
  | { readonly type: "busy" };

/**
 * Runs code and commands in containers. Calls in one container run one after the other. State is kept between them for
 * as long as its session lives. Rejects with the signal's reason if that aborts; the session is then killed.
 */
export interface ContainerSessions {
  readonly abilities: CodeAbilities;
  /** How long one run of code, or one command, may take, in milliseconds. */
  readonly callMsMax: number;
  /** Runs Python as a notebook would: the value of the last expression is shown. */
  runCode(owner: Owner, containerId: string, code: string, signal: AbortSignal): Promise<Ran<CodeRun>>;
  /** Runs shell commands one after the other in `/mnt/data`, until one ends the session. */
  runCommands(owner: Owner, containerId: string, list: CommandList, signal: AbortSignal): Promise<Ran<CommandRuns>>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** Where code runs on this server, or why it does not: a whole sentence that says what would help. */
export type CodeOffer =
  | { readonly sessions: ContainerSessions; readonly reason: null }
  | { readonly sessions: null; readonly reason: string };

/**
 * Finds out where code runs on this server. That begins when the server has started, and takes a second, or longer at
 * the first start.
 */
export interface CodeFinder {
  /** Null until it is known. A request may then be taken as if code ran here; `find` tells. */
  readonly known: CodeOffer | null;
  /** Waits until it is known. Never rejects. */
  find(): Promise<CodeOffer>;
}

/** A container to create. */
export interface NewContainer {
  /** Such as `cntr_…`; made anew if absent. */
  readonly id?: string;
  readonly name: string;
  /** Uploaded files that are copied to `/mnt/data`. Of files with one name, each but the first has its id before it. */
  readonly fileIds: readonly string[];
  /** Minutes without use after which it expires; null for those of the server's settings. */
  readonly expiresAfterMinutes: number | null;
  readonly memoryLimit: ContainerMemoryLimit;
}

export interface ContainerPageRequest extends PageRequest {
  /** Lists only containers with this name; all if null. */
  readonly name: string | null;
}

/** A file that a client sends. */
export interface ContainerUpload {
  /** As the client named it. The file lies in `/mnt/data` under what of it can be a file's name. */
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
  /** The files of the container would become larger than this. */
  | { readonly reason: "container_full"; readonly bytesMax: number }
  | { readonly reason: "too_many_files"; readonly filesMax: number }
  /** The owner has as many containers that are not expired as it may have. */
  | { readonly reason: "too_many_containers"; readonly containersMax: number }
  /** The files of all containers of the owner would become larger than this. */
  | { readonly reason: "owner_full"; readonly bytesMax: number };

export type ContainerChange<Result> =
  | { readonly type: "changed"; readonly result: Result }
  | { readonly type: "refused"; readonly refusal: ContainerRefusal };

/** A file of a container. Its content is read from the disk while it is iterated. Iterate at most once. */
export interface ContainerFileStream {
  readonly file: ContainerFile;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Stored containers and their files. What is unknown and what belongs to another owner gives `null` or `false`. An
 * expired container is found for a day, without files. A file never changes: new contents at its path are a new file,
 * which takes its place.
 */
export interface Containers {
  /** Resolves once all files are copied. If one cannot be, there is no container. */
  createContainer(owner: Owner, container: NewContainer, signal?: AbortSignal): Promise<ContainerChange<Container>>;
  findContainer(owner: Owner, containerId: string): Promise<Container | null>;
  /** In the order of their creation; null if the cursor is unknown. */
  listContainers(owner: Owner, page: ContainerPageRequest): Promise<ListPage<Container> | null>;
  /** Its files are gone when it resolves. */
  deleteContainer(owner: Owner, containerId: string): Promise<boolean>;
  /** Counts as a use, which puts off its expiry. Resolves to the container, also if it is expired. */
  touchContainer(owner: Owner, containerId: string): Promise<Container | null>;

  /** Resolves once the file is durable. If `content` fails or `signal` aborts, no part of it stays. */
  addFile(
    owner: Owner,
    containerId: string,
    upload: ContainerUpload,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>>;
  /** Copies an uploaded file, in place of a file of that name. */
  copyUpload(
    owner: Owner,
    containerId: string,
    fileId: string,
    signal?: AbortSignal,
  ): Promise<ContainerChange<ContainerFile>>;
  /**
   * Copies those uploaded files that were not copied before, so that a container that is used again keeps what code has
   * made of the others. Resolves to the files that are new.
   */
  copyMissingUploads(
    owner: Owner,
    containerId: string,
    fileIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ContainerChange<readonly ContainerFile[]>>;
  findFile(owner: Owner, containerId: string, fileId: string): Promise<ContainerFile | null>;
  /** In the order in which they were written; null if the container or the cursor is unknown, or it is expired. */
  listFiles(owner: Owner, containerId: string, page: PageRequest): Promise<ListPage<ContainerFile> | null>;
  streamFile(owner: Owner, containerId: string, fileId: string): Promise<ContainerFileStream | null>;
  /** An uploaded file that it was copied from stays. */
  removeFile(owner: Owner, containerId: string, fileId: string): Promise<boolean>;

  /**
   * Removes the files of some containers that were not used for long enough by `now` (Unix seconds) or are deleted, and
   * forgets those that expired a day before. Resolves to false if there is nothing left to do.
   */
  expireUnused(now: number): Promise<boolean>;
}
