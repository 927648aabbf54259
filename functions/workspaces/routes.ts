import { type Answer, ok } from '../api/answer.ts';
import { tagged } from '../api/guard.ts';
import { type Context, type Route, route } from '../api/route.ts';
import { relatedToWorkspaces, withRelated } from '../includes/workspaces.ts';
import { organization } from '../people/organizations/finder.ts';
import { currentRunId, workspaceDocument } from './document.ts';
import { sharedWorkspace, sharedWorkspaceByName } from './finder.ts';
import { answerWorkspaces } from './list-route.ts';
import { firstQueued, type Workspace } from './records.ts';

/** Workspaces as they are read; what they are set up with is changed in settings/workspaces.ts. */

/** While a user holds the workspace, the run that waits for it is shown: clients then say what they wait for. */
const shownRunId = async (subject: Workspace): Promise<string | undefined> =>
  (subject.lock?.kind === 'user' ? await firstQueued(subject.id) : undefined) ?? currentRunId(subject);

const read = async (context: Context<Workspace>): Promise<Answer> => {
  const { subject, granted } = context;
  const runId = await shownRunId(subject);
  const related = await relatedToWorkspaces(context, [{ workspace: subject, runId }], () => granted);
  return tagged(ok(withRelated(workspaceDocument(subject, granted, runId), related), related?.included), subject);
};

export const workspaceRoutes: Route[] = [
  route('GET', '/organizations/{organization}/workspaces', 'organization:read', organization, answerWorkspaces),
  route('GET', '/workspaces/{workspace}', 'workspace:read', sharedWorkspace, read),
  route('GET', '/organizations/{organization}/workspaces/{name}', 'workspace:read', sharedWorkspaceByName, read),
];
