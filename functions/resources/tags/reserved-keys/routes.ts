import { type Answer, created, ok } from '#api/answer.ts';
import { deletedMeanwhile, keyTaken, unprocessable } from '#api/errors.ts';
import { pageFrom } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { reservedTagKeyDocument } from './document.ts';
import { reservedTagKey } from './finder.ts';
import { readNewReservedTagKey, readReservedTagKeyChange } from './input.ts';
import {
  createReservedTagKey,
  deleteReservedTagKey,
  listReservedTagKeys,
  maxReservedTagKeys,
  type ReservedTagKey,
  updateReservedTagKey,
} from './records.ts';

const create = async ({ request, subject: { organization: name } }: Context<InOrganization>): Promise<Answer> => {
  const values = readNewReservedTagKey(request);
  const full = () =>
    unprocessable('/data', `${name} has ${maxReservedTagKeys} reserved tag keys, the maximum. Delete one first`);
  const limit = { max: maxReservedTagKeys, count: async () => (await listReservedTagKeys(name)).length, full };
  const reservedKey = await createLimited(limit, () => createReservedTagKey(name, values), deleteReservedTagKey);
  if (!reservedKey) throw keyTaken();
  return created(reservedTagKeyDocument(reservedKey));
};

const listOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const all = await listReservedTagKeys(subject.organization);
  return pageFrom(request, all, reservedTagKeyDocument);
};

const update = async ({ request, subject }: Context<ReservedTagKey>): Promise<Answer> => {
  const change = readReservedTagKeyChange(request);
  const updated = Object.keys(change).length ? await updateReservedTagKey(subject, change) : subject;
  if (updated === 'name taken') throw keyTaken();
  if (!updated) throw deletedMeanwhile('reserved tag key');
  return ok(reservedTagKeyDocument(updated));
};

const ofOrganization = '/organizations/{organization}/reserved-tag-keys';
const path = '/reserved-tag-keys/{reservedTagKey}';

export const reservedTagKeyRoutes: Route[] = [
  route('POST', ofOrganization, 'reserved-tag-key:write', organization, create),
  route('GET', ofOrganization, 'reserved-tag-key:read', organization, listOfOrganization),
  route('PATCH', path, 'reserved-tag-key:write', reservedTagKey, update),
  route('DELETE', path, 'reserved-tag-key:write', reservedTagKey, noContentAfter(deleteReservedTagKey)),
];
