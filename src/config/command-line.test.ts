import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { readCommandLine } from "./command-line.ts";

test.each([
  [["--prot", "8080"], "--prot is not a setting. Did you mean --port?"],
  [["--model-baseurl=x"], "--model-baseurl is not a setting. Did you mean --model-base-url?"],
  [["--colour", "red"], "--colour is not a setting. --help lists them."],
  [["mirgate"], "Argument 1 is not a flag or a command. Did you mean migrate?"],
  [["start"], "Argument 1 is not a flag or a command. Did you mean serve?"],
  [["key"], "Argument 1 is not a flag or a command. Did you mean keys?"],
  [
    ["--model-api-key=sk-secret"],
    "--model-api-key is not a flag: MODEL_API_KEY is a secret, and other users can read command lines. Set it in the environment or in .env.",
  ],
])("%j is named, with the nearest right one", (argv, problem) => {
  verifies("config.flags.wrong-ones-are-named");
  expect(readCommandLine(argv).problems[0]).toBe(problem);
});

test("the value of a flag that there is not is not named, too", () => {
  expect(readCommandLine(["--colour", "red", "--port", "1"]).problems).toEqual([
    "--colour is not a setting. --help lists them.",
  ]);
  expect(readCommandLine(["--colour=red", "red"]).problems).toHaveLength(2);
});

test("a stray argument, which may be a secret, is not repeated", () => {
  expect(readCommandLine(["sk-secret-0123456789"]).problems).toEqual(["Argument 1 is not a flag or a command."]);
});
