import { type Answer, ok } from '#api/answer.ts';
import { conflict } from '#api/errors.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { restartTimer } from './assessment-timer.ts';
import { assess } from './assessments.ts';

const assessNow = async ({ subject, granted }: Context<Workspace>): Promise<Answer> => {
  const { id, name, organization, assessmentsEnabled } = subject;
  if (!assessmentsEnabled && !(await getOrganization(organization))?.assessmentsEnforced) {
    throw conflict(`Workspace ${name} cannot be assessed: set its attribute assessments-enabled first.`);
  }
  const obstacle = await assess(subject);
  if (obstacle) throw conflict(`Workspace ${name} cannot be assessed now: ${obstacle.reason}.`);
  await restartTimer(id);
  return ok(workspaceDocument((await getWorkspace(id)) ?? subject, granted));
};

/** HCP API: workspaces, actions/assess. */
export const assessRoutes: Route[] = [
  route('POST', '/workspaces/{workspace}/actions/assess', 'workspace:update', workspace, assessNow),
];
