import { type Answer, many, ok } from '../api/answer.ts';
import { organization, sharedWorkspace, sharedWorkspaceByName } from '../api/finders.ts';
import { tagged } from '../api/guard.ts';
import { type Context, type Route, route } from '../api/route.ts';
import { listVariables } from '../variables/records.ts';
import { currentRunId, workspaceDocument } from './document.ts';
import { relatedToWorkspaces, withRelated } from './includes.ts';
import { answerWorkspaces } from './list-route.ts';
import { firstQueued, type Workspace } from './records.ts';

/** Workspaces as they are read; what they are set up with is changed in settings/workspaces.ts. */

/** While a user holds the workspace, the run that waits for it is shown: clients then say what they wait for. */
const shownRunId = async (subject: Workspace): Promise<string | undefined> =>
  (subject.lock?.kind === 'user' ? await firstQueued(subject.id) : undefined) ?? currentRunId(subject);

const read = async (context: Context<Workspace>): Promise<Answer> => {
  const { subject, granted } = context;
  const runId = await shownRunId(subject);
  const [related, variables] = await Promise.all([
    relatedToWorkspaces(context, [{ workspace: subject, runId }], () => granted),
    granted.has('variable:read') ? listVariables(subject.id) : [],
  ]);
  const document = withRelated(workspaceDocument(subject, granted, runId), related);
  const ids = variables.map(({ id }) => id);
  const vars = { ...document.relationships?.vars, ...(ids.length > 0 ? many('vars', ids) : {}) };
  const answer = { ...document, relationships: { ...document.relationships, vars } };
  return tagged(ok(answer, related?.included), subject);
};

export const workspaceRoutes: Route[] = [
  route('GET', '/organizations/{organization}/workspaces', 'organization:read', organization, answerWorkspaces),
  route('GET', '/workspaces/{workspace}', 'workspace:read', sharedWorkspace, read),
  route('GET', '/organizations/{organization}/workspaces/{name}', 'workspace:read', sharedWorkspaceByName, read),
];
