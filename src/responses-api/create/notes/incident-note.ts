import { assertNever } from "@antiphon/base/assert.ts";
import type { ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { RunIncident } from "../../../runs/ports/run-watch.ts";

/** The note on an incident of a run. `at` is in Unix seconds; `node` is the name of this server. */
export function noteOf(incident: RunIncident, at: number, node: string): ResponseNote {
  switch (incident.type) {
    case "interrupted":
      return { kind: "interrupted", ...INTERRUPTED[incident.by], at, node };
    case "waited": {
      const seconds = (incident.pauseMs / 1000).toFixed(1);
      return {
        kind: "waited",
        what: "model",
        why: `${incident.error} It is asked again after ${seconds} s.`,
        at,
        node,
      };
    }
    case "continued":
      return { kind: "continued", what: "output", why: CONTINUED[incident.how], at, node };
    case "held_back":
      return { kind: "emulated", what: "tools", why: heldBack(incident.functions), at, node };
    default:
      return assertNever(incident);
  }
}

function heldBack(functions: number): string {
  return `The model finds ${functions} tools of MCP servers by a search, because their descriptions would fill its window.`;
}

const INTERRUPTED: Readonly<Record<Extract<RunIncident, { type: "interrupted" }>["by"], Omit<ResponseNote, "kind">>> = {
  crash: {
    what: "server",
    why: "The server that made the response ended unexpectedly. This server goes on with it.",
  },
  handover: { what: "server", why: "The server that made the response was stopped. This server goes on with it." },
  store: { what: "store", why: "The database was away for too long. The response goes on from its latest step." },
};

const CONTINUED: Readonly<Record<Extract<RunIncident, { type: "continued" }>["how"], string>> = {
  same_item: "An item that was interrupted goes on where it had stopped.",
  new_item: "An item that was interrupted ended as incomplete, and the model was asked for it again.",
};
