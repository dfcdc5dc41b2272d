import { isRecord } from "../records.fixture.ts";

/** A member that is removed from both streams before a page sees it. */
export interface LeftOut {
  /**
   * A path in all events, such as `response.top_p`, or in one event type, such as `response.refusal.delta:obfuscation`.
   */
  readonly what: string;
  readonly reason: string;
}

const ID = /^(id|item_id)$/;
const TIME = /^(created_at|completed_at)$/;

/**
 * Makes the words of one page's streams comparable, and turns the page's own words back into those of its server:
 * - ids, made anew for each response, are numbered by their first appearance, so that what belongs together still does;
 * - times, which the clock tells, are 0; null stays null;
 * - ciphertexts, sealed anew each time they are sent, are numbered;
 * - obfuscation, which is random letters, keeps its length.
 */
export class Masking {
  readonly #masked = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #left: readonly LeftOut[];

  /** `left` lists the members to remove. */
  constructor(left: readonly LeftOut[]) {
    this.#left = left;
  }

  mask(event: unknown): unknown {
    return this.#mask(event, isRecord(event) ? `${String(event["type"])}:` : "");
  }

  /** Replaces whole strings only, because a client sends values back unchanged. */
  unmask(value: unknown): unknown {
    if (typeof value === "string") return this.#originals.get(value) ?? value;
    if (Array.isArray(value)) return value.map((element) => this.unmask(element));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.unmask(member)]));
  }

  #mask(value: unknown, path: string): unknown {
    if (Array.isArray(value)) return value.map((element) => this.#mask(element, `${path}[]`));
    if (!isRecord(value)) return value;
    const paths = Object.keys(value).map(
      (name) => [name, path.endsWith(":") ? path + name : `${path}.${name}`] as const,
    );
    const kept = paths.filter(([, whole]) => !this.#isLeft(whole));
    return Object.fromEntries(kept.map(([name, whole]) => [name, this.#maskMember(name, value[name], whole)]));
  }

  #maskMember(name: string, member: unknown, path: string): unknown {
    if (TIME.test(name) && typeof member === "number") return 0;
    if (typeof member !== "string") return this.#mask(member, path);
    if (ID.test(name)) return this.#masked.get(member) ?? this.#name(prefixOf(member), member);
    if (name === "encrypted_content") return this.#name("sealed", member);
    return name === "obfuscation" ? "x".repeat(member.length) : member;
  }

  #name(prefix: string, original: string): string {
    const count = (this.#counts.get(prefix) ?? 0) + 1;
    const masked = `${prefix}_${count}`;
    this.#counts.set(prefix, count);
    this.#masked.set(original, masked);
    this.#originals.set(masked, original);
    return masked;
  }

  #isLeft(path: string): boolean {
    return this.#left.some(({ what }) => path === what || path.endsWith(`:${what}`));
  }
}

/** Keeps the prefix of an id, because the contract fixes it. */
function prefixOf(id: string): string {
  return id.replace(/_[^_]*$/, "");
}
