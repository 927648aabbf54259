import { type Answer, noContent } from '#api/answer.ts';
import { conflict } from '#api/errors.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { apply, plan } from './finder.ts';
import { purgePhase, restorePhase, softDeletePhase } from './phase-content.ts';

const states = { soft_deleted: 'deleted', permanently_deleted: 'deleted for good' };

const manage =
  (phase: PhaseName, verb: string, change: (run: Run, phase: PhaseName) => Promise<Run | undefined>) =>
  async ({ subject }: Context<Run>): Promise<Answer> => {
    const subjectName = `The content of the ${phase} of run ${subject.id}`;
    if (!isFinal(subject.status))
      throw conflict(`${subjectName} cannot be ${verb}: the run is ${subject.status} and has not ended.`);
    if (await change(subject, phase)) return noContent();
    const { content } = subject[phase];
    throw conflict(`${subjectName} cannot be ${verb}: it is ${content ? states[content] : 'not deleted'}.`);
  };

export const phaseContentRoutesOf = (phase: PhaseName, base: `/${string}`, finder: Finder<Run>): Route[] => [
  route(
    'POST',
    `${base}/actions/soft-delete-backing-data`,
    'data:delete',
    finder,
    manage(phase, 'deleted', softDeletePhase),
  ),
  route('POST', `${base}/actions/restore-backing-data`, 'data:delete', finder, manage(phase, 'restored', restorePhase)),
  route(
    'POST',
    `${base}/actions/permanently-delete-backing-data`,
    'data:delete',
    finder,
    manage(phase, 'deleted for good', purgePhase),
  ),
];

/** Deletes logs and artifacts of plans and applies, which are secret or large; the records stay. */
export const phaseContentRoutes: Route[] = [
  ...phaseContentRoutesOf('plan', '/plans/{plan}', plan),
  ...phaseContentRoutesOf('apply', '/applies/{apply}', apply),
];
