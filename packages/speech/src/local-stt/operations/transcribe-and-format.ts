import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { TextFormatter } from "../../formatting/text-formatter.ts";
import type { SttContext } from "../context.ts";
import type { TranscribeUpload } from "../transcribe-recording.ts";
import { formatReply } from "./format.ts";

/**
 * `POST /stt_and_format`: transcribes a recording and formats the text; if formatting fails, the raw text is returned.
 */
export function transcribeAndFormat(
  transcribeUpload: TranscribeUpload,
  formatter: TextFormatter,
): LocalSttHandlers<SttContext>["transcribeAndFormat"] {
  return async ({ body }, context) => {
    const { text, language, warning } = await transcribeUpload(body, context);
    const request = { assistive: false, instruction: body.instruction ?? "" };
    const formattedText = await formatter.format(text, request, context.signal);
    const warnings = [warning, formattedText.warning].filter((sentence) => sentence !== null).join(" ");
    const reply = formatReply(text, { ...formattedText, warning: warnings === "" ? null : warnings });
    return { status: 200, body: { ...reply, ...(language === null ? {} : { language }) } };
  };
}
