import { type Answer, ok } from '#api/answer.ts';
import { ApiError } from '#api/errors.ts';
import { byId, inWorkspace } from '#api/finders.ts';
import { pageFrom } from '#api/pagination.ts';
import { flag } from '#api/query-parameters.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { workspace } from '../finder.ts';
import type { Workspace } from '../records.ts';
import { changeRequestDocument } from './document.ts';
import { archiveChangeRequest, type ChangeRequest, getChangeRequest, listChangeRequests } from './records.ts';

const changeRequest = byId({
  what: 'change request',
  parameter: 'changeRequest',
  get: getChangeRequest,
  ...inWorkspace,
});

const listOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const archived = request.query.get('archive');
  const all = (await listChangeRequests(subject.id)).filter(
    ({ archivedAt }) => archived === null || (archivedAt !== undefined) === (archived === 'true'),
  );
  return pageFrom(request, all, changeRequestDocument);
};

const archive = async ({ subject, principal }: Context<ChangeRequest>): Promise<Answer> => {
  const archived = await archiveChangeRequest(subject, principal.userId);
  if (archived) return ok(changeRequestDocument(archived));
  throw new ApiError(400, [
    { title: 'already archived', detail: `Change request ${subject.id} is already archived. No action is needed.` },
  ]);
};

const read = async ({ subject }: Context<ChangeRequest>): Promise<Answer> => ok(changeRequestDocument(subject));

const single = '/change-requests/{changeRequest}';

export const changeRequestRoutes: Route[] = [
  route('GET', '/workspaces/{workspace}/change-requests', 'workspace:read', workspace, listOfWorkspace, {
    archive: flag,
  }),
  route('GET', single, 'workspace:read', changeRequest, read),
  route('GET', `${single}/actions/archive`, 'workspace:read', changeRequest, read),
  route('POST', `${single}/actions/archive`, 'run:apply', changeRequest, archive),
];
