import { asWords } from "../base/format.ts";

export function StatusPill({ status }: { readonly status: string }) {
  return (
    <span className="status" data-status={status}>
      {asWords(status)}
    </span>
  );
}
