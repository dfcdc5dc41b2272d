import { assert } from "@antiphon/base/assert.ts";
import { typeOfName } from "./event-members.ts";
import { after, type Expression, mayEnd, NOTHING, nextNames } from "./expression.ts";
import type { Report, RuleName } from "./rules.ts";

/** Checks a sequence of events against its grammar. Reports only the first fault. */
export class OrderChecker {
  #rest: Expression;
  #hasFailed = false;
  readonly #rule: RuleName;

  constructor(start: Expression | undefined, rule: RuleName) {
    assert(start !== undefined, "the grammar must define the sequence");
    this.#rest = start;
    this.#rule = rule;
  }

  take(name: string, report: Report): void {
    if (this.#hasFailed) return;
    const rest = after(this.#rest, name);
    if (rest === NOTHING) {
      this.#hasFailed = true;
      report(this.#rule, `${showName(name)} comes instead of ${this.#expectation()}`);
    } else this.#rest = rest;
  }

  mayTake(name: string): boolean {
    return !this.#hasFailed && after(this.#rest, name) !== NOTHING;
  }

  /** Whether the sequence may not end here. */
  get isUnfinished(): boolean {
    return !this.#hasFailed && !mayEnd(this.#rest);
  }

  #expectation(): string {
    const names = nextNames(this.#rest).map(showName);
    return names.length === 0 ? "nothing" : names.join(" or ");
  }
}

function showName(name: string): string {
  if (name === "inside") return "an event about an item";
  const [, event = name, suffix] = /^([^<]+)(<\w+>)?$/.exec(name) ?? [];
  return `${typeOfName(event)}${suffix ?? ""}`;
}
