import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { deletedMeanwhile } from '#api/errors.ts';
import { checkIfMatch, withEtag } from '#api/guard.ts';
import { list as listAnswer, pageOf, pageSlice } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { newId } from '#platform/store/id.ts';
import { now } from '#platform/store/time.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { addList, changeList, changeLists, checkOwnPools, livingPools } from './changes.ts';
import { cidrRangeDocument, ipAllowlistDocument } from './document.ts';
import { cidrRange, type InList, type InLists, ipAllowlist } from './finder.ts';
import { readListChange, readNewList, readNewRange, readPools, readRangeChange } from './input.ts';
import {
  type CidrRange,
  type IpAllowlist,
  indexList,
  indexRange,
  listIpAllowlists,
  removePointers,
  removeRangePointers,
} from './records.ts';

/** IP allowlists and their ranges (HCP API: IP allowlists). enforcement.ts enforces them. */

const documentOf = async (home: string, list: IpAllowlist) =>
  ipAllowlistDocument(home, list, await livingPools(home, list.agentPoolIds));

const single = async (home: string, list: IpAllowlist): Promise<Answer> =>
  withEtag(ok(await documentOf(home, list)), list);

const listOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const page = pageOf(request);
  const search = (request.query.get('q') ?? '').toLowerCase();
  const all = (await listIpAllowlists(subject.organization)).filter(({ name }) => name.toLowerCase().includes(search));
  const shown = pageSlice(all, page);
  const pools = new Set(
    await livingPools(
      subject.organization,
      shown.flatMap(({ agentPoolIds }) => agentPoolIds),
    ),
  );
  const data = shown.map((ipAllowlist) =>
    ipAllowlistDocument(
      subject.organization,
      ipAllowlist,
      ipAllowlist.agentPoolIds.filter((id) => pools.has(id)),
    ),
  );
  return listAnswer(request, page, all.length, data);
};

const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const home = context.subject.organization;
  const values = readNewList(context.request);
  await checkOwnPools(home, values.agentPoolIds);
  const at = now();
  const list: IpAllowlist = { ...values, id: newId('crl'), ranges: [], createdAt: at, updatedAt: at, edits: 0 };
  await indexList(home, list.id);
  await addList(context, home, list);
  return created(await documentOf(home, list));
};

const update = async (context: Context<InLists>): Promise<Answer> => {
  const { organization: home, list } = context.subject;
  const change = readListChange(context.request);
  await checkOwnPools(home, change.agentPoolIds ?? []);
  if (Object.keys(change).length === 0) {
    await checkIfMatch(context.request, list, 'IP allowlist');
    return single(home, list);
  }
  // Pool assignments end when the scope changes (HCP API: enforcement scopes).
  const moved = change.scope && change.scope !== 'selected_agent_pools' ? { agentPoolIds: [] } : {};
  return single(home, await changeList(context, context.subject, () => ({ ...moved, ...change })));
};

const remove = async (context: Context<InLists>): Promise<Answer> => {
  const { organization: home, list } = context.subject;
  await changeLists(context, home, (all) => all.filter(({ id }) => id !== list.id));
  await removePointers([list]);
  return noContent();
};

const assign = async (context: Context<InLists>): Promise<Answer> => {
  const { organization: home } = context.subject;
  const ids = readPools(context.request);
  await checkOwnPools(home, ids);
  await changeList(context, context.subject, ({ agentPoolIds }) => ({
    agentPoolIds: [...new Set([...agentPoolIds, ...ids])],
  }));
  return noContent();
};

const unassign = async (context: Context<InLists>): Promise<Answer> => {
  const ids = new Set(readPools(context.request));
  await changeList(context, context.subject, ({ agentPoolIds }) => ({
    agentPoolIds: agentPoolIds.filter((id) => !ids.has(id)),
  }));
  return noContent();
};

const rangesOf = async ({ request, subject }: Context<InLists>): Promise<Answer> => {
  const page = pageOf(request);
  const { ranges, id } = subject.list;
  const data = pageSlice(ranges, page).map((range) => cidrRangeDocument(subject.organization, id, range));
  // Lets callers add their own address to the list.
  return listAnswer(request, page, ranges.length, data, undefined, { 'request-address': request.address ?? null });
};

const addRange = async (context: Context<InLists>): Promise<Answer> => {
  const { organization: home, id } = context.subject;
  const range: CidrRange = { ...readNewRange(context.request), id: newId('cidr'), updatedAt: now() };
  await indexRange(home, range.id);
  await changeList(context, context.subject, ({ ranges }) => ({ ranges: [...ranges, range] }));
  return created(cidrRangeDocument(home, id, range));
};

const rangeAnswer = ({ organization: home, list, range }: InList): Answer =>
  withEtag(ok(cidrRangeDocument(home, list.id, range)), list);

const updateRange = async (context: Context<InList>): Promise<Answer> => {
  const { subject } = context;
  const change = readRangeChange(context.request);
  const list = await changeList(context, subject, ({ ranges }) => {
    if (!ranges.some(({ id }) => id === subject.id)) throw deletedMeanwhile('CIDR range');
    return {
      ranges: ranges.map((range) => (range.id === subject.id ? { ...range, ...change, updatedAt: now() } : range)),
    };
  });
  const range = list.ranges.find(({ id }) => id === subject.id) as CidrRange;
  return rangeAnswer({ ...subject, list, range });
};

const removeRange = async (context: Context<InList>): Promise<Answer> => {
  const { range } = context.subject;
  await changeList(context, context.subject, ({ ranges }) => ({ ranges: ranges.filter(({ id }) => id !== range.id) }));
  await removeRangePointers([range]);
  return noContent();
};

const ofOrganization = '/organizations/{organization}/cidr-range-lists';
const ofList = '/cidr-range-lists/{cidrRangeList}';
const path = '/cidr-ranges/{cidrRange}';
const [read, write] = ['ip-allowlist:read', 'ip-allowlist:write'] as const;

export const ipAllowlistRoutes: Route[] = [
  route('GET', ofOrganization, read, organization, listOfOrganization, { q: 'text' }),
  route('POST', ofOrganization, write, organization, create),
  route('GET', ofList, read, ipAllowlist, ({ subject }) => single(subject.organization, subject.list)),
  route('PATCH', ofList, write, ipAllowlist, update),
  route('DELETE', ofList, write, ipAllowlist, remove),
  route('POST', `${ofList}/relationships/agent-pools`, write, ipAllowlist, assign),
  route('DELETE', `${ofList}/relationships/agent-pools`, write, ipAllowlist, unassign),
  route('GET', `${ofList}/relationships/cidr-ranges`, read, ipAllowlist, rangesOf),
  route('POST', `${ofList}/relationships/cidr-ranges`, write, ipAllowlist, addRange),
  route('GET', path, read, cidrRange, async ({ subject }) => rangeAnswer(subject)),
  route('PATCH', path, write, cidrRange, updateRange),
  route('DELETE', path, write, cidrRange, removeRange),
];
