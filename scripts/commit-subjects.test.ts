import { expect, test } from "vitest";
import { subjectFaults } from "./commit-subjects.ts";

test.each([
  ["Read large bodies in turns of the loop, so that nobody waits for one of them", "is longer than 72 characters"],
  ["WIP Read bodies in turns", "says that the work is not finished"],
  ["Work in progress on bodies", "says that the work is not finished"],
  ["Merge gates", "says that the work is not finished"],
  ["fixup! Read bodies in turns", "says that the work is not finished"],
  ["squash! Read bodies in turns", "says that the work is not finished"],
  ["read bodies in turns", "does not begin with a capital"],
  ["Added a reader of bodies", "begins with 'Added', which is no imperative"],
  ["Adding a reader of bodies", "begins with 'Adding', which is no imperative"],
  ["Adds a reader of bodies", "begins with 'Adds', which is no imperative"],
  ["Read bodies in turns.", "ends with a full stop"],
])("the subject '%s' %s", (subject, fault) => {
  expect(subjectFaults(subject)).toContain(fault);
});

test.each(["Read bodies in turns", "Bring the map up to date", "Pass keys on", "Focus on one word", "Need no key"])(
  "nothing is wrong with '%s'",
  (subject) => {
    expect(subjectFaults(subject)).toEqual([]);
  },
);
