import type { Response } from "../../../packages/client/src/index.ts";
import { requestOf } from "../exports/request-of.ts";
import type { ShownItem } from "../items/fold-events.ts";
import { Json } from "../items/json.tsx";

interface RequestTabProps {
  readonly response: Response;
  readonly input: readonly ShownItem[];
}

/** What was asked, in the settings that the server understood, beside the whole response. */
export function RequestTab({ response, input }: RequestTabProps) {
  return (
    <div className="pair">
      <section aria-label="Request">
        <h2>Request</h2>
        <p className="hint">The input as it is stored, and every setting that differs from its default.</p>
        <Json value={requestOf(response, input)} label="The request" />
      </section>
      <section aria-label="Response">
        <h2>Response</h2>
        <p className="hint">What a client gets that did not stream.</p>
        <Json value={response} label="The response" />
      </section>
    </div>
  );
}
