import type { Owner } from "@antiphon/domain/owner.ts";
import { approvalSpent } from "../errors/approval-errors.ts";
import type { ConversationLock } from "../input/conversation-lock.ts";

/** What a response holds until it ends: its conversation, if it has one, and its approvals. */
export class ResponseLock {
  readonly approvals: ApprovalLock;
  #conversation: ConversationLock | null = null;

  constructor(approvals: ApprovalLock) {
    this.approvals = approvals;
  }

  addConversation(conversation: ConversationLock | null): void {
    this.#conversation = conversation;
  }

  /** Runs `work`. If it rejects, releases all that is held by then, because no response will end and release it. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#release();
      throw error;
    }
  }

  async #release(): Promise<void> {
    try {
      await this.#conversation?.release();
    } finally {
      this.approvals.release();
    }
  }
}

/**
 * The approvals in use by responses of this process. An approval allows one call, so one response at a time may use it;
 * between processes, and once the call has begun, the ledger decides.
 */
export class ApprovalsInUse {
  readonly #keys = new Set<string>();

  /** A lock without approvals. */
  newLock(owner: Owner): ApprovalLock {
    return new ApprovalLock(this.#keys, owner);
  }
}

/** The right of one response to use its approvals, until it ends. */
export class ApprovalLock {
  readonly #all: Set<string>;
  readonly #owner: Owner;
  #own: readonly string[] = [];

  constructor(all: Set<string>, owner: Owner) {
    this.#all = all;
    this.#owner = owner;
  }

  /** Takes all of these approvals, or throws an `ApiError` that names one in use by another response. */
  take(approvalRequestIds: readonly string[]): void {
    const spentId = approvalRequestIds.find((id) => this.#all.has(this.#keyOf(id)));
    if (spentId !== undefined) throw approvalSpent(spentId);
    this.takeFree(approvalRequestIds);
  }

  /** Takes the unused ones among these approvals. */
  takeFree(approvalRequestIds: readonly string[]): void {
    const free = approvalRequestIds.map((id) => this.#keyOf(id)).filter((key) => !this.#all.has(key));
    for (const key of free) this.#all.add(key);
    this.#own = [...this.#own, ...free];
  }

  /** Lets others use them. Does nothing if it was called before. */
  release(): void {
    for (const key of this.#own) this.#all.delete(key);
    this.#own = [];
  }

  #keyOf(approvalRequestId: string): string {
    return JSON.stringify([this.#owner.organization, this.#owner.project, approvalRequestId]);
  }
}
