import { isRecord } from "../records.fixture.ts";

interface Mask {
  readonly what: string;
  readonly reason: string;
}

/** All that is made equal before a page sees it, in both streams alike. */
export const MASKS: readonly Mask[] = [
  {
    what: "id and item_id",
    reason: "made anew for each response; numbered by their first appearance, so that what belongs together still does",
  },
  { what: "created_at and completed_at", reason: "the clock; null stays null" },
  { what: "encrypted_content", reason: "sealed anew each time it is sent; numbered" },
  { what: "obfuscation", reason: "random letters; their number stays" },
];

/** Makes the words of one page's streams comparable, and turns the page's own words back into those of its server. */
export class Masking {
  readonly #masked = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #left: readonly string[];

  /** `left`: members that are left out wherever they stand, as `response.top_p`: the end of a path. */
  constructor(left: readonly string[]) {
    this.#left = left;
  }

  mask(value: unknown, path = ""): unknown {
    if (Array.isArray(value)) return value.map((element) => this.mask(element, `${path}[]`));
    if (!isRecord(value)) return value;
    const members = Object.entries(value).filter(([name]) => !this.#isLeft(`${path}.${name}`));
    return Object.fromEntries(
      members.map(([name, member]) => [name, this.#maskMember(name, member, `${path}.${name}`)]),
    );
  }

  /** Whole strings only: what a client sends back it sends as it came. */
  unmask(value: unknown): unknown {
    if (typeof value === "string") return this.#originals.get(value) ?? value;
    if (Array.isArray(value)) return value.map((element) => this.unmask(element));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.unmask(member)]));
  }

  #maskMember(name: string, member: unknown, path: string): unknown {
    if ((name === "created_at" || name === "completed_at") && typeof member === "number") return 0;
    if (typeof member !== "string") return this.mask(member, path);
    if (name === "id" || name === "item_id") return this.#masked.get(member) ?? this.#name(prefixOf(member), member);
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
    return this.#left.some((end) => path.endsWith(`.${end}`));
  }
}

/** The kind of an id is the contract's. */
function prefixOf(id: string): string {
  return id.replace(/_[^_]*$/, "");
}
