import { type Answer, created } from '../api/answer.ts';
import { forbidden } from '../api/errors.ts';
import { type Context, type Finder, type Route, route } from '../api/route.ts';
import { requiredIn } from '../api/validation.ts';
import { runWithEventsDocument } from '../runs/document.ts';
import { createdEventId } from '../runs/events.ts';
import { getWorkspace, type Workspace } from '../workspaces/records.ts';
import { queueRun } from './create-run.ts';
import { readNewRun } from './new-run-input.ts';

const create = async ({ request, subject, granted, principal }: Context<Workspace>): Promise<Answer> => {
  const { userId } = principal;
  const { id, ...requested } = await readNewRun(request, subject);
  if (
    requested.options.isDestroy &&
    !requested.options.planOnly &&
    !requested.version.speculative &&
    !granted.has('run:apply')
  ) {
    throw forbidden(
      'is-destroy: queueing a destroy run needs the permission run:apply; with plan-only, run:plan is enough.',
    );
  }
  // Only the uploader may create the run that a configuration was uploaded for.
  const own = requested.version.createdBy === userId ? { id } : {};
  const run = await queueRun({ ...requested, ...own, workspace: subject, createdBy: userId, granted });
  return created(runWithEventsDocument(run, [createdEventId(run)], { granted, userId }));
};

/** The workspace of a new run, named in the body. */
const workspaceOfNewRun: Finder<Workspace> = {
  what: 'workspace',
  find: async (request) => getWorkspace(requiredIn(request, 'workspace', 'workspaces')),
  visibleWith: 'workspace:read',
  scope: (workspace) => ({ organization: workspace.organization, workspace }),
};

export const newRunRoutes: Route[] = [route('POST', '/runs', 'run:plan', workspaceOfNewRun, create)];
