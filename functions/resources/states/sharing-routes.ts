import * as v from 'valibot';
import { type Answer, noContent } from '#api/answer.ts';
import { unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageWith, totalOf } from '#api/pagination.ts';
import { flag } from '#api/query-parameters.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { identifier, readWhole } from '#api/validation.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { findWorkspaces, type WorkspaceFilter } from '#resources/workspaces/lists.ts';
import { getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { addConsumers, listConsumers, removeConsumers } from './sharing.ts';

/** Workspaces whose runs may read this workspace's state (HCP API: workspaces, remote state consumers). */

/** Clients send all consumers in one request; each takes one write. */
const maxAtOnce = 500;

const body = v.object({
  data: v.pipe(v.array(identifier('workspaces')), v.maxLength(maxAtOnce, `may have at most ${maxAtOnce} at once`)),
});

const idsIn = ({ request }: Context<Workspace>): string[] => [
  ...new Set(readWhole(request, body).data.map(({ id }) => id)),
];

/** Workspaces in the same organization that the caller may see. @throws {ApiError} 422 */
const consumersIn = async (context: Context<Workspace>): Promise<string[]> => {
  const { organization } = context.subject;
  const ids = idsIn(context);
  const granted = await context.principal.onWorkspaces(organization, ids);
  const consumers = new Set(
    (await getWorkspaces(ids))
      .filter(({ id, ...workspace }) => workspace.organization === organization && granted(id).has('workspace:read'))
      .map(({ id }) => id),
  );
  const missing = ids.findIndex((id) => !consumers.has(id));
  if (missing >= 0)
    throw unprocessable(`/data/${missing}/id`, `id: workspace ${ids[missing]} not found in ${nameOf(organization)}`);
  return ids;
};

/** Every other workspace of the organization. */
const listEveryone = async ({ request, subject, principal }: Context<Workspace>): Promise<Answer> => {
  const page = pageOf(request);
  const filter: WorkspaceFilter = {
    mayFit: ({ name }) => name !== subject.name,
    within: await principal.reach(subject.organization, 'workspace:read'),
  };
  const { items, total, more } = await findWorkspaces(subject.organization, filter, page, { records: (all) => all });
  return list(request, page, totalOf(page, total, more), await workspaceDocuments(principal, items));
};

const visibleConsumers = async ({ subject, principal }: Context<Workspace>): Promise<string[]> => {
  const consumers = (await listConsumers(subject.id)).map((workspaceId) => ({ workspaceId }));
  return (await principal.visible(subject.organization, consumers)).map(({ workspaceId }) => workspaceId);
};

const listOfWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, principal } = context;
  if (subject.globalRemoteState && request.query.get('show_only_configured') !== 'true') return listEveryone(context);
  return pageWith(request, await visibleConsumers(context), async (ids) => ({
    data: await workspaceDocuments(principal, await getWorkspaces(ids)),
  }));
};

const add = noContentAfter(async ({ id }: Workspace, context) => addConsumers(id, await consumersIn(context)));

/** Replaces only consumers that the caller may see. */
const replace = async (context: Context<Workspace>): Promise<Answer> => {
  const ids = await consumersIn(context);
  const removed = (await visibleConsumers(context)).filter((id) => !ids.includes(id));
  await removeConsumers(context.subject.id, removed);
  await addConsumers(context.subject.id, ids);
  return noContent();
};

const remove = noContentAfter(({ id }: Workspace, context) => removeConsumers(id, idsIn(context)));

const base = '/workspaces/{workspace}/relationships/remote-state-consumers';

export const remoteStateConsumerRoutes: Route[] = [
  route('GET', base, 'workspace:read', workspace, listOfWorkspace, { show_only_configured: flag }),
  route('POST', base, 'workspace:update', workspace, add),
  route('PATCH', base, 'workspace:update', workspace, replace),
  route('DELETE', base, 'workspace:update', workspace, remove),
];
