const SUBJECT_CHARACTERS_MAX = 72;
const UNFINISHED = /^(WIP|work in progress|merge gates|fixup!|squash!|amend!)/i;
const CAPITAL = /^\p{Lu}/u;
/** Endings that imperatives rarely have, and the verbs that are exceptions. */
const NO_IMPERATIVE = /(ed|ing|[^su]s)$/;
const IMPERATIVES: ReadonlySet<string> = new Set(
  "Bring Embed Feed Fling Focus Heed Need Ping Proceed Ring Seed Shed Sing Speed Spring String Swing Wring".split(" "),
);

/** The faults of a commit's subject as sentences; an empty list if there are none. */
export function subjectFaults(subject: string): string[] {
  const [verb = ""] = subject.split(/[ ,:]/, 1);
  const faults: string[] = [];
  if ([...subject].length > SUBJECT_CHARACTERS_MAX) faults.push(`is longer than ${SUBJECT_CHARACTERS_MAX} characters`);
  if (UNFINISHED.test(subject)) faults.push("says that the work is not finished");
  if (!CAPITAL.test(subject)) faults.push("does not begin with a capital");
  if (NO_IMPERATIVE.test(verb) && !IMPERATIVES.has(verb)) faults.push(`begins with '${verb}', which is no imperative`);
  if (subject.endsWith(".")) faults.push("ends with a full stop");
  return faults;
}
