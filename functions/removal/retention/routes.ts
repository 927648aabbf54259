import { type Answer, noContent, ok } from '#api/answer.ts';
import { deletedMeanwhile, notFound } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import { dataRetentionDocument } from './document.ts';
import { readDataRetention } from './input.ts';
import { setDataRetention, type Target } from './records.ts';

/**
 * Data retention policies of organizations, and of workspaces, which override them (HCP API: data retention
 * policies).
 */

const none = (noun: string) => notFound(`${noun} has no data retention policy of its own.`);

const ofWorkspace = ({ id }: Workspace) => ({ type: 'workspaces' as const, id });
const ofOrganization = ({ organization: id }: InOrganization) => ({ type: 'organizations' as const, id });

const write = async (
  target: Target,
  policy: DataRetention,
  place: { type: 'organizations' | 'workspaces'; id: string },
): Promise<Answer> => {
  if (await setDataRetention(target, policy)) return ok(dataRetentionDocument(policy, place));
  throw deletedMeanwhile(place.type.slice(0, -1));
};

const setForWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> =>
  write({ workspace: subject.id }, readDataRetention(request, subject.dataRetention), ofWorkspace(subject));

const setForOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> =>
  write(
    { organization: subject.organization },
    readDataRetention(request, subject.record.dataRetention),
    ofOrganization(subject),
  );

const readOfWorkspace = async ({ subject }: Context<Workspace>): Promise<Answer> => {
  if (!subject.dataRetention) throw none(`Workspace ${subject.name}`);
  return ok(dataRetentionDocument(subject.dataRetention, ofWorkspace(subject)));
};

const readOfOrganization = async ({ subject }: Context<InOrganization>): Promise<Answer> => {
  const { dataRetention } = subject.record;
  if (!dataRetention) throw none(`Organization ${nameOf(subject.organization)}`);
  return ok(dataRetentionDocument(dataRetention, ofOrganization(subject)));
};

const inWorkspace = '/workspaces/{workspace}/relationships/data-retention-policy';
const inOrganization = '/organizations/{organization}/relationships/data-retention-policy';

export const dataRetentionRoutes: Route[] = [
  route('GET', inWorkspace, 'workspace:read', workspace, readOfWorkspace),
  // Setting a policy requires the permission to delete the data.
  route('POST', inWorkspace, 'data:delete', workspace, setForWorkspace),
  route('PATCH', inWorkspace, 'data:delete', workspace, setForWorkspace),
  route('DELETE', inWorkspace, 'data:delete', workspace, async ({ subject }) => {
    await setDataRetention({ workspace: subject.id }, null);
    return noContent();
  }),
  route('GET', inOrganization, 'organization:read', organization, readOfOrganization),
  route('POST', inOrganization, 'organization:update', organization, setForOrganization),
  route('PATCH', inOrganization, 'organization:update', organization, setForOrganization),
  route('DELETE', inOrganization, 'organization:update', organization, async ({ subject }) => {
    await setDataRetention({ organization: subject.organization }, null);
    return noContent();
  }),
];
