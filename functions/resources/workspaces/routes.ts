import { type Answer, ok } from '#api/answer.ts';
import { withEtag } from '#api/guard.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { organization } from '#resources/organizations/finder.ts';
import { currentRunId, withVariables, workspaceDocument } from './document.ts';
import { workspaceFilter } from './filter.ts';
import { sharedWorkspace, sharedWorkspaceByName } from './finder.ts';
import { answerWorkspaces } from './list-route.ts';
import { firstQueued } from './queue-entries.ts';
import type { Workspace } from './records.ts';
import { workspaceIncludes as include, type WorkspaceDependencies, withRelated, withUpgrade } from './related.ts';

/** Reads workspaces; settings-routes.ts changes them. */

/** While a user holds the lock, shows the first run in the queue, so that clients can report the reason of the wait. */
const shownRunId = async (subject: Workspace): Promise<string | undefined> =>
  (subject.lock?.kind === 'user' ? await firstQueued(subject.id) : undefined) ?? currentRunId(subject);

const read =
  ({ related, variableIds, upgradable }: WorkspaceDependencies) =>
  async (context: Context<Workspace>): Promise<Answer> => {
    const { subject, granted } = context;
    const runId = await shownRunId(subject);
    const [above, ids, upgrades] = await Promise.all([
      related(context, [{ workspace: subject, runId }], () => granted),
      granted.has('variable:read') ? variableIds(subject.id) : undefined,
      upgradable([subject]),
    ]);
    const document = withUpgrade(workspaceDocument(subject, granted, runId), upgrades);
    const answer = withRelated(ids ? withVariables(document, ids) : document, above);
    return withEtag(ok(answer, above?.included), subject);
  };

export const workspaceRoutes = (above: WorkspaceDependencies): Route[] => [
  route('GET', '/organizations/{organization}/workspaces', 'organization:read', organization, answerWorkspaces(above), {
    ...workspaceFilter,
    include,
    sort: 'text',
  }),
  route('GET', '/workspaces/{workspace}', 'workspace:read', sharedWorkspace, read(above), { include }),
  route(
    'GET',
    '/organizations/{organization}/workspaces/{name}',
    'workspace:read',
    sharedWorkspaceByName,
    read(above),
    { include },
  ),
];
