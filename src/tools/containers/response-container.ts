import { newId } from "@antiphon/base/ids.ts";
import type { ContainerMemoryLimit, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { type ContainerRefusal, defaultMemoryLimit } from "@antiphon/domain/containers.ts";
import { type CitedFile, containerOf, type ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { MountedSkill } from "@antiphon/domain/skills/mounted-skills.ts";
import { InvalidSkill } from "@antiphon/domain/skills/skills.ts";
import { invalidToolsError } from "../invalid-tools-error.ts";
import type { CodeServices } from "./code-services.ts";
import { describeFiles } from "./told-run.ts";

/** The reference's name for containers that it creates itself; the rest is unknown. */
const AUTO_NAME = "auto";
const FILES_AT_ONCE = 100;
/** The maximum of `file_ids`. */
const INPUT_FILES_MAX = 50;

/** The container for the calls of one response. */
export interface ResponseContainer {
  /** May not exist yet. Changes if the container is lost and replaced. */
  readonly id: string;
  readonly memory: ContainerMemoryLimit;
  /** Its files when the response began. */
  readonly files: readonly CitedFile[];
  /** Creates it if it does not exist. Resolves to null, or to a sentence for the model if that fails. */
  ready(): Promise<string | null>;
  /** The files that `ready` copied, returned once. */
  takeCopied(): readonly CitedFile[];
  /** It is gone: the next call gets another one, unless the client named it. */
  lose(): void;
}

/** The container named by the client. Rejects with `ModelError` if it cannot be used. */
export async function namedContainer(services: CodeServices, id: string, scope: ToolScope): Promise<ResponseContainer> {
  const match = await services.containers.findContainer(scope.owner, id);
  if (match === null) throw invalidToolsError(404, `Container with id '${id}' not found.`);
  if (match.status === "expired") throw invalidToolsError(400, "Container is expired.");
  const files = await filesOf(services, scope, id);
  const container = new UsedContainer(services, scope, {
    memory: match.memory_limit,
    knownContainer: { id, files },
    isNamed: true,
  });
  container.want(await inputFiles(services, scope));
  return container;
}

export interface WantedContainer {
  readonly fileIds: readonly string[];
  readonly skills?: readonly MountedSkill[];
  /** Null for the default. */
  readonly memoryLimit: ContainerMemoryLimit | null;
}

/** Tools of one response share a container; the response's signal is the key. */
const containersBySignal = new WeakMap<AbortSignal, Map<string, Promise<UsedContainer>>>();

/**
 * The container of the last call in the context, if it belongs to the owner, is alive and has the requested memory;
 * otherwise a new one, created before the first call. Rejects with `ModelError` if a file is unknown.
 */
export async function autoContainer(
  services: CodeServices,
  { fileIds, memoryLimit, skills = [] }: WantedContainer,
  scope: ToolScope,
): Promise<ResponseContainer> {
  for (const fileId of fileIds)
    if ((await services.uploads.findFile(scope.owner, fileId)) === null)
      throw invalidToolsError(404, `No such File object: ${fileId}`);
  const memory = memoryLimit ?? defaultMemoryLimit(services.memoryBytesMax);
  const ofResponse = containersBySignal.get(scope.signal) ?? new Map<string, Promise<UsedContainer>>();
  containersBySignal.set(scope.signal, ofResponse);
  const choosing = ofResponse.get(memory) ?? choose(services, memory, scope);
  ofResponse.set(memory, choosing);
  const container = await choosing;
  container.want([...fileIds, ...(await inputFiles(services, scope))]);
  container.wantSkills(skills);
  return container;
}

async function choose(services: CodeServices, memory: ContainerMemoryLimit, scope: ToolScope): Promise<UsedContainer> {
  const last = scope.context.map(containerOf).findLast((id) => id !== null) ?? null;
  const container = last === null ? null : await services.containers.findContainer(scope.owner, last);
  const isUsable = container !== null && container.status !== "expired" && container.memory_limit === memory;
  const knownContainer = last === null || !isUsable ? null : { id: last, files: await filesOf(services, scope, last) };
  return new UsedContainer(services, scope, { memory, knownContainer, isNamed: false });
}

interface ChosenContainer {
  readonly memory: ContainerMemoryLimit;
  /** Null if it does not exist yet. */
  readonly knownContainer: { readonly id: string; readonly files: readonly CitedFile[] } | null;
  /** Whether the client named it, so that it is not replaced. */
  readonly isNamed: boolean;
}

class UsedContainer implements ResponseContainer {
  readonly memory: ContainerMemoryLimit;
  readonly files: readonly CitedFile[];
  readonly #services: CodeServices;
  readonly #scope: ToolScope;
  readonly #isNamed: boolean;
  readonly #fileIds = new Set<string>();
  readonly #skills: MountedSkill[] = [];
  #id: string;
  #exists: boolean;
  #copies: readonly CitedFile[] = [];
  #readying: Promise<string | null> | null = null;

  constructor(services: CodeServices, scope: ToolScope, { memory, knownContainer, isNamed }: ChosenContainer) {
    this.#services = services;
    this.#scope = scope;
    this.memory = memory;
    this.#isNamed = isNamed;
    this.files = knownContainer?.files ?? [];
    this.#id = knownContainer?.id ?? newContainerId();
    this.#exists = knownContainer !== null;
  }

  get id(): string {
    return this.#id;
  }

  /** Adds files that it needs before the first call. */
  want(fileIds: readonly string[]): void {
    for (const fileId of fileIds) this.#fileIds.add(fileId);
  }

  wantSkills(skills: readonly MountedSkill[]): void {
    this.#skills.push(...skills);
  }

  ready(): Promise<string | null> {
    this.#readying ??= this.#prepare();
    return this.#readying;
  }

  takeCopied(): readonly CitedFile[] {
    const copies = this.#copies;
    this.#copies = [];
    return copies;
  }

  lose(): void {
    if (this.#isNamed) return;
    this.#id = newContainerId();
    this.#exists = false;
    this.#readying = null;
  }

  async #prepare(): Promise<string | null> {
    const { owner, signal } = this.#scope;
    const { containers } = this.#services;
    const fileIds = [...this.#fileIds];
    if (this.#exists && fileIds.length === 0 && this.#skills.length === 0) return null;
    const id = this.#id;
    const container = { id, name: AUTO_NAME, fileIds, expiresAfterMinutes: null, memoryLimit: this.memory };
    const change = this.#exists
      ? await containers.copyMissingUploads(owner, id, fileIds, signal)
      : await containers.createContainer(owner, container, signal);
    if (change.type === "refused") return this.#refuse(change.refusal);
    this.#exists = true;
    this.#copies = fileIds.length === 0 ? [] : await filesOf(this.#services, this.#scope, id);
    return await this.#mount(id);
  }

  async #mount(id: string): Promise<string | null> {
    if (this.#skills.length === 0) return null;
    const { owner, signal } = this.#scope;
    try {
      const mounting = await this.#services.containers.mountSkills(owner, id, this.#skills, signal);
      return mounting.type === "refused" ? this.#refuse(mounting.refusal) : null;
    } catch (error) {
      if (!(error instanceof InvalidSkill)) throw error;
      this.#readying = null;
      return `The container cannot be used. ${error.message}`;
    }
  }

  #refuse(refusal: ContainerRefusal): string {
    this.#readying = null; // The next call retries.
    if (refusal.reason === "unknown_container" || refusal.reason === "expired_container") this.lose();
    return `The container cannot be used: ${explainRefusal(refusal)}.`;
  }
}

/** The files of a call's container, for the model. */
export async function describeContainer(
  { containers }: CodeServices,
  { owner }: ToolScope,
  item: StoredItem,
): Promise<string> {
  const request = { limit: FILES_AT_ONCE, order: "asc", after: null } as const;
  const page = await containers.listFiles(owner, containerOf(item) ?? "", request);
  return describeFiles(page?.entries ?? [], page?.hasMore !== true);
}

/** The uploaded files in messages of the user, newest last. The reference copies them into the container too. */
async function inputFiles({ uploads }: CodeServices, { context, owner }: ToolScope): Promise<readonly string[]> {
  const fileIds = new Set(context.flatMap(filesIn));
  const lookups = [...fileIds].slice(-INPUT_FILES_MAX).map(async (fileId) => {
    return (await uploads.findFile(owner, fileId)) === null ? [] : [fileId];
  });
  return (await Promise.all(lookups)).flat();
}

function filesIn(item: StoredItem): readonly string[] {
  if (item.type !== "message" || item.role !== "user") return [];
  return item.content.flatMap((part) => ("file_id" in part && part.file_id != null ? [part.file_id] : []));
}

function newContainerId(): string {
  return newId("cntr", Math.floor(Date.now() / 1000));
}

function explainRefusal(refusal: ContainerRefusal): string {
  switch (refusal.reason) {
    case "unknown_container":
    case "expired_container":
      return "it has expired, and its files are gone";
    case "unknown_upload":
      return `the file ${refusal.fileId} is gone`;
    case "file_too_large":
      return `a file has more than ${refusal.bytesMax} bytes`;
    case "container_full":
      return `its files would have more than ${refusal.bytesMax} bytes`;
    case "too_many_files":
      return `it would have more than ${refusal.filesMax} files`;
    case "too_many_containers":
      return `there are ${refusal.containersMax} containers already. Older ones must expire first`;
    case "owner_full":
      return `the files of all containers would have more than ${refusal.bytesMax} bytes`;
  }
}

async function filesOf({ containers }: CodeServices, { owner }: ToolScope, id: string): Promise<readonly CitedFile[]> {
  const files: CitedFile[] = [];
  for (let after: string | null = null; ; ) {
    const page = await containers.listFiles(owner, id, { limit: FILES_AT_ONCE, order: "asc", after });
    for (const { id: fileId, path } of page?.entries ?? [])
      files.push({ type: "container_file", containerId: id, fileId, path, shownBy: null });
    after = page?.entries.at(-1)?.id ?? null;
    if (page?.hasMore !== true || after === null) return files;
  }
}
