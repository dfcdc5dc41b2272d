import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { FormatReply } from "@antiphon/contracts/local-stt/types.ts";
import type { FormattedText, TextFormatter } from "../../formatting/text-formatter.ts";
import type { SttContext } from "../context.ts";

/** `POST /format`: formats text; if that fails, the text is returned unchanged. */
export function format(formatter: TextFormatter): LocalSttHandlers<SttContext>["format"] {
  return async ({ body }, { signal }) => {
    const request = { assistive: body.assistive === true, instruction: body.instruction ?? "" };
    return { status: 200, body: formatReply(body.text, await formatter.format(body.text, request, signal)) };
  };
}

export function formatReply(rawText: string, { text, formatted, warning }: FormattedText): FormatReply {
  return { text, raw_text: rawText, formatted, ...(warning === null ? {} : { warning }) };
}
