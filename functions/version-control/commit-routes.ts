import type { Answer, Resource } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { runDocument } from '#resources/runs/document.ts';
import { getRuns } from '#resources/runs/records.ts';
import { type RelatedToRuns, runIncludes } from '#resources/runs/routes.ts';
import { isIdentifier } from '#resources/workspaces/vcs-repo-input.ts';
import { waitsForPerson } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { type CommitRecord, commitId, outcomeOf, rowsOf, runsAmong } from './commit-records.ts';
import { listClients } from './connections.ts';
import { commitForm } from './forges/events.ts';
import { listInstallations } from './github-app/installations.ts';
import { outcomesOfPolicies, versionsAmong } from './policy-outcomes.ts';
import { aggregated, type Outcome, rankOf } from './status-words.ts';

/** Runs started by a commit, for users who follow the link of its status. */

interface NamedCommit {
  identifier: string;
  sha: string;
}

/** @throws {ApiError} 400 */
const named = ({ request }: Context<InOrganization>): NamedCommit => {
  const identifier = request.query.get('identifier') ?? '';
  const sha = request.params.commit ?? '';
  if (!isIdentifier(identifier)) throw badRequest('identifier must be like owner/name.', 'identifier');
  if (!commitForm.test(sha)) throw badRequest('The commit must be a whole id of 40 or 64 hexadecimal digits.');
  return { identifier, sha };
};

/** Records of all connections through which the repository is followed. 2 queries, and 3 reads per 100 connections. */
const recordsOf = async (name: string, commit: NamedCommit): Promise<CommitRecord[]> => {
  const [clients, installations] = await Promise.all([listClients(name), listInstallations(name)]);
  const tokens = [...clients.flatMap(({ tokenId }) => tokenId ?? []), ...installations.map(({ id }) => id)];
  const ids = tokens.map((tokenId) => commitId({ ...commit, tokenId }));
  return (await batchGet<CommitRecord & Key>(ids.map(keys.commit))).filter((one) => one.organization === name);
};

/** Runs that need a user first, then failed ones. */
const rank = (run: Run): number => (waitsForPerson(run) ? -1 : rankOf(outcomeOf(run)));

const inOrder = (a: Run, b: Run): number => rank(a) - rank(b) || (a.workspaceName < b.workspaceName ? -1 : 1);

const summaryOf = ({ identifier, sha }: NamedCommit, runs: Run[], policies: Outcome[]) => {
  const outcomes = [...runs.map(outcomeOf), ...policies];
  return {
    commit: { identifier, 'commit-sha': sha, ...(outcomes.length ? aggregated(outcomes) : {}) },
    'policy-sets': policies.map(({ page, state, description }) => ({
      id: page.split('/').at(-1),
      state,
      description,
    })),
  };
};

/** The newest run of each workspace that the caller may see, in pages; empty for a commit that started no run. */
const runsOfCommit =
  (related: RelatedToRuns) =>
  async (context: Context<InOrganization>): Promise<Answer> => {
    const { request, subject, principal, granted } = context;
    const page = pageOf(request);
    // Validates the includes before reading anything.
    runIncludes.of(request);
    const commit = named(context);
    const none = await principal.reachesNothing(subject.organization);
    const records = none ? [] : await recordsOf(subject.organization, commit);
    const rows = (await Promise.all(records.map(({ id }) => rowsOf(id)))).flat();
    const visible = await principal.visibleInLiving(subject.organization, runsAmong(rows));
    const runs = (await getRuns(visible.map(({ runId }) => runId))).sort(inOrder);
    const policies = granted.has('policy:read') ? await outcomesOfPolicies(versionsAmong(rows)) : [];
    const some = pageSlice(runs, page);
    const grantedOn = await principal.onWorkspaces(
      subject.organization,
      some.map(({ workspaceId }) => workspaceId),
    );
    const data: Resource[] = some.map((one) =>
      runDocument(one, { granted: grantedOn(one.workspaceId), userId: principal.userId }),
    );
    const included = await related(context, some, grantedOn);
    return list(request, page, runs.length, data, included, summaryOf(commit, runs, policies));
  };

export const commitRoutes = (related: RelatedToRuns): Route[] => [
  route(
    'GET',
    '/organizations/{organization}/commits/{commit}/runs',
    'organization:read',
    organization,
    runsOfCommit(related),
    { identifier: 'text', include: runIncludes },
  ),
];
