import { type Answer, ok, redirect } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { inWorkspace, param } from '#api/finders.ts';
import { pageFrom } from '#api/pagination.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { keys } from '#platform/store/keys.ts';
import { queryAll } from '#platform/store/table.ts';
import { logPath } from '#resources/runs/log-links.ts';
import { phaseContentRoutesOf } from '#resources/runs/phase-content-routes.ts';
import { linkToArtifact, linkToRedacted, schemasOf } from '#resources/runs/plan-links.ts';
import { getRun } from '#resources/runs/records.ts';
import { healthOf } from '#run/health.ts';
import type { Run } from '#run/run.ts';
import { workspace } from '../finder.ts';
import type { Workspace } from '../records.ts';
import { healthDocument } from './document.ts';

/** Results of health assessments with their plans and logs (HCP API: assessment results). */

const finder = (noun: string, prefix: string, parameter: string): Finder<Run> => ({
  what: noun,
  parameter,
  find: async (request) => {
    const [, characters] = new RegExp(`^${prefix}-([A-Za-z0-9]{16})$`).exec(param(request, parameter)) ?? [];
    const run = characters ? await getRun(`run-${characters}`) : undefined;
    return run && healthOf(run) ? run : undefined;
  },
  ...inWorkspace,
});

const result = finder('assessment result', 'asmtres', 'assessmentResult');
const assessment = finder('assessment', 'asmt', 'assessment');

const documentOf = (run: Run) => {
  const health = healthOf(run);
  if (!health) throw notFound(`Assessment result ${run.id} not found.`);
  return healthDocument(health, run.workspaceId);
};

const current = async ({ subject }: Context<Workspace>): Promise<Answer> => {
  const { id, name, health } = subject;
  if (!health) {
    throw notFound(`Workspace ${name} has no assessment result yet. Set assessments-enabled, or assess it now.`);
  }
  return ok(healthDocument(health, id));
};

/** Not in HCP's API: earlier results, newest first. */
const history = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const { pk } = keys.workspace(subject.id);
  const results = await queryAll<NonNullable<Workspace['health']>>({ pk, prefix: 'ASSESSMENT#', reverse: true });
  return pageFrom(request, results, (result) => healthDocument(result, subject.id));
};

const unlessDeleted = ({ id, plan }: Run): void => {
  if (plan.content) throw notFound(`The content of the assessment ${id.replace(/^run-/, 'asmt-')} was deleted.`);
};

const hasNoPlan = () => notFound('The assessment has no plan: it failed.');

const jsonOutput = async ({ subject }: Context<Run>): Promise<Answer> => {
  unlessDeleted(subject);
  if (!subject.plan.report?.artifacts?.['plan-json']) throw hasNoPlan();
  return linkToArtifact(subject, 'plan-json');
};

const jsonOutputRedacted = async ({ subject, request }: Context<Run>): Promise<Answer> => {
  unlessDeleted(subject);
  const link = await linkToRedacted(subject, request);
  if (!link) throw hasNoPlan();
  return link;
};

const schemas = async ({ subject }: Context<Run>): Promise<Answer> => {
  unlessDeleted(subject);
  return schemasOf(subject);
};

/** Terraform's JSON lines, at the same URL as a run's log. */
const log = async ({ request, subject }: Context<Run>): Promise<Answer> =>
  redirect(307, `${request.baseUrl}${logPath(subject, 'plan')}`);

const path = '/assessment-results/{assessmentResult}';

export const healthRoutes: Route[] = [
  route('GET', '/workspaces/{workspace}/current-assessment-result', 'workspace:read', workspace, current),
  route('GET', '/workspaces/{workspace}/assessment-results', 'workspace:read', workspace, history),
  route('GET', path, 'workspace:read', result, async ({ subject }) => ok(documentOf(subject))),
  route('GET', `${path}/json-output`, 'plan:read-json', result, jsonOutput),
  route('GET', `${path}/json-output-redacted`, 'run:read', result, jsonOutputRedacted),
  route('GET', `${path}/json-schema`, 'plan:read-json', result, schemas),
  route('GET', `${path}/log-output`, 'plan:read-json', result, log),
  ...phaseContentRoutesOf('plan', '/assessments/{assessment}', assessment),
];
