import { type Answer, created, one } from '#api/answer.ts';
import { forbidden, unavailable, unprocessable } from '#api/errors.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { newId } from '#platform/store/id.ts';
import { logError } from '#platform/store/log.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { maxTargets, readBulkAction } from '#resources/workspaces/change-requests/input.ts';
import { type ChangeRequest, createChangeRequest } from '#resources/workspaces/change-requests/records.ts';
import { getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import type { ChangeRequestEvent } from '#run/notifications/change-request.ts';
import { explore, find, workspaceIdsIn } from './explore.ts';
import { readTargets } from './input.ts';

/** Actions on many workspaces at once (HCP API: explorer, bulk actions). The only action creates change requests. */

type Bulk = Context<InOrganization>;

/** Ids of the workspaces that a query finds. @throws {ApiError} 403 without explorer:read, 422 for none or too many, 503 */
const targetIds = async ({ subject, principal, granted }: Bulk, document: unknown): Promise<string[]> => {
  const query = readTargets(document);
  if (!granted.has('explorer:read')) {
    throw forbidden('You can see this organization, but a query needs the permission explorer:read.');
  }
  const answer = await find(await explore(subject.record, principal), query);
  if (answer.isIndexing) {
    throw unavailable('The explorer is still reading the states of this organization. Repeat the request.');
  }
  const ids = workspaceIdsIn(answer);
  if (ids.length === 0) throw unprocessable('/data/attributes/query', 'query: finds no workspaces');
  if (ids.length <= maxTargets) return ids;
  throw unprocessable(
    '/data/attributes/query',
    `query: finds ${ids.length} workspaces; the maximum is ${maxTargets}. Filter further, and send several requests`,
  );
};

/** Requires admin access to every workspace, so that nothing is created for only some of them. */
const targetsOf = async ({ subject, principal }: Bulk, ids: string[], field: string): Promise<Workspace[]> => {
  const { organization } = subject;
  const targets = (await getWorkspaces(ids)).filter((workspace) => workspace.organization === organization);
  const granted = await principal.onWorkspaces(organization, targets);
  for (const id of ids) {
    const target = targets.find((candidate) => candidate.id === id);
    if (!target || !granted(id).has('workspace:read')) {
      throw unprocessable(`/data/attributes/${field}`, `${field}: workspace ${id} not found`);
    }
    if (!granted(id).has('workspace:update')) {
      throw forbidden(`Change requests need the permission workspace:update, which you lack on ${target.name}.`);
    }
  }
  return targets;
};

/** Failures are only logged: the change request was created. */
const notifyTeams = async ({ workspaceId, ...changeRequest }: ChangeRequest): Promise<void> => {
  const { id, subject, message, createdAt, createdBy } = changeRequest;
  // Derived from the request, so that a repeat has the same event id.
  const event: ChangeRequestEvent = {
    kind: 'changeRequest',
    id,
    workspaceId,
    changeRequest: { id, subject, message, createdAt, createdBy },
  };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { workspace: workspaceId, changeRequest: id });
  }
};

const createInBulk = async (context: Bulk): Promise<Answer> => {
  const { request, subject, principal } = context;
  const { workspaceIds, query, ...values } = readBulkAction(request);
  const field = query === undefined ? 'target_ids' : 'query';
  const targets = await targetsOf(context, workspaceIds ?? (await targetIds(context, query)), field);
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
      /** Not in HCP's API: ids of the affected workspaces. */
      target_ids: targets.map((target) => target.id),
    },
  });
};

export const bulkActionRoutes: Route[] = [
  route('POST', '/organizations/{organization}/explorer/bulk-actions', 'organization:read', organization, createInBulk),
];
