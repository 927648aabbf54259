import { checkCount, type PolicyOutcome, type PolicySetOutcome } from '#run/policies.ts';

/** A policy check in plain text, as the command line prints it. */

/** Control characters could move a terminal's cursor; a message is one line. */
const line = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim();

const messageOf = (item: unknown): string => {
  if (typeof item === 'string') return line(item);
  const { msg } = (item ?? {}) as { msg?: unknown };
  return line(typeof msg === 'string' ? msg : JSON.stringify(item));
};

const policyLines = (policy: PolicyOutcome): string[] => [
  `  ${policy.status.toUpperCase()}  ${line(policy.policyName)} (${policy.enforcementLevel})${policy.description ? ` – ${line(policy.description)}` : ''}`,
  ...policy.output.map((item) => `    - ${messageOf(item)}`),
  ...(policy.error === undefined ? [] : [`    ${line(policy.error)}`]),
];

export const checkOutput = (sets: PolicySetOutcome[]): string => {
  const count = checkCount(sets);
  const parts = [
    `${count.passed} passed`,
    `${count['advisory-failed']} advisory failed`,
    `${count['soft-failed']} soft-mandatory failed`,
    `${count['hard-failed']} hard-mandatory failed`,
  ];
  const lines = sets.flatMap((set) => [
    `Policy set ${line(set.policySetName)}:`,
    ...(set.error === undefined ? [] : [`  could not be evaluated: ${line(set.error)}`]),
    ...set.outcomes.flatMap(policyLines),
    ...set.warnings.map((warning) => `  Warning: ${line(warning)}`),
    '',
  ]);
  return `${[...lines, `Policies: ${parts.join(', ')}.`].join('\n')}\n`;
};
