import { assert } from "../base/assert.ts";
import { typeOfName } from "./event-members.ts";
import { after, type Expression, mayEnd, NOTHING, nextNames } from "./expression.ts";
import type { Report, RuleName } from "./rules.ts";

/** Where a sequence of events stands in its grammar. Once it has gone wrong, it judges no more. */
export class Order {
  #rest: Expression;
  #isLost = false;
  readonly #rule: RuleName;

  constructor(start: Expression | undefined, rule: RuleName) {
    assert(start !== undefined, "an order has its grammar");
    this.#rest = start;
    this.#rule = rule;
  }

  take(name: string, report: Report): void {
    if (this.#isLost) return;
    const rest = after(this.#rest, name);
    if (rest === NOTHING) {
      this.#isLost = true;
      report(this.#rule, `${shown(name)} comes where ${this.#expected()} is due`);
    } else this.#rest = rest;
  }

  mayTake(name: string): boolean {
    return !this.#isLost && after(this.#rest, name) !== NOTHING;
  }

  /** Whether something is still due. */
  get isUnfinished(): boolean {
    return !this.#isLost && !mayEnd(this.#rest);
  }

  #expected(): string {
    const names = nextNames(this.#rest).map(shown);
    return names.length === 0 ? "nothing" : names.join(" or ");
  }
}

function shown(name: string): string {
  if (name === "inside") return "an event about an item";
  const [, event = name, carried] = /^([^<]+)(<\w+>)?$/.exec(name) ?? [];
  return `${typeOfName(event)}${carried ?? ""}`;
}
