import { type Answer, created, ok, redirect, securityHeaders } from '#api/answer.ts';
import { unavailable } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { listLimit } from '#api/list-limit.ts';
import { list, pageFrom, pageOf, pageSlice } from '#api/pagination.ts';
import type { QueryParameters } from '#api/query-parameters.ts';
import { isTooLarge } from '#api/response-size.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { presignGet, putObject } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { csvOfRows } from './csv.ts';
import { rowDocument, viewDocument } from './document.ts';
import { explore, find } from './explore.ts';
import { readNewView, readViewChange } from './input.ts';
import { columnsOf, type Query } from './query.ts';
import { queryOf } from './read-query.ts';
import { createView, deleteView, getView, listViews, maxViews, updateView, type View } from './views.ts';

/** The explorer: queries across all workspaces of an organization (HCP API: explorer). */

interface OfView extends Subject {
  record: Organization;
  view: View;
}

const view: Finder<OfView> = {
  what: 'view',
  parameter: 'view',
  find: async (request) => {
    const [record, view] = await Promise.all([
      getOrganization(param(request, 'organization')),
      getView(param(request, 'organization'), param(request, 'view')),
    ]);
    return record && view && { organization: record.name, record, view };
  },
  visibleWith: 'explorer:read',
  scope: inOrganization,
};

type Exploring = Pick<Context<InOrganization>, 'request' | 'principal' | 'subject'>;

const results = async ({ request, principal, subject }: Exploring, query: Query): Promise<Answer> => {
  const page = pageOf(request);
  const { rows, isIndexing } = await find(await explore(subject.record, principal), query);
  const data = pageSlice(rows, page).map((row) => rowDocument(row, query));
  return list(request, page, rows.length, data, undefined, isIndexing ? { indexing: true } : undefined);
};

const downloadSeconds = 60;

const csv = async ({ principal, subject }: Exploring, query: Query): Promise<Answer> => {
  const { rows, isIndexing } = await find(await explore(subject.record, principal), query);
  // An incomplete file would look complete.
  if (isIndexing)
    throw unavailable('The explorer is still reading the states of this organization. Repeat the request.');
  const text = csvOfRows(rows, columnsOf(query));
  if (isTooLarge({ body: text })) {
    const key = objects.exported(newId('export'));
    await putObject(key, text, 'text/csv; charset=utf-8', sha256Of(text));
    return redirect(302, await presignGet(key, downloadSeconds));
  }
  return {
    statusCode: 200,
    headers: {
      ...securityHeaders,
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="explorer-${query.type}.csv"`,
    },
    body: text,
  };
};

const create = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  const values = readNewView(request);
  const { organization: home } = subject;
  const limit = listLimit(home, maxViews, 'saved views', async () => (await listViews(home)).length);
  const newView = { ...values, organization: home, createdBy: principal.userId };
  const view = await createLimited(limit, () => createView(newView), deleteView);
  return withEtag(created(viewDocument(view)), view);
};

const listOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const all = await listViews(subject.organization);
  return pageFrom(request, all, viewDocument);
};

const change = async (context: Context<OfView>): Promise<Answer> => {
  const { request, subject } = context;
  const editor = await editorOf(context, subject.view, 'view');
  const values = readViewChange(request);
  const updated = Object.keys(values).length ? await updateView(subject.view, values, editor) : subject.view;
  if (updated) return withEtag(ok(viewDocument(updated)), updated);
  throw await refusedChange(request, 'view', await getView(subject.organization, subject.view.id));
};

const drop = async ({ subject }: Context<OfView>): Promise<Answer> => {
  await deleteView(subject.view);
  return ok(viewDocument(subject.view));
};

const narrowing: QueryParameters = {
  type: 'text',
  fields: 'text',
  sort: 'text',
  // `filter[0][workspace_name][contains][0]`; read-query.ts checks the parts.
  'filter[*][*][*][*]': 'text',
};

const base = '/organizations/{organization}/explorer';
const viewPath = `${base}/views/{view}` as const;
const read = 'explorer:read';

export const explorerRoutes: Route[] = [
  route('GET', base, read, organization, (context) => results(context, queryOf(context.request)), narrowing),
  route(
    'GET',
    `${base}/export/csv`,
    read,
    organization,
    (context) => csv(context, queryOf(context.request)),
    narrowing,
  ),
  route('GET', `${base}/views`, read, organization, listOfOrganization),
  route('POST', `${base}/views`, read, organization, create),
  route('GET', viewPath, read, view, async ({ subject }) => withEtag(ok(viewDocument(subject.view)), subject.view)),
  route('PATCH', viewPath, read, view, change),
  route('DELETE', viewPath, read, view, drop),
  route('GET', `${viewPath}/results`, read, view, (context) => results(context, context.subject.view.query)),
  route('GET', `${viewPath}/csv`, read, view, (context) => csv(context, context.subject.view.query)),
];
