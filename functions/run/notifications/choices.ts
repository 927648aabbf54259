import { isAccepted, pendingOverride, waitsForPerson } from '../actions.ts';
import { organizationNameOf, type Run } from '../run.ts';
import { statuses } from '../status.ts';
import { type Choice, type Message, present } from './message.ts';

/** Decisions that a notification of a waiting run offers, and the message that takes its place afterwards. Pure. */

/** Only those that the run accepts in its present state. */
export const choicesOf = (run: Run): Choice[] => {
  const accepted = {
    apply: isAccepted('apply', run),
    override: pendingOverride(run) !== undefined,
    discard: isAccepted('discard', run),
  };
  return (['apply', 'override', 'discard'] as const).filter((action) => accepted[action]);
};

interface Decided {
  what: string;
  by?: string | undefined;
  at?: string | undefined;
}

/** The last decision about the run, and its user, if there is one. */
export const decisionOf = (run: Run): Decided => {
  const { cancel, decision, overrides, status } = run;
  if (cancel) return { what: 'Run canceled', by: cancel.by, at: cancel.at };
  if (decision) {
    return {
      what: decision.action === 'apply' ? 'Run confirmed' : 'Run discarded',
      by: decision.by,
      at: decision.at,
    };
  }
  const override = overrides?.policyCheck ?? overrides?.policyEvaluation;
  if (override) return { what: 'Policies overridden', by: override.by, at: override.at };
  return { what: waitsForPerson(run) ? 'Run waits for a decision' : `Run is at ${statuses[status].label}` };
};

/** @param by name of the user who decided */
export const decidedMessage = (run: Run, by: string | undefined, baseUrl: string): Omit<Message, 'payload'> => {
  const { what, at } = decisionOf(run);
  const organization = organizationNameOf(run);
  return {
    headline: `${run.workspaceName}: ${what}`,
    facts: present([
      ['Organization', organization],
      ['Workspace', run.workspaceName],
      ['Run', run.message],
      ['Decided by', by],
      ['Decided at', at],
    ]),
    link: {
      url: `${baseUrl}/app/${organization}/workspaces/${run.workspaceName}/runs/${run.id}`,
      text: 'Open the run',
    },
    tone: 'neutral',
  };
};
