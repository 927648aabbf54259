import { type Answer, created, noContent, ok, type Resource, redirect } from '#api/answer.ts';
import { badRequest, conflict, notFound, unprocessable } from '#api/errors.ts';
import { limits } from '#api/limits.ts';
import { keyOfRenamed } from '#api/naming.ts';
import { list, pageOf } from '#api/pagination.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { requiredIn } from '#api/validation.ts';
import { presignGet } from '#platform/store/bucket.ts';
import { checkStored } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { sharedWorkspace, workspace } from '#resources/workspaces/finder.ts';
import { checkUnmanaged } from '#resources/workspaces/managed.ts';
import { findWorkspace, getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { stateVersionDocument } from './document.ts';
import { finalizeStateVersion, storeContent } from './finalize.ts';
import { sharedStateVersion, stateVersion } from './finder.ts';
import {
  findStateVersions,
  listStateVersions,
  nextStateVersion,
  purgeState,
  restoreState,
  softDeleteState,
} from './history.ts';
import { include, relatedTo } from './includes.ts';
import { readNewState } from './input.ts';
import { jsonKey, withJson } from './json.ts';
import { createStateVersion, getStateVersion, readSummary, uploadUrls } from './records.ts';
import { duplicateState } from './rollback.ts';
import type { StateVersion } from './state-version.ts';

const downloadSeconds = 60;

const create = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, principal } = context;
  checkUnmanaged(subject, 'write state');
  const { content, json, ...values } = await readNewState(request, subject);
  const result = await createStateVersion({
    ...values,
    workspace: subject,
    userId: principal.userId,
    intermediate: false,
  });
  if ('conflict' in result) throw conflict(result.conflict);
  let version = result.stateVersion;
  if (content && !result.stored) {
    version = await storeContent(version, content, json);
    if (version.refusal) throw unprocessable('/data/attributes/state', `state: ${version.refusal}`);
  }
  return created(await documentOf(context, version));
};

/** An upload URL allows writing the state, so only the version's author with write permission gets it. */
const uploadsFor = ({ granted, principal }: Context<Subject>, { uploadKey, userId, runId }: StateVersion): boolean =>
  uploadKey !== undefined && runId === undefined && userId === principal.userId && granted.has('state:write');

const documentOf = async (context: Context<Subject>, version: StateVersion): Promise<Resource> => {
  const links = { baseUrl: context.request.baseUrl, granted: context.granted };
  if (version.status === 'pending') {
    const upload = uploadsFor(context, version) ? await uploadUrls(version) : undefined;
    return stateVersionDocument(version, { ...links, upload, nextId: null });
  }
  const large = version.status === 'finalized' && !version.summary;
  const [complete, summary, nextId = null] = await Promise.all([
    withJson(version),
    large ? readSummary(version) : undefined,
    nextStateVersion(version),
  ]);
  return stateVersionDocument(complete, { ...links, summary, nextId });
};

/** Clients poll here for their upload, before S3's event arrives. */
const show = async (context: Context<Subject>, stored: StateVersion): Promise<Answer> => {
  const related = relatedTo(context);
  const version = await finalizeStateVersion(stored);
  const [document, included] = await Promise.all([documentOf(context, version), related([version])]);
  return ok(document, included);
};

/** @throws {ApiError} 404 for a workspace without state, which clients interpret as "none yet" */
export const currentVersion = async ({ state, name }: Workspace): Promise<StateVersion> => {
  const version = state && (await getStateVersion(state.id));
  if (!version) throw notFound(`Workspace ${name} has no state yet.`);
  return version;
};

/** The list names its workspace by two filters, both required. */
const workspaceOfFilters: Finder<Workspace> = {
  what: 'workspace',
  find: async ({ query }) => {
    const organization = query.get('filter[organization][name]');
    const name = query.get('filter[workspace][name]');
    if (!organization || !name) {
      throw badRequest('filter[organization][name] and filter[workspace][name] are required.');
    }
    const found = await findWorkspace(organization, name);
    const key = found ? undefined : await keyOfRenamed(organization);
    return key === undefined ? found : findWorkspace(key, name);
  },
  visibleWith: workspace.visibleWith,
  scope: workspace.scope,
};

const listOfWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, granted } = context;
  const page = pageOf(request);
  const related = relatedTo(context);
  const status = request.query.get('filter[status]') ?? undefined;
  const { items, total } = status
    ? await findStateVersions(subject.id, status, page)
    : await listStateVersions(subject, page);
  const [versions, included] = await Promise.all([Promise.all(items.map(withJson)), related(items)]);
  const data = versions.map((version) => stateVersionDocument(version, { baseUrl: request.baseUrl, granted }));
  return list(request, page, total, data, included);
};

const download = async (version: StateVersion, key: string, sha256: string | undefined): Promise<Answer> => {
  if (version.status !== 'finalized') throw notFound(`State version ${version.id} has no content.`);
  await checkStored(`State version ${version.id}`, key, sha256);
  return redirect(302, await presignGet(key, downloadSeconds));
};

/** Makes an older version current again, as a new one. */
const rollback = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, principal } = context;
  checkUnmanaged(subject, 'write state');
  const id = requiredIn(request, 'rollback-state-version', 'state-versions');
  const source = await getStateVersion(id);
  if (source?.workspaceId !== subject.id || source.status !== 'finalized') {
    throw unprocessable(
      '/data/relationships/rollback-state-version',
      `rollback-state-version: ${id} not found in workspace ${subject.name}`,
    );
  }
  const result = await duplicateState(subject, source, principal.userId);
  if ('conflict' in result) throw conflict(result.conflict);
  return created(await documentOf(context, result.stateVersion));
};

/** Deletes or restores the content, which is the secret part; the record stays. The current state cannot be deleted. */
const manage =
  (verb: string, change: (version: StateVersion) => Promise<StateVersion | undefined>) =>
  async ({ subject }: Context<StateVersion>): Promise<Answer> => {
    if ((await getWorkspace(subject.workspaceId))?.state?.id === subject.id) {
      throw conflict(`State version ${subject.id} is the current one of its workspace, so it cannot be ${verb}.`);
    }
    if (!(await change(subject))) {
      throw conflict(`State version ${subject.id} is ${subject.status} and cannot be ${verb}.`);
    }
    return noContent();
  };

const base = '/state-versions/{version}';

export const stateVersionRoutes: Route[] = [
  {
    ...route('POST', '/workspaces/{workspace}/state-versions', 'state:write', workspace, create),
    maxBytes: limits.state,
  },
  route('PATCH', '/workspaces/{workspace}/state-versions', 'state:write', workspace, rollback),
  route(
    'GET',
    '/workspaces/{workspace}/current-state-version',
    'state:read',
    sharedWorkspace,
    async (context) => show(context, await currentVersion(context.subject)),
    { include },
  ),
  route('GET', '/state-versions', 'state:read', workspaceOfFilters, listOfWorkspace, {
    include,
    'filter[organization][name]': 'text',
    'filter[workspace][name]': 'text',
    'filter[status]': {
      one: ['pending', 'finalized', 'discarded', 'backing_data_soft_deleted', 'backing_data_permanently_deleted'],
    },
  }),
  route('GET', base, 'state:read', sharedStateVersion, (context) => show(context, context.subject), { include }),
  route('GET', `${base}/download`, 'state:read', sharedStateVersion, ({ subject }) =>
    download(subject, objects.state(subject.workspaceId, subject.id, subject.sha256), subject.sha256),
  ),
  route(
    'POST',
    `${base}/actions/soft_delete_backing_data`,
    'data:delete',
    stateVersion,
    manage('deleted', softDeleteState),
  ),
  route('POST', `${base}/actions/restore_backing_data`, 'data:delete', stateVersion, manage('restored', restoreState)),
  route(
    'POST',
    `${base}/actions/permanently_delete_backing_data`,
    'data:delete',
    stateVersion,
    manage('deleted for good', purgeState),
  ),
  route('GET', `${base}/json-download`, 'state:read', sharedStateVersion, async ({ subject }) => {
    const version = await withJson(subject);
    if (!version.json) {
      throw notFound(`State version ${subject.id} has no JSON state: its author did not upload one, or has not yet.`);
    }
    return download(version, jsonKey(version), version.json.sha256);
  }),
];
