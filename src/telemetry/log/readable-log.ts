import { prettyFactory } from "pino-pretty";
import { readableLine } from "./readable-line.ts";

const CLEAR_LINE = "\r\u001B[2K";

/**
 * Writes lines of the log for people: time, level and words, in colour if the terminal is to have any. Each begins on
 * an empty line, even where a progress bar is being drawn.
 */
export function readableLog(hasColors: boolean): (line: string) => string {
  const write = prettyFactory({
    colorize: hasColors,
    translateTime: "SYS:HH:MM:ss",
    hideObject: true,
    ignore: "pid",
    messageFormat: (fields) => readableLine(fields),
  });
  return (line) => CLEAR_LINE + write(line);
}
