import { useState } from "react";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { sentenceOf } from "../api/use-call.ts";
import { CopyButton } from "../shell/copy-button.tsx";
import { Dialog } from "../shell/dialog.tsx";
import { EndpointForm } from "./endpoint-form.tsx";

type Endpoint = ResponsesApi.WebhookEndpoint;

/** What is open over the list of endpoints. */
export type OpenDialog =
  | { readonly type: "new" }
  | { readonly type: "secret"; readonly secret: string }
  | { readonly type: "change" | "rotate" | "delete"; readonly endpoint: Endpoint };

interface WebhookDialogProps {
  readonly open: OpenDialog;
  /** Shows the next dialog, or none. */
  readonly onNext: (open: OpenDialog | null) => void;
}

export function WebhookDialog({ open, onNext }: WebhookDialogProps) {
  const client = useClient();
  const close = (): void => onNext(null);
  switch (open.type) {
    case "new":
      return (
        <Dialog title="New endpoint" onClose={close}>
          <EndpointForm
            known={null}
            onSend={async ({ name, url, event_types }) => {
              const { signing_secret } = await client.createWebhookEndpoint({ name, url, event_types });
              onNext({ type: "secret", secret: signing_secret });
            }}
          />
        </Dialog>
      );
    case "secret":
      return (
        <Dialog title="The signing secret" onClose={close}>
          <p>It is shown this once. The receiver checks signatures with it.</p>
          <p>
            <code>{open.secret}</code> <CopyButton text={open.secret} label="Copy the secret" />
          </p>
        </Dialog>
      );
    case "change":
      return (
        <Dialog title={`Change ${open.endpoint.name}`} onClose={close}>
          <EndpointForm
            known={open.endpoint}
            onSend={async (fields) => {
              await client.updateWebhookEndpoint(open.endpoint.id, fields);
              close();
            }}
          />
        </Dialog>
      );
    case "rotate":
      return <RotateDialog endpoint={open.endpoint} onNext={onNext} />;
    case "delete":
      return <DeleteDialog endpoint={open.endpoint} onNext={onNext} />;
    default:
      return open;
  }
}

type ChangeDialogProps = Pick<WebhookDialogProps, "onNext"> & { readonly endpoint: Endpoint };

function RotateDialog({ endpoint, onNext }: ChangeDialogProps) {
  const client = useClient();
  const [keepsOld, setKeepsOld] = useState(true);
  const [trouble, setTrouble] = useState("");
  const rotate = (): void => {
    client.rotateWebhookSecret(endpoint.id, { keep_old_secret_active_for_24_hours: keepsOld }).then(
      ({ signing_secret }) => onNext({ type: "secret", secret: signing_secret }),
      (error: unknown) => setTrouble(sentenceOf(error)),
    );
  };
  return (
    <Dialog title={`Rotate the secret of ${endpoint.name}`} onClose={() => onNext(null)}>
      <label>
        <input type="checkbox" checked={keepsOld} onChange={({ target }) => setKeepsOld(target.checked)} /> sign with
        the old secret too for 24 hours
      </label>
      <button type="button" className="main" onClick={rotate}>
        Rotate the secret
      </button>
      <p className="trouble" role="alert">
        {trouble}
      </p>
    </Dialog>
  );
}

function DeleteDialog({ endpoint, onNext }: ChangeDialogProps) {
  const client = useClient();
  const [trouble, setTrouble] = useState("");
  const remove = (): void => {
    client.deleteWebhookEndpoint(endpoint.id).then(
      () => onNext(null),
      (error: unknown) => setTrouble(sentenceOf(error)),
    );
  };
  return (
    <Dialog title={`Delete ${endpoint.name}`} onClose={() => onNext(null)}>
      <p>{endpoint.url} is not told any more, and its deliveries are deleted.</p>
      <button type="button" className="main" onClick={remove}>
        Delete the endpoint
      </button>
      <p className="trouble" role="alert">
        {trouble}
      </p>
    </Dialog>
  );
}
