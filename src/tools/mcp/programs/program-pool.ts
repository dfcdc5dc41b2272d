import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { ToolScope } from "@antiphon/domain/hosted-tool.ts";
import { type Owner, ownerText } from "@antiphon/domain/owner.ts";
import { connectionKey } from "../connection-pool.ts";
import { McpConnection } from "../mcp-connection.ts";
import type { McpOptions, McpServer } from "../mcp-server.ts";

/** The maximum ids of one chain by which its program is found. The oldest are dropped. */
const CHAIN_IDS_MAX = 1000;

/** The response that uses a program. */
export type ProgramUser = Pick<ToolScope, "owner" | "responseId" | "continuedId">;

/** A running program, or one that is being started. */
export interface KeptProgram {
  readonly key: string;
  readonly owner: Owner;
  readonly connection: McpConnection;
  /** The responses that it served, and their conversation. */
  readonly chainIds: Set<string>;
  isUsed: boolean;
  /** Ends it after some time without use. */
  idle: NodeJS.Timeout | null;
}

/**
 * The operator's programs. A program serves one chain of responses of one owner, one response at a time, and keeps its
 * state in between. A response that finds the program of its chain in use, or none, gets a new one.
 */
export class ProgramPool {
  readonly #options: McpOptions;
  readonly #places: Semaphore;
  readonly #programs = new Set<KeptProgram>();
  /** The longest unused comes first. */
  readonly #idle = new Set<KeptProgram>();
  #isClosed = false;

  constructor(options: McpOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.programsMax);
  }

  /** Returns a connection to a program, which must be released once. It may not be open yet. Never rejects. */
  async take(server: McpServer, user: ProgramUser): Promise<KeptProgram> {
    const program = (await this.#programOfChain(server, user)) ?? this.#add(server, user);
    this.join(program, user);
    return program;
  }

  /** A response goes on with a program that is in use. */
  join(program: KeptProgram, { continuedId, responseId }: ProgramUser): void {
    for (const id of [continuedId, responseId]) if (id !== null) addToEnd(program.chainIds, id);
  }

  /** Whether the program of this chain, if it is unused, has said that its list changed since it was read. */
  hasNewList(server: McpServer, { owner, continuedId }: ProgramUser): boolean {
    const key = connectionKey(server, owner);
    return [...this.#idle].some(
      (program) =>
        continuedId !== null &&
        program.key === key &&
        program.chainIds.has(continuedId) &&
        program.connection.hasNewList,
    );
  }

  giveBack(program: KeptProgram): void {
    program.isUsed = false;
    const { programIdleMs, programsMax } = this.#options;
    const mayStay = !this.#isClosed && program.connection.isOpen && programIdleMs > 0;
    if (!mayStay || this.#programs.size > programsMax) return void this.#end(program);
    program.idle = setTimeout(() => void this.#end(program), programIdleMs).unref();
    this.#idle.add(program);
  }

  /** Ends all unused programs; others are ended on release. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#idle].map((program) => this.#end(program)));
  }

  async #programOfChain(server: McpServer, { owner, continuedId }: ProgramUser): Promise<KeptProgram | null> {
    if (continuedId === null) return null;
    const key = connectionKey(server, owner);
    const ofChain = (program: KeptProgram): boolean => program.key === key && program.chainIds.has(continuedId);
    for (const program of [...this.#idle].toReversed().filter(ofChain)) {
      if (!this.#idle.has(program)) continue; // Another response took it.
      this.#use(program);
      if (await program.connection.isAnswering()) return program;
      void this.#end(program);
    }
    return null;
  }

  #add(server: McpServer, { owner }: ProgramUser): KeptProgram {
    const caller = ownerText(owner);
    const connection = new McpConnection(server, {
      ...this.#options,
      tokens: null,
      caller,
      programPlaces: this.#places,
    });
    const key = connectionKey(server, owner);
    const program = { key, owner, connection, chainIds: new Set<string>(), isUsed: true, idle: null };
    this.#programs.add(program);
    if (this.#programs.size > this.#options.programsMax) this.#makeRoom();
    return program;
  }

  /** Ends the longest unused program of the owner with the most unused ones, so that no owner drives others out. */
  #makeRoom(): void {
    const byOwner = Map.groupBy(this.#idle, ({ owner }) => JSON.stringify([owner.organization, owner.project]));
    const [most] = [...byOwner.values()].toSorted((one, other) => other.length - one.length);
    const oldest = most?.[0];
    if (oldest !== undefined) void this.#end(oldest);
  }

  #use(program: KeptProgram): void {
    if (program.idle !== null) clearTimeout(program.idle);
    program.idle = null;
    program.isUsed = true;
    this.#idle.delete(program);
  }

  async #end(program: KeptProgram): Promise<void> {
    this.#use(program);
    this.#programs.delete(program);
    await program.connection.close();
  }
}

function addToEnd(ids: Set<string>, id: string): void {
  ids.delete(id);
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > CHAIN_IDS_MAX && oldest !== undefined) ids.delete(oldest);
}
