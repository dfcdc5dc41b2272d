import type { Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { doorRequest } from "../exports/door-request.ts";
import { requestOf } from "../exports/request-of.ts";
import type { ShownItem } from "../items/fold-events.ts";
import { Json } from "../items/json.tsx";

interface RequestTabProps {
  readonly response: Response;
  readonly input: readonly ShownItem[];
  /** The door that the run came by. */
  readonly face: ResponsesApi.ResponseSummary["face"];
}

/** What was asked, in the settings that the server understood, beside the whole response. */
export function RequestTab({ response, input, face }: RequestTabProps) {
  const request = requestOf(response, input);
  const { path, body } = doorRequest(request, face);
  return (
    <div className="pair">
      <section aria-label="Request">
        <h2>Request</h2>
        <p className="hint">
          <code>POST {path}</code> with the input as it is stored, and every setting that differs from its default.
        </p>
        <Json value={body} label="The request" />
        {face === null ? null : (
          <>
            <h3>As a create request</h3>
            <p className="hint">The same in the words of the Responses API.</p>
            <Json value={request} label="The create request" />
          </>
        )}
      </section>
      <section aria-label="Response">
        <h2>Response</h2>
        <p className="hint">What a client gets that did not stream.</p>
        <Json value={response} label="The response" />
      </section>
    </div>
  );
}
