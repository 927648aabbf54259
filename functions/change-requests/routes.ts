import { type Answer, created, ok, one } from '../api/answer.ts';
import { ApiError, forbidden, unprocessable } from '../api/errors.ts';
import { inWorkspace, param } from '../api/finders.ts';
import { list, pageOf, pageSlice } from '../api/pagination.ts';
import { flag } from '../api/query-parameters.ts';
import { type Context, type Finder, type Route, route } from '../api/route.ts';
import { environment } from '../environment.ts';
import { type InOrganization, organization } from '../people/organizations/finder.ts';
import type { ChangeRequestEvent } from '../run/change-request-notice.ts';
import { invokeLater } from '../store/aws.ts';
import { newId } from '../store/id.ts';
import { logError } from '../store/log.ts';
import { workspace } from '../workspaces/finder.ts';
import { getWorkspaces, type Workspace } from '../workspaces/records.ts';
import { changeRequestDocument } from './document.ts';
import { readBulkAction } from './input.ts';
import {
  archiveChangeRequest,
  type ChangeRequest,
  createChangeRequest,
  getChangeRequest,
  listChangeRequests,
} from './records.ts';

const changeRequest: Finder<ChangeRequest> = {
  what: 'change request',
  parameter: 'changeRequest',
  find: (request) => getChangeRequest(param(request, 'changeRequest')),
  ...inWorkspace,
};

const listOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const wanted = request.query.get('archive');
  const all = (await listChangeRequests(subject.id)).filter(
    ({ archivedAt }) => wanted === null || (archivedAt !== undefined) === (wanted === 'true'),
  );
  const page = pageOf(request);
  return list(request, page, all.length, pageSlice(all, page).map(changeRequestDocument));
};

const archive = async ({ subject, principal }: Context<ChangeRequest>): Promise<Answer> => {
  const archived = await archiveChangeRequest(subject, principal.userId);
  if (archived) return ok(changeRequestDocument(archived));
  throw new ApiError(400, [
    { title: 'already archived', detail: `Change request ${subject.id} was archived before. Nothing has to be done.` },
  ]);
};

/** A failure is logged: the change request is there all the same. */
const notifyTeams = async ({ workspaceId, ...changeRequest }: ChangeRequest): Promise<void> => {
  const { id, subject, message, createdAt, createdBy } = changeRequest;
  // The same event for the same request, however often it is created.
  const event: ChangeRequestEvent = { id, workspaceId, changeRequest: { id, subject, message, createdAt, createdBy } };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { workspace: workspaceId, changeRequest: id });
  }
};

/** For admins of each workspace; nothing is created unless all can be. */
const createInBulk = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  const { workspaceIds, ...values } = readBulkAction(request);
  const targets = (await getWorkspaces(workspaceIds)).filter((one) => one.organization === subject.organization);
  for (const id of workspaceIds) {
    const target = targets.find((one) => one.id === id);
    const granted = target && (await principal.on({ organization: subject.organization, workspace: target }));
    if (!granted?.has('workspace:read')) {
      throw unprocessable('/data/attributes/target_ids', `target_ids: workspace ${id} not found`);
    }
    if (!granted.has('workspace:update')) {
      throw forbidden(`Change requests need the permission workspace:update, which you lack on ${target?.name}.`);
    }
  }
  const id = newId('eba');
  for (const target of targets) {
    const changeRequest = await createChangeRequest(target, id, { ...values, createdBy: principal.userId });
    if (subject.record.teamsNotified) await notifyTeams(changeRequest);
  }
  return created({
    id,
    type: 'explorer_bulk_actions',
    attributes: {
      organization_id: subject.record.externalId,
      action_type: 'change_requests',
      action_inputs: { subject: values.subject, message: values.message },
      created_by: one('users', principal.userId).data,
    },
  });
};

const read = async ({ subject }: Context<ChangeRequest>): Promise<Answer> => ok(changeRequestDocument(subject));

const single = '/change-requests/{changeRequest}';

export const changeRequestRoutes: Route[] = [
  route('POST', '/organizations/{organization}/explorer/bulk-actions', 'organization:read', organization, createInBulk),
  route('GET', '/workspaces/{workspace}/change-requests', 'workspace:read', workspace, listOfWorkspace, {
    archive: flag,
  }),
  route('GET', single, 'workspace:read', changeRequest, read),
  route('GET', `${single}/actions/archive`, 'workspace:read', changeRequest, read),
  route('POST', `${single}/actions/archive`, 'run:apply', changeRequest, archive),
];
