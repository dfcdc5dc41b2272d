import { prettyFactory } from "pino-pretty";
import { readableLine } from "./readable-line.ts";

const CLEAR_LINE = "\r\u001B[2K";

/**
 * Writes log lines for people: time, level and text, in colour if the terminal has it. Each begins on an empty line,
 * even while a progress bar is drawn.
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
